package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// login is a real sshd of these tests on loopback, with keys and settings of its
// own, and the ssh settings that lead to it. Every host of 127.0.0.0/8 is it.
type login struct {
	once    sync.Once
	missing string
	err     error
	dir     string // everything lies here
	port    string
	daemon  *exec.Cmd
	temp    string // TMPDIR of those who log in
}

var fixture login

// needLogin starts the sshd unless it runs. Where none can, the test is skipped; with
// CI=true that is a failure.
func needLogin(t *testing.T) *login {
	t.Helper()
	if testing.Short() {
		t.Skip("logins over ssh are left out of short tests")
	}
	l := &fixture
	l.once.Do(l.start)
	if l.missing != "" {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no sshd: %s; scripts/setup installs it", l.missing)
		}
		t.Skipf("no sshd: %s", l.missing)
	}
	if l.err != nil {
		t.Fatal(l.err)
	}
	return l
}

func (l *login) start() {
	os.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin") // where Debian has sshd
	sshd, err := exec.LookPath("sshd")
	for _, program := range []string{"ssh", "ssh-keygen"} {
		if _, other := exec.LookPath(program); other != nil {
			err = other
		}
	}
	if err != nil {
		l.missing = fmt.Sprintf("%v (Debian: openssh-server)", err)
		return
	}
	if l.dir, l.err = os.MkdirTemp("", "launch-sshd"); l.err != nil {
		return
	}
	l.temp = filepath.Join(l.dir, "temp")
	l.err = os.Mkdir(l.temp, 0o700)
	for _, key := range []string{"host", "good", "noisy", "stuck", "stranger"} {
		if l.err == nil {
			l.err = l.makeKey(key)
		}
	}
	if l.err == nil {
		l.err = l.configure()
	}
	if l.err == nil {
		l.err = l.serve(sshd)
	}
}

func (l *login) path(name string) string { return filepath.Join(l.dir, name) }

func (l *login) makeKey(name string) error {
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", l.path(name)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ssh-keygen: %w: %s", err, out)
	}
	return nil
}

// configure writes what sshd and ssh read. The noisy key's login prints before it
// does what it was asked to, the stuck one's never does it.
func (l *login) configure() error {
	port, err := freePort()
	if err != nil {
		return err
	}
	l.port = port
	public := map[string]string{}
	for _, key := range []string{"host", "good", "noisy", "stuck"} {
		text, err := os.ReadFile(l.path(key + ".pub"))
		if err != nil {
			return err
		}
		public[key] = string(text)
	}
	files := map[string]string{
		"sshd_config": fmt.Sprintf("Port %s\nListenAddress 127.0.0.1\nHostKey %s\nAuthorizedKeysFile %s\nPidFile none\nStrictModes no\nUsePAM no\n"+
			"PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\nMaxStartups 100\nSetEnv TMPDIR=%s\n",
			port, l.path("host"), l.path("authorized"), l.temp),
		"authorized": public["good"] +
			`command="echo welcome; echo a warning >&2; exec /bin/sh -c \"$SSH_ORIGINAL_COMMAND\"" ` + public["noisy"] +
			`command="exec sleep 1000" ` + public["stuck"],
		"known": fmt.Sprintf("[127.0.0.1]:%s %s", port, public["host"]),
		"empty": "",
		"config": fmt.Sprintf("Host 127.* host-*\nHostName 127.0.0.1\nHost nobody\nHostName 127.0.0.1\nPort 1\nHost *\nPort %s\nIdentityFile %s\nIdentitiesOnly yes\n"+
			"UserKnownHostsFile %s\nGlobalKnownHostsFile /dev/null\nStrictHostKeyChecking yes\n", port, l.path("good"), l.path("known")),
	}
	for name, text := range files {
		if err := os.WriteFile(l.path(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, err
}

func (l *login) serve(sshd string) error {
	if os.Geteuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // sshd wants it as root
			return err
		}
	}
	log, err := os.Create(l.path("log"))
	if err != nil {
		return err
	}
	defer log.Close()
	l.daemon = exec.Command(sshd, "-D", "-e", "-f", l.path("sshd_config"))
	l.daemon.Stderr = log
	if err := l.daemon.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", "127.0.0.1:"+l.port)
		if err == nil {
			return conn.Close()
		}
		if ctx.Err() != nil {
			text, _ := os.ReadFile(l.path("log"))
			return fmt.Errorf("sshd does not answer: %w: %s", err, text)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (l *login) end() error {
	if l.daemon != nil && l.daemon.Process != nil {
		l.daemon.Process.Kill()
		l.daemon.Wait()
	}
	if l.dir == "" {
		return nil
	}
	return os.RemoveAll(l.dir)
}

// flags are launch's, with those that lead to the sshd before them; settings are
// ssh's, such as IdentityFile=..., and go before those of the file.
func (l *login) flags(flags []string, settings ...string) []string {
	own := []string{"--ssh-arg", "-F", "--ssh-arg", l.path("config")}
	for _, setting := range settings {
		own = append(own, "--ssh-arg", "-o", "--ssh-arg", setting)
	}
	return append(own, flags...)
}

func (l *login) run(t *testing.T, flags []string, act ...string) result {
	t.Helper()
	return run(t, nil, l.flags(flags), act...)
}

// nothingLeft fails the test unless logins have left nothing in their TMPDIR.
func (l *login) nothingLeft(t *testing.T) {
	t.Helper()
	if left, err := os.ReadDir(l.temp); err != nil || len(left) != 0 {
		t.Errorf("left on a host: %v, %v", left, err)
	}
}

// sorted are the lines of a text whose order is not known.
func sorted(text string) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	slices.Sort(lines)
	return lines
}
