package main

import (
	"golang.org/x/sys/unix"

	"github.com/lockstep-go/lockstep/dtype"
)

// arena is memory for the arrays of one row at a time: in large pages, as that of
// the reference.
type arena struct{ all, free []byte }

const arenaSize = 256 << 20

func newArena() (*arena, error) {
	all, err := unix.Mmap(-1, 0, arenaSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	adviseLargePages(all)
	all = all[2<<20:] // from here on all pages may be large
	return &arena{all, all}, nil
}

// bytes are the next n bytes. No two arrays begin at the same place of a page.
func (a *arena) bytes(n int) []byte {
	b := a.free[:n:n]
	a.free = a.free[(n+63)/64*64+4096+64:]
	return b
}

func (a *arena) filled(t dtype.Type, n int) []byte { return fill(a.bytes(n*t.Size()), t, false) }

// reset takes all arrays back.
func (a *arena) reset() { a.free = a.all }
