package ring

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// hosts are network namespaces of this machine, each with an address and a
// loopback device of its own, on one bridge. Ranks in different ones meet over
// TCP alone, as on different machines. Nothing is put into the machine's own
// namespace.
type hosts struct {
	names  []string
	bridge string
}

var nets atomic.Int32

// makeHosts needs root and iproute2; without them the test is skipped. The hosts
// go with the test.
func makeHosts(t *testing.T, n int) hosts {
	t.Helper()
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("no hosts of several network namespaces: they need Linux and root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skipf("no hosts of several network namespaces: %v (iproute2)", err)
	}
	prefix := fmt.Sprintf("lockstep%d-%d-", os.Getpid(), nets.Add(1))
	bridge := prefix + "bridge"
	if out, err := exec.Command("ip", "netns", "add", bridge).CombinedOutput(); err != nil {
		t.Skipf("no hosts of several network namespaces: ip netns add: %v: %s", err, out)
	}
	cleanNamespace(t, bridge)
	ip(t, "-n", bridge, "link", "add", "br0", "type", "bridge")
	ip(t, "-n", bridge, "link", "set", "br0", "up")
	h := hosts{bridge: bridge}
	for i := range n {
		name, port := fmt.Sprint(prefix, i), fmt.Sprint("port", i)
		ip(t, "netns", "add", name)
		cleanNamespace(t, name)
		ip(t, "-n", bridge, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", name)
		ip(t, "-n", bridge, "link", "set", port, "master", "br0", "up")
		ip(t, "-n", name, "link", "set", "lo", "up")
		ip(t, "-n", name, "addr", "add", h.address(i)+"/24", "dev", "eth0")
		ip(t, "-n", name, "link", "set", "eth0", "up")
		h.names = append(h.names, name)
	}
	return h
}

func cleanNamespace(t *testing.T, name string) {
	t.Cleanup(func() {
		if out, err := exec.Command("ip", "netns", "delete", name).CombinedOutput(); err != nil {
			t.Errorf("ip netns delete %s: %v: %s", name, err, out)
		}
	})
}

func ip(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// address is what the other hosts know a host by.
func (hosts) address(host int) string { return fmt.Sprintf("10.77.0.%d", host+1) }

// on makes cmd run on a host.
func (h hosts) on(host int, cmd *exec.Cmd) error {
	path, err := exec.LookPath("ip")
	if err != nil {
		return err
	}
	cmd.Path, cmd.Args = path, append([]string{"ip", "netns", "exec", h.names[host]}, cmd.Args...)
	return nil
}

// meetingPlace is where a coordinator on a host can be reached.
func (h hosts) meetingPlace(host int) string { return net.JoinHostPort(h.address(host), "5000") }
