//go:build cgo && mpi

package mpi

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/env"
	"github.com/lockstep-go/lockstep/internal/reduce"
)

// TestLibrarySums starts ranks that leave sums to MPI.
func TestLibrarySums(t *testing.T) {
	if world != nil {
		return
	}
	output, code := mpirun(t, 3, []string{env.MPISums + "=library"}, "-test.run=^TestWorld$/^sums_by_the_library$", "-test.v")
	if code != 0 || !strings.Contains(output, "chosen by the environment") {
		t.Errorf("mpirun ended with code %d\n%s", code, output)
	}
	output, code = mpirun(t, 2, []string{env.MPISums + "=fast"}, "-test.run=^TestWorld$")
	if code == 0 || !strings.Contains(output, `LOCKSTEP_MPI_SUMS is "fast"; want originals or library`) {
		t.Errorf("a wrong choice: mpirun ended with code %d\n%s", code, output)
	}
}

// librarySums adds whole numbers, which are exact in any order. Ranks that share memory do
// not leave sums to MPI.
func librarySums(t *testing.T, c *comm) {
	if c.job.library {
		t.Log("chosen by the environment")
	}
	if c.shared != nil {
		if c.job.library {
			t.Error("memory is shared, too")
		}
		return
	}
	defer func(library bool, bytes int) { c.job.library, pieceBytes = library, bytes }(c.job.library, pieceBytes)
	c.job.library = true
	for _, limit := range []int{pieceBytes, 1001} {
		pieceBytes = limit
		for _, kind := range append(libraryKinds, dtype.Float16) {
			for _, op := range []group.Op{group.Sum, group.Max} {
				addsWholeNumbers(t, c, op, kind)
			}
		}
	}
	if c.size == 1 {
		return
	}
	c.job.library = c.rank != 0 // one rank that was started otherwise
	err := c.AllReduce(t.Context(), group.Sum, dtype.Float32, make([]byte, 8000))
	if !errors.Is(err, group.ErrMismatch) || !strings.Contains(err.Error(), "MPI_Iallreduce") {
		t.Errorf("one rank adds itself: %v", err)
	}
}

func addsWholeNumbers(t *testing.T, c *comm, op group.Op, kind dtype.Type) {
	const n = 3001
	parts := make([][]byte, c.size)
	for rank := range parts {
		for i := range n {
			parts[rank] = appendNumber(parts[rank], kind, 3*i%100+rank)
		}
	}
	data, want := bytes.Clone(parts[c.rank]), make([]byte, len(parts[0]))
	reduce.Into(reduce.Op(op), kind, want, parts)
	if err := c.AllReduce(t.Context(), op, kind, data); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, want) {
		t.Errorf("%v of %d %v, in pieces of %d bytes, is wrong", op, n, kind, pieceBytes)
	}
}

func appendNumber(b []byte, kind dtype.Type, x int) []byte {
	switch kind {
	case dtype.Float64:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(x)))
	case dtype.Float32:
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
	case dtype.Float16:
		return binary.LittleEndian.AppendUint16(b, uint16(dtype.F16From(float64(x))))
	case dtype.Int64, dtype.Uint64:
		return binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return binary.LittleEndian.AppendUint32(b, uint32(x))
}
