package ring

import (
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// newWire makes a wire of a connection and closes that; nil where it cannot be done,
// which leaves the connection alone.
func newWire(conn net.Conn) (wire, error) {
	shared, ok := conn.(syscall.Conn)
	if !ok {
		return nil, nil
	}
	s, err := newSocket(shared)
	if err != nil {
		return nil, err
	}
	conn.Close()
	return s, nil
}

func (s *socket) readTwo(a, b []byte) (int, error) {
	n, err := unix.Readv(s.fd, [][]byte{a, b})
	switch {
	case n > 0:
		return n, nil
	case err == nil:
		return 0, io.EOF
	}
	return 0, unlessLater(err)
}

func (s *socket) writeTwo(a, b []byte) (int, error) {
	n, err := unix.Writev(s.fd, [][]byte{a, b})
	if n > 0 {
		return n, nil
	}
	return 0, unlessLater(err)
}

func (s *socket) await(writing bool, d time.Duration) error {
	events := int16(unix.POLLIN)
	if writing {
		events = unix.POLLOUT
	}
	_, err := unix.Poll([]unix.PollFd{{Fd: int32(s.fd), Events: events}}, int(d/time.Millisecond))
	if err != nil && err != unix.EINTR {
		return os.NewSyscallError("poll", err)
	}
	return nil
}

func (s *socket) shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		unix.Shutdown(s.fd, unix.SHUT_RDWR)
	}
}

func (s *socket) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		unix.Close(s.fd)
	}
}

// watch has the runtime wait for a descriptor of its own, which it knows of only as
// long as the watch is there.
func (s *socket) watch() (watch, error) {
	fd, err := unix.FcntlInt(uintptr(s.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	w := &fileWatch{file: os.NewFile(uintptr(fd), "messages")}
	w.raw, err = w.file.SyscallConn()
	if err == nil {
		err = w.file.SetReadDeadline(noDeadline)
	}
	if err != nil {
		w.file.Close()
		return nil, err
	}
	return w, nil
}

type fileWatch struct {
	file *os.File
	raw  syscall.RawConn
}

func (w *fileWatch) wait() {
	if w.raw.Read(readable) != nil {
		w.file.SetReadDeadline(noDeadline)
	}
}

func readable(fd uintptr) bool {
	n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return n > 0
}

func (w *fileWatch) end() { w.file.SetReadDeadline(longAgo) }

func (w *fileWatch) close() { w.file.Close() }
