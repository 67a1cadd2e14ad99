//go:build linux && (amd64 || arm64 || riscv64 || loong64)

package shm

import (
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const supported = true

const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// maxBytes bounds a segment: the kernel ends processes before it refuses to
// reserve memory that it does not have.
const maxBytes = 1 << 30

// Create makes a file of n bytes, at most 1 GiB, all zero, that exists in memory
// only and has no name. The memory is reserved now, so that it is missed here and
// not at some later touch; the size cannot be changed. The caller closes the file,
// which does not affect its mappings.
func Create(n int) (*os.File, error) {
	if n < 1 || n > maxBytes {
		return nil, fmt.Errorf("shm: segment of %d bytes, want 1 to %d", n, maxBytes)
	}
	fd, err := unix.MemfdCreate("lockstep", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("shm: memfd_create: %w", err)
	}
	file := os.NewFile(uintptr(fd), "shared memory")
	if err = unix.Fallocate(fd, 0, 0, int64(n)); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("shm: reserve %d bytes: %w", n, err)
	}
	return file, nil
}

// Map makes the n bytes of a file from Create visible here. It refuses one of
// another size and one that could shrink while it is in use. The file may be
// closed afterwards.
func Map(file *os.File, n int) (*Segment, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("shm: %w", err)
	}
	has, err := unix.FcntlInt(file.Fd(), unix.F_GET_SEALS, 0)
	switch {
	case err != nil || has&seals != seals:
		return nil, errors.New("shm: what was received is no sealed memory")
	case info.Size() != int64(n):
		return nil, fmt.Errorf("shm: memory of %d bytes, want %d", info.Size(), n)
	}
	memory, err := unix.Mmap(int(file.Fd()), 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("shm: map %d bytes: %w", n, err)
	}
	return &Segment{memory}, nil
}

// Unmap ends the use of the segment here.
func (s *Segment) Unmap() error {
	memory := s.memory
	s.memory = nil
	return unix.Munmap(memory)
}

// Send hands a file to the process at the other end, in one message with one byte.
func Send(conn *net.UnixConn, file *os.File) error {
	_, _, err := conn.WriteMsgUnix([]byte{1}, unix.UnixRights(int(file.Fd())), nil)
	return err
}

// Receive takes the file that Send hands over. The caller closes it.
func Receive(conn *net.UnixConn) (*os.File, error) {
	control := make([]byte, unix.CmsgSpace(4))
	_, controls, _, _, err := conn.ReadMsgUnix(make([]byte, 1), control)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:controls])
	if err != nil || len(messages) != 1 {
		return nil, ErrNoFile
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, ErrNoFile
	}
	return os.NewFile(uintptr(fds[0]), "shared memory"), nil
}

// low is the half of a word that the kernel compares; these processors keep it
// first.
func low(word *atomic.Uint64) unsafe.Pointer { return unsafe.Pointer(word) }

// sleep waits while the word is as seen, until someone wakes it or d has passed.
// Not private: the kernel knows the word by its place in the file.
func sleep(word *atomic.Uint64, seen uint64, d time.Duration) {
	limit := unix.NsecToTimespec(int64(d))
	unix.Syscall6(unix.SYS_FUTEX, uintptr(low(word)), 0 /* FUTEX_WAIT */, uintptr(uint32(seen)), uintptr(unsafe.Pointer(&limit)), 0, 0)
}

func wake(word *atomic.Uint64) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(low(word)), 1 /* FUTEX_WAKE */, math.MaxInt32, 0, 0, 0)
}

// Cores marks the cores that this process may run on, of the first 1024; all zero
// when that is not known.
func Cores() (marked [16]uint64) {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return marked
	}
	for i := range len(marked) * 64 {
		if set.IsSet(i) {
			marked[i/64] |= 1 << (i % 64)
		}
	}
	return marked
}

// yield lets other processes run on this core.
func yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
