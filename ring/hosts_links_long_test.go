//go:build long && linux

package ring

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lockstep-go/lockstep/internal/env"
	"github.com/lockstep-go/lockstep/internal/shm"
)

// The tests of this file run ranks over networks between hosts that are well but
// not as fast, or not as simple, as that of one machine.

// TestSlowLinkOverHosts is the suite where each host sends at most 200 Mbit/s.
func TestSlowLinkOverHosts(t *testing.T) {
	t.Parallel()
	h := makeHosts(t, 4)
	for i := range 4 {
		ip(t, "netns", "exec", h.names[i], "tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", "200mbit", "burst", "128kb", "latency", "50ms")
	}
	places := []int{0, 1, 2, 3}
	expectSuite(t, h.start(t, "suite", places, suiteOf(4), h.coordinator(places)...))
}

// TestDelayOverHosts is the suite where each packet takes 3 ms between hosts, the
// first of which has two ranks.
func TestDelayOverHosts(t *testing.T) {
	t.Parallel()
	h := makeHosts(t, 3)
	h.delay(t, 3*time.Millisecond)
	meet := []string{env.Size + "=4", env.Coordinator + "=" + net.JoinHostPort(h.onNet(79, 0), "5000")}
	expectSuite(t, h.start(t, "suite", []int{0, 1, 0, 2}, suiteOf(4), meet...))
}

// TestIPv6OverHosts is the suite over IPv6 alone, with a meeting place and with a
// host file.
func TestIPv6OverHosts(t *testing.T) {
	t.Parallel()
	h := makeHosts(t, 3)
	addr := func(host, port int) string { return fmt.Sprintf("[fd77::%d]:%d", host+1, port) }
	for i, name := range h.names {
		ip(t, "-n", name, "addr", "flush", "dev", "eth0", "scope", "global")
		ip(t, "-n", name, "-6", "addr", "add", fmt.Sprintf("fd77::%d/64", i+1), "dev", "eth0", "nodad")
	}
	places := []int{0, 1, 2}
	expectSuite(t, h.start(t, "suite", places, suiteOf(3), env.Size+"=3", env.Coordinator+"="+addr(0, 5000)))
	file := hostFileOf(t, [][]string{{addr(0, 6000)}, {addr(1, 6000)}, {addr(2, 6000)}})
	expectSuite(t, h.start(t, "suite", places, suiteOf(3), env.HostFile+"="+file))
}

// TestDeadInterfaceOverHosts gives each host a second interface, on a cable that
// leads nowhere, whose address the host file lists first. Messages use the other one
// as well as collectives do, and find it without many tries in vain.
func TestDeadInterfaceOverHosts(t *testing.T) {
	t.Parallel()
	h := makeHosts(t, 3)
	var list [][]string
	for i, name := range h.names {
		dead := fmt.Sprint("dead", i)
		ip(t, "-n", h.bridge, "link", "add", dead, "type", "veth", "peer", "name", "eth1", "netns", name)
		ip(t, "-n", h.bridge, "link", "set", dead, "up")
		ip(t, "-n", name, "addr", "add", h.onNet(78, i)+"/24", "dev", "eth1")
		ip(t, "-n", name, "link", "set", "eth1", "up")
		list = append(list, []string{h.onNet(78, i) + ":5000", h.address(i) + ":5000"})
	}
	ranks := h.start(t, "told", []int{0, 1, 2}, nil, env.HostFile+"="+hostFileOf(t, list))
	for _, p := range ranks {
		p.expect(t, "ready")
	}
	began := time.Now()
	all(t, ranks, "sum 1000")
	all(t, ranks, "split")
	for from := range ranks {
		for to := range ranks {
			if from == to {
				continue
			}
			ranks[from].tell(t, fmt.Sprint("send ", to))
			ranks[to].tell(t, fmt.Sprint("recv ", from))
			failsSoon(t, from, ranks[from], "<nil>")
			failsSoon(t, to, ranks[to], "<nil>")
		}
	}
	if took := time.Since(began); took > tryTime/2 {
		t.Errorf("collectives and messages took %v: the dead interface was tried again", took)
	}
	nothingLeft(t, ranks)
}

// onNet is the address of a host in another of its networks.
func (h hosts) onNet(net, host int) string {
	return strings.Replace(h.address(host), "10.77", fmt.Sprint("10.", net), 1)
}

// delay joins all hosts by another network, 10.79.0.0, in which each frame takes so
// long. It needs no part of the kernel that delays: each host has a TAP device, and
// the test is the wire.
func (h hosts) delay(t *testing.T, d time.Duration) {
	t.Helper()
	var ends []*os.File
	for i, name := range h.names {
		ends = append(ends, h.tap(t, i))
		ip(t, "-n", name, "addr", "add", h.onNet(79, i)+"/24", "dev", tapName)
		ip(t, "-n", name, "link", "set", tapName, "up")
	}
	var wire sync.WaitGroup
	for i, end := range ends {
		type frame struct {
			due  time.Time
			data []byte
		}
		frames := make(chan frame, 1<<12)
		wire.Go(func() {
			defer close(frames)
			for {
				data := make([]byte, 2048)
				n, err := end.Read(data)
				if err != nil {
					return
				}
				frames <- frame{time.Now().Add(d), data[:n]}
			}
		})
		wire.Go(func() {
			for f := range frames {
				time.Sleep(time.Until(f.due))
				for j, other := range ends {
					if j != i {
						other.Write(f.data)
					}
				}
			}
		})
	}
	t.Cleanup(func() {
		closeAll(ends)
		wire.Wait()
	})
}

const (
	tapName     = "slow0"
	tapVariable = "RING_TEST_TAP"
)

func init() { helpers["tap"] = handOutTap }

// tap makes a device on a host: a process there does so and hands it over.
func (h hosts) tap(t *testing.T, host int) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), fmt.Sprint("tap", host))
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	if err := h.on(host, cmd); err != nil {
		t.Fatal(err)
	}
	p := start(t, cmd, []string{roleVariable + "=tap", tapVariable + "=" + path})
	conn, err := listener.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if text := p.expect(t, "end: "); text != "<nil>" {
		t.Skipf("no network with a delay: %s", text)
	}
	file, err := shm.Receive(conn)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func handOutTap() error {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: os.Getenv(tapVariable), Net: "unix"})
	if err != nil {
		return err
	}
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("/dev/net/tun: %w", err)
	}
	device, err := unix.NewIfreq(tapName)
	if err != nil {
		return err
	}
	device.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, device); err != nil {
		return err
	}
	return shm.Send(conn, os.NewFile(uintptr(fd), tapName))
}
