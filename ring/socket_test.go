package ring

import (
	"net"
	"syscall"
	"testing"
)

type option struct{ level, name int }

var (
	soKeepAlive = option{syscall.SOL_SOCKET, syscall.SO_KEEPALIVE}
	tcpNoDelay  = option{syscall.IPPROTO_TCP, syscall.TCP_NODELAY}
)

// socketOption asks the system what a connection is set to, 1 for on.
func socketOption(t *testing.T, conn net.Conn, o option) int {
	t.Helper()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	value, failed := 0, error(nil)
	if err := raw.Control(func(fd uintptr) { value, failed = syscall.GetsockoptInt(int(fd), o.level, o.name) }); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	if value != 0 {
		return 1
	}
	return 0
}
