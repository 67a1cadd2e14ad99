package grouptest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/env"
)

// RunPartialSums is Run for communicators that add sums of some ranks instead of
// all originals. Of floating-point sums and means it asks less: all ranks get the
// same bits, in every repetition, and they are as close to the right ones as
// one rounding for each rank allows, or infinite where a partial sum may be. R8 to R11
// and other sums worked out by hand are held against that; it leaves out B10 and that
// bits do not depend on the length.
func RunPartialSums(t *testing.T, makeWorld MakeWorld) {
	runAll(t, makeWorld, true)
}

// ofOriginals are the cases and rows that only sums of originals can pass.
var ofOriginals = []string{"known results", "bits do not depend on the length", "R8", "R9", "R10", "R11", "B10"}

// partialCases are those of all cases that partial sums can pass, and what takes the
// place of the others.
func partialCases() []testCase {
	cases := slices.DeleteFunc(allCases(), func(c testCase) bool {
		return slices.ContainsFunc(append(c.rows, c.name), needsOriginals)
	})
	return append(cases, testCase{
		name:  "known results, by partial sums",
		rule:  "All ranks get the same bits, as near to the right ones as one rounding for each rank allows, or infinity where a partial sum overflows.",
		least: 1,
		check: knownByPartialSums,
	})
}

func needsOriginals(name string) bool { return slices.Contains(ofOriginals, name) }

func knownByPartialSums(ctx context.Context, comm group.Communicator) error {
	for _, k := range known {
		if len(k.ranks) != comm.Size() {
			continue
		}
		var inputs [][]byte
		for _, x := range k.ranks {
			inputs = append(inputs, encodeFloat(k.t, x))
		}
		if err := reduceAndCompare(ctx, comm, k.op, k.t, inputs); err != nil {
			return err
		}
	}
	return nil
}

// PartialSums reports whether the environment asks the ring for sums of some ranks'
// sums, so that tests which run over many processes ask no more than it promises.
func PartialSums() bool {
	topology, _ := env.LookupTopology()
	reduce, _ := env.LookupReduce()
	return topology == "ring" || reduce == "hierarchical"
}

type partialKey struct{}

// withPartialSums has the checks under ctx accept what partial sums give.
func withPartialSums(ctx context.Context) context.Context {
	return context.WithValue(ctx, partialKey{}, true)
}

func partialSums(ctx context.Context) bool { return ctx.Value(partialKey{}) != nil }

// matches compares a reduction with the oracle: bit by bit, or with partial sums
// of inexact numbers, within their bound.
func matches(ctx context.Context, what string, op group.Op, t dtype.Type, got []byte, inputs [][]byte) error {
	want := expect(op, t, inputs)
	if !partialSums(ctx) || !t.IsInexact() || op == group.Max || op == group.Min {
		return equal(what, got, want)
	}
	if len(got) != len(want) {
		return fmt.Errorf("%s: %d bytes, want %d", what, len(got), len(want))
	}
	if t.IsComplex() {
		t = dtype.Float32 // its parts are added each for itself
	}
	for lo := 0; lo < len(got); lo += t.Size() {
		hi := lo + t.Size()
		bound := partialBound(op, t, inputs, lo)
		g, w := decodeFloat(t, got[lo:hi]), decodeFloat(t, want[lo:hi])
		if bound > 0 && (math.Abs(g-w) <= bound || math.IsInf(g, 0) && mayOverflow(t, inputs, lo)) {
			continue
		}
		if err := equal(what, got[lo:hi], want[lo:hi]); err != nil {
			return fmt.Errorf("element %d: %v, want %v within %v: %w", lo/t.Size(), g, w, bound, err)
		}
	}
	return nil
}

// mayOverflow reports whether a sum of some of the elements may be too large for t.
func mayOverflow(t dtype.Type, inputs [][]byte, lo int) bool {
	total := 0.0
	for _, in := range inputs {
		total += math.Abs(decodeFloat(t, in[lo:lo+t.Size()]))
	}
	return math.IsInf(decodeFloat(t, encodeFloat(t, total)), 0)
}

// partialBound is how far one rounding for each rank may lead away; 0 where there
// is nothing to round, or infinities and NaN follow rules of their own.
func partialBound(op group.Op, t dtype.Type, inputs [][]byte, lo int) float64 {
	total := 0.0
	for _, in := range inputs {
		total += math.Abs(decodeFloat(t, in[lo:lo+t.Size()]))
	}
	if total == 0 || total != total || math.IsInf(total, 0) {
		return 0
	}
	format := map[dtype.Type]struct{ unit, tiny float64 }{
		dtype.Float16: {0x1p-11, 0x1p-24}, dtype.BFloat16: {0x1p-8, 0x1p-133},
		dtype.Float32: {0x1p-24, 0x1p-149}, dtype.Float64: {0x1p-53, 0x1p-1074},
	}[t]
	if op == group.Mean {
		total /= float64(len(inputs))
	}
	return float64(len(inputs)) * (2*format.unit*total + format.tiny)
}
