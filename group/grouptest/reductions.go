package grouptest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

func reduceCases() []testCase {
	return []testCase{
		{
			name:  "sum of ranks",
			rule:  "AllReduce combines the data of all ranks in place; every rank ends with the same.",
			least: 1,
			check: sumOfRanks,
		},
		{
			name:  "known results",
			rule:  "Elements are added in rank order, in float64 for the shorter types, and rounded once.",
			least: 1,
			check: knownResults,
		},
		{
			name:  "every type and reduction",
			rule:  "Every reduction works on every element type that has it: integers wrap, bool is or and and, complex numbers order by real part, then imaginary part.",
			least: 1,
			check: everyTypeAndReduction,
		},
		{
			name:  "every type in a long message",
			rule:  "The result does not depend on the length of the message.",
			least: 1,
			check: everyTypeLong,
		},
		{
			name:  "lengths",
			rule:  "Any number of elements is reduced: none, one, fewer than ranks, not a multiple of the ranks.",
			rows:  []string{"R18"},
			least: 1,
			check: lengths,
		},
		{
			name:  "large",
			rule:  "Any number of elements is reduced, also when it does not divide into equal parts.",
			least: 1,
			check: large,
		},
		{
			name:  "same bits on every rank",
			rule:  "Every rank gets the same bits, in every repetition.",
			least: 2,
			check: sameBits,
		},
		{
			name:  "bits do not depend on the length",
			rule:  "An element gets the same bits whatever else is reduced with it.",
			least: 2,
			check: bitsOfAPart,
		},
		{
			name:  "NaN on any one rank",
			rule:  "A NaN on any rank makes sum, mean, max and min the canonical quiet NaN.",
			rows:  []string{"R13"},
			least: 2,
			check: oneNaN,
		},
		{
			name:  "signed zeros and infinities",
			rule:  "+0 wins max and -0 wins min wherever they are, -0 alone sums to -0, opposite infinities sum to NaN.",
			least: 2,
			check: zerosAndInfinities,
		},
		{
			name:  "any address",
			rule:  "A buffer may start at any address.",
			least: 2,
			check: anyAddress,
		},
		{
			name:  "wrong reductions",
			rule:  "A reduction that is not defined is an error at once and leaves the communicator as it was.",
			rows:  []string{"B9"},
			least: 2,
			check: wrongReductions,
		},
	}
}

func sumOfRanks(ctx context.Context, comm group.Communicator) error {
	data := []byte{byte(comm.Rank() + 1), 7}
	if err := comm.AllReduce(ctx, group.Sum, dtype.Uint8, data); err != nil {
		return err
	}
	n := comm.Size()
	return equal("sum", data, []byte{byte(n * (n + 1) / 2), byte(7 * n)})
}

// known are results worked out by hand, one value for each rank.
var known = []struct {
	op    group.Op
	t     dtype.Type
	ranks []float64
	want  float64
}{
	{group.Sum, dtype.Float16, []float64{2048, 1, 1, 1}, 2052},
	{group.Sum, dtype.Float16, []float64{60000, 60000, -60000}, 60000},
	{group.Sum, dtype.Float16, []float64{40000, 40000, 40000, 40000}, math.Inf(1)},
	{group.Mean, dtype.Float16, []float64{40000, 40000, 40000, 40000}, 40000},
	{group.Mean, dtype.Float16, []float64{0x1p-24, 0x1p-24, 0x1p-24}, 0x1p-24},
	{group.Sum, dtype.BFloat16, []float64{256, 1, 1, 1}, 260},
	{group.Sum, dtype.Float32, []float64{1e8, 1, -1e8}, 1},
	{group.Sum, dtype.Float32, []float64{0x1p24, 1}, 0x1p24},
	{group.Sum, dtype.Float64, []float64{1e16, 1, -1e16}, 0},
	{group.Mean, dtype.Float64, []float64{1, 2}, 1.5},
	{group.Min, dtype.Float32, []float64{1, math.NaN(), 3, 4}, math.NaN()},
	{group.Max, dtype.Float16, []float64{-1, -3, -2}, -1},
}

func knownResults(ctx context.Context, comm group.Communicator) error {
	for _, k := range known {
		if len(k.ranks) != comm.Size() {
			continue
		}
		what := fmt.Sprintf("%v of %v %v", k.op, k.t, k.ranks)
		data := encodeFloat(k.t, k.ranks[comm.Rank()])
		if err := comm.AllReduce(ctx, k.op, k.t, data); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if err := equal(what, data, encodeFloat(k.t, k.want)); err != nil {
			return err
		}
	}
	return nil
}

// reduceAndCompare reduces this rank's input and compares with the oracle.
func reduceAndCompare(ctx context.Context, comm group.Communicator, op group.Op, t dtype.Type, inputs [][]byte) error {
	what := fmt.Sprintf("%v of %d %v", op, len(inputs[0])/t.Size(), t)
	data := bytes.Clone(inputs[comm.Rank()])
	if err := comm.AllReduce(ctx, op, t, data); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := matches(ctx, what, op, t, data, inputs); err != nil || !partialSums(ctx) {
		return err
	}
	return agree(ctx, comm, what, data)
}

func everyTypeAndReduction(ctx context.Context, comm group.Communicator) error {
	for _, t := range dtype.All() {
		for _, op := range ops {
			if !has(op, t) {
				continue
			}
			if err := reduceAndCompare(ctx, comm, op, t, inputs(t, comm.Size(), 67, int(op))); err != nil {
				return err
			}
		}
	}
	return nil
}

func everyTypeLong(ctx context.Context, comm group.Communicator) error {
	const bytes = 4500 // enough to leave the path for short messages
	for _, t := range dtype.All() {
		op := group.Sum
		if t.IsComplex() {
			op = group.Max
		}
		if err := reduceAndCompare(ctx, comm, op, t, inputs(t, comm.Size(), bytes/t.Size()+1, 4)); err != nil {
			return err
		}
	}
	return nil
}

func lengths(ctx context.Context, comm group.Communicator) error {
	n := comm.Size()
	for _, elems := range []int{0, 1, 7, n - 1, n, n + 1, 1000, 1023, 1024, 1025} {
		for _, t := range []dtype.Type{dtype.Float32, dtype.BFloat16} {
			if err := reduceAndCompare(ctx, comm, group.Sum, t, inputs(t, n, elems, elems)); err != nil {
				return err
			}
		}
	}
	return nil
}

// large sums numbers so small that the result is exact and quickly known.
func large(ctx context.Context, comm group.Communicator) error {
	const elems = 250_007
	n := comm.Size()
	data, want := make([]byte, 4*elems), make([]byte, 4*elems)
	for i := range elems {
		binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(float32(i%1000+comm.Rank())))
		binary.LittleEndian.PutUint32(want[4*i:], math.Float32bits(float32(n*(i%1000)+n*(n-1)/2)))
	}
	err := comm.AllReduce(ctx, group.Sum, dtype.Float32, data)
	return first(err, equal(fmt.Sprintf("sum of %d float32", elems), data, want))
}

func sameBits(ctx context.Context, comm group.Communicator) error {
	for _, t := range []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64, dtype.Complex64} {
		for _, elems := range []int{9, 2503} {
			var before []byte
			for range 3 {
				data := seeded(comm.Rank(), elems).elements(t, elems)
				if err := comm.AllReduce(ctx, group.Mean, t, data); err != nil {
					return err
				}
				if before == nil {
					before = data
				}
				what := fmt.Sprintf("mean of %d %v", elems, t)
				if err := first(agree(ctx, comm, what, data), equal(what+" repeated", data, before)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// bitsOfAPart reduces a list of float64, whose sum depends on the order of
// addition, at once and in pieces.
func bitsOfAPart(ctx context.Context, comm group.Communicator) error {
	const elems, size = 3001, 8
	whole := seeded(comm.Rank(), 9).elements(dtype.Float64, elems)
	pieces := bytes.Clone(whole)
	if err := comm.AllReduce(ctx, group.Sum, dtype.Float64, whole); err != nil {
		return err
	}
	for lo, step := 0, 1; lo < elems; lo, step = lo+step, 3*step {
		piece := pieces[size*lo : size*min(lo+step, elems)]
		if err := comm.AllReduce(ctx, group.Sum, dtype.Float64, piece); err != nil {
			return err
		}
	}
	return equal("sum in pieces", pieces, whole)
}

func oneNaN(ctx context.Context, comm group.Communicator) error {
	for _, t := range []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64, dtype.Complex64} {
		for _, op := range ops {
			// Element i is NaN on rank i, with all bits set; one more is a number.
			ins := make([][]byte, comm.Size())
			for rank := range ins {
				ins[rank] = make([]byte, t.Size()*(comm.Size()+1))
				copy(ins[rank][rank*t.Size():], bytes.Repeat([]byte{0xff}, t.Size()))
			}
			if err := reduceAndCompare(ctx, comm, op, t, ins); err != nil {
				return err
			}
		}
	}
	return nil
}

func zerosAndInfinities(ctx context.Context, comm group.Communicator) error {
	minus, inf := math.Copysign(0, -1), math.Inf(1)
	for _, t := range []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64} {
		for odd := range comm.Size() {
			ins := make([][]byte, comm.Size())
			for rank := range ins {
				values := []float64{0, minus, minus, inf, 1}
				if rank == odd {
					values = []float64{minus, 0, minus, -inf, inf}
				}
				for _, x := range values {
					ins[rank] = append(ins[rank], encodeFloat(t, x)...)
				}
			}
			for _, op := range ops {
				if err := reduceAndCompare(ctx, comm, op, t, ins); err != nil {
					return fmt.Errorf("with rank %d the odd one: %w", odd, err)
				}
			}
		}
	}
	return nil
}

func anyAddress(ctx context.Context, comm group.Communicator) error {
	for _, elems := range []int{5, 2000} {
		for _, t := range []dtype.Type{dtype.Float16, dtype.Float32, dtype.Int64, dtype.Complex64} {
			ins := inputs(t, comm.Size(), elems, 5)
			mine := ins[comm.Rank()]
			room := make([]byte, len(mine)+2)
			data := room[1 : len(room)-1]
			copy(data, mine)
			if err := comm.AllReduce(ctx, group.Max, t, data); err != nil {
				return err
			}
			if err := equal(fmt.Sprintf("max of %d %v", elems, t), data, expect(group.Max, t, ins)); err != nil {
				return err
			}
			if room[0] != 0 || room[len(room)-1] != 0 {
				return fmt.Errorf("max of %d %v wrote outside its buffer", elems, t)
			}
		}
	}
	return nil
}

func wrongReductions(ctx context.Context, comm group.Communicator) error {
	wrong := []struct {
		name  string
		op    group.Op
		t     dtype.Type
		bytes int
	}{
		{"mean of int32", group.Mean, dtype.Int32, 8},
		{"mean of bool", group.Mean, dtype.Bool, 8},
		{"unknown reduction", 77, dtype.Float32, 8},
		{"no type", group.Sum, dtype.Invalid, 8},
		{"half an element", group.Sum, dtype.Float32, 6},
	}
	for _, w := range wrong {
		if err := comm.AllReduce(ctx, w.op, w.t, make([]byte, w.bytes)); err == nil {
			return fmt.Errorf("%s gave no error", w.name)
		}
	}
	return sumOfRanks(ctx, comm)
}
