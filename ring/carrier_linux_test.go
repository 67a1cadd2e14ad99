package ring

import (
	"net"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestLoopbackIsNotPaced(t *testing.T) {
	a, b := connect(t)
	for _, conn := range []net.Conn{a, b} {
		unpaced(conn)
		raw, err := conn.(syscall.Conn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		raw.Control(func(fd uintptr) {
			if name, err := unix.GetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION); name != "reno" || err != nil {
				t.Errorf("congestion control %q, %v", name, err)
			}
		})
	}
}
