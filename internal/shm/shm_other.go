//go:build !(linux && (amd64 || arm64 || riscv64 || loong64))

package shm

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"
)

const supported = false

var errUnsupported = fmt.Errorf("shm: shared memory on this system: %w", errors.ErrUnsupported)

// Create reports errors.ErrUnsupported on this system.
func Create(int) (*os.File, error) { return nil, errUnsupported }

// Map reports errors.ErrUnsupported on this system.
func Map(*os.File, int) (*Segment, error) { return nil, errUnsupported }

// Unmap has nothing to do on this system, which has no segments.
func (s *Segment) Unmap() error { return nil }

// Send reports errors.ErrUnsupported on this system.
func Send(*net.UnixConn, *os.File) error { return errUnsupported }

// Receive reports errors.ErrUnsupported on this system.
func Receive(*net.UnixConn) (*os.File, error) { return nil, errUnsupported }

// Cores is not known on this system.
func Cores() (marked [16]uint64) { return marked }

func sleep(*atomic.Uint64, uint64, time.Duration) {}

func wake(*atomic.Uint64) {}

func yield() {}
