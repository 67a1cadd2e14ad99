//go:build cgo && mpi

package mpi

import (
	"fmt"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/digest"
	"github.com/lockstep-go/lockstep/internal/reduce"
)

// call is one collective as all ranks must make it.
type call struct {
	name  string
	op    group.Op
	t     dtype.Type // Invalid where there is none
	root  int
	bytes int
}

// String reads "all_reduce sum float32 of 16 bytes".
func (k *call) String() string {
	switch {
	case k.t != dtype.Invalid:
		return fmt.Sprintf("%s %v %v of %d bytes", k.name, k.op, k.t, k.bytes)
	case k.name == nameBroadcast:
		return fmt.Sprintf("%s from rank %d of %d bytes", k.name, k.root, k.bytes)
	case k.name == nameBarrier || k.name == nameSplit || k.name == nameShare || k.name == nameClose:
		return k.name
	}
	return fmt.Sprintf("%s of %d bytes", k.name, k.bytes)
}

// The names of the collectives.
const (
	nameAllReduce     = "all_reduce"
	nameLibrarySum    = "all_reduce by MPI_Iallreduce"
	nameReduceScatter = "reduce_scatter"
	nameAllGather     = "all_gather"
	nameAllToAll      = "all_to_all"
	nameBroadcast     = "broadcast"
	nameBarrier       = "barrier"
	nameSplit         = "split"
	nameShare         = "share memory"
	nameClose         = "close"
)

// Next adds what the caller knows of the coming collective to its fingerprint.
func (c *comm) Next(fp []byte, text string) {
	c.fingerprint = append(c.fingerprint[:0], fp...)
	c.text = text
}

// describe is the hash and the text of the collective that begins now.
func (c *comm) describe(k *call) (hash [16]byte, text func() string) {
	d := digest.New()
	d.Text(k.name)
	for _, v := range []uint64{c.number, uint64(k.op), uint64(k.t), uint64(k.root), uint64(k.bytes)} {
		d.Word(v)
	}
	d.Text(string(c.fingerprint))
	said := c.text
	c.fingerprint, c.text = c.fingerprint[:0], ""
	return d.Sum(), func() string {
		switch {
		case said != "" && k.name == nameLibrarySum:
			return said + " by MPI_Iallreduce"
		case said != "":
			return said
		}
		return k.String()
	}
}

func checkElements(k *call, size int) error {
	if err := reduce.Check(reduce.Op(k.op), k.t); err != nil {
		return fmt.Errorf("mpi: %s: %w", k.name, err)
	}
	if k.bytes%(size*k.t.Size()) != 0 {
		return fmt.Errorf("mpi: %v: want a multiple of %d bytes", k, size*k.t.Size())
	}
	return nil
}

func checkTimes(k *call, long string, n int, short string, m, size int) error {
	if n != m*size {
		return fmt.Errorf("mpi: %v: %s has %d bytes; want %d times the %d bytes of %s", k, long, n, size, m, short)
	}
	return nil
}
