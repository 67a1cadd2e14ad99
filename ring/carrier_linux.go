package ring

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// poller carries links over sockets that it reads and writes itself, and waits by
// poll(2): the runtime's own poller would wake a thread for every packet of every
// socket, and lets a goroutine wait for one socket only.
type poller struct {
	bell    int // an eventfd
	waiting []unix.PollFd
}

func newCarrier() (carrier, error) {
	bell, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("eventfd", err)
	}
	return &poller{bell: bell}, nil
}

func (p *poller) stream(conn net.Conn) (stream, error) {
	shared, ok := conn.(syscall.Conn)
	if !ok {
		return newPump(conn, p.wake), nil
	}
	defer conn.Close()
	s, err := newSocket(shared)
	if err != nil {
		return nil, err
	}
	if sameHost(conn) {
		s.enlarge()
	}
	return s, nil
}

func sameHost(conn net.Conn) bool {
	local, ok := conn.LocalAddr().(*net.TCPAddr)
	remote, too := conn.RemoteAddr().(*net.TCPAddr)
	return ok && too && local.IP.Equal(remote.IP)
}

const longestSleep = time.Hour

func (p *poller) sleep(in, out []stream, d time.Duration) error {
	p.waiting = append(p.waiting[:0], unix.PollFd{Fd: int32(p.bell), Events: unix.POLLIN})
	p.watch(in, unix.POLLIN)
	p.watch(out, unix.POLLOUT)
	d = min(max(d, 0), longestSleep)
	n, err := unix.Poll(p.waiting, int(d/time.Millisecond)+1)
	if err != nil && err != unix.EINTR {
		return os.NewSyscallError("poll", err)
	}
	if n > 0 && p.waiting[0].Revents != 0 {
		var count [8]byte
		unix.Read(p.bell, count[:])
	}
	return nil
}

// watch leaves out pumps, which ring the bell.
func (p *poller) watch(streams []stream, events int16) {
	for _, s := range streams {
		if s, ok := s.(*socket); ok {
			p.waiting = append(p.waiting, unix.PollFd{Fd: int32(s.fd), Events: events})
		}
	}
}

func (p *poller) wake() { unix.Write(p.bell, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

func (p *poller) close() { unix.Close(p.bell) }

// socket is a stream over a file descriptor of its own.
type socket struct {
	fd     int
	mu     sync.Mutex
	closed bool
}

// newSocket duplicates the descriptor of a connection, which can then be closed.
func newSocket(conn syscall.Conn) (*socket, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd, failed := -1, error(nil)
	err = raw.Control(func(own uintptr) { fd, failed = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 0) })
	if err = errors.Join(err, os.NewSyscallError("dup", failed)); err != nil {
		return nil, err
	}
	return &socket{fd: fd}, nil
}

// loopbackBuffer is room for a few turns of an exchange in each direction.
const loopbackBuffer = 4 << 20

// enlarge asks for large buffers within one host. The plain SO_SNDBUF is not
// tried, as it ends the system's own tuning at a lower limit.
func (s *socket) enlarge() {
	unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, loopbackBuffer)
	unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, loopbackBuffer)
}

// unpaced asks for a congestion control that does not pace what stays within one
// host; what the system refuses stays as it is.
func unpaced(conn net.Conn) {
	shared, ok := conn.(syscall.Conn)
	if !ok || !sameHost(conn) {
		return
	}
	if raw, err := shared.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) {
			unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno")
		})
	}
}

func (s *socket) read(b []byte) (int, error) {
	n, err := unix.Read(s.fd, b)
	switch {
	case n > 0:
		return n, nil
	case err == nil:
		return 0, io.EOF
	}
	return 0, unlessLater(err)
}

func (s *socket) write(b []byte) (int, error) {
	n, err := unix.Write(s.fd, b)
	if n > 0 {
		return n, nil
	}
	return 0, unlessLater(err)
}

// unlessLater drops the errors that only mean to try again.
func unlessLater(err error) error {
	if err == unix.EAGAIN || err == unix.EINTR {
		return nil
	}
	return err
}

func (s *socket) flushed() bool { return true }

func (s *socket) closeWrite() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		unix.Shutdown(s.fd, unix.SHUT_WR)
	}
}

func (s *socket) drain(until time.Time) {
	s.closeWrite()
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	f := os.NewFile(uintptr(s.fd), "link")
	conn, err := net.FileConn(f) // as a connection it waits without a thread
	f.Close()
	if err == nil {
		drain(conn, until)
	}
}
