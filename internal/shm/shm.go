// Package shm shares memory between the processes of one host, without a name
// that could be left behind: a Segment is an anonymous file of the kernel's that
// one process makes and hands to others over a Unix socket. It is gone when the
// last of them has unmapped it or died.
//
//	file, err := shm.Create(1 << 20)
//	err = shm.Send(conn, file)           // here
//	file, err := shm.Receive(conn)       // there
//	segment, err := shm.Map(file, 1<<20) // both
//	fence := shm.At[shm.Fence](segment, 0)
//
// The race detector does not see what another process does: everything that is
// not ordered by a Fence must be atomic. Linux only; other systems report
// errors.ErrUnsupported.
package shm

import (
	"errors"
	"fmt"
	"unsafe"
)

// Segment is memory that other processes see. Its owner unmaps it once nobody
// here uses it any more; whoever touches it later crashes.
type Segment struct{ memory []byte }

// Bytes is the whole segment.
func (s *Segment) Bytes() []byte { return s.memory }

// At views the segment's bytes from offset on as a T, which must hold no pointers.
// It panics when T does not fit there or would not be aligned.
func At[T any](s *Segment, offset int) *T {
	var zero T
	size, align := int(unsafe.Sizeof(zero)), int(unsafe.Alignof(zero))
	if offset < 0 || offset%align != 0 || size > len(s.memory)-offset {
		panic(fmt.Sprintf("shm: %d bytes at %d of %d", size, offset, len(s.memory)))
	}
	return (*T)(unsafe.Pointer(&s.memory[offset]))
}

// Supported reports whether this system has segments at all.
const Supported = supported

// ErrNoFile is Receive's error for a byte that came without a file.
var ErrNoFile = errors.New("shm: no file came")

// Line is how far apart words lie that different processes write, so that they do
// not take each other's cache line.
const Line = 64
