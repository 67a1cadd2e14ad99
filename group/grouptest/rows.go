package grouptest

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

// literal is a reduction whose values and result are written out. Values of a type
// that float64 does not hold are raw bytes.
type literal struct {
	row, name string
	op        group.Op
	t         dtype.Type
	ranks     [][]float64 // what each rank holds
	want      []float64
	raw       [][]byte // instead of ranks
	wantRaw   []byte   // instead of want
	repeat    int      // 0 means once
}

var (
	yes, no = 1.0, 0.0
	nan     = math.NaN()
	minus0  = math.Copysign(0, -1)
	inf     = math.Inf(1)
)

func one(values ...float64) [][]float64 {
	var ranks [][]float64
	for _, v := range values {
		ranks = append(ranks, []float64{v})
	}
	return ranks
}

var literals = []literal{
	{row: "R1", name: "sum", op: group.Sum, t: dtype.Float32, ranks: [][]float64{{1, 2}, {3, 4}}, want: []float64{4, 6}},
	{row: "R1", name: "max", op: group.Max, t: dtype.Float32, ranks: [][]float64{{1, 2}, {3, 4}}, want: []float64{3, 4}},
	{row: "R1", name: "min", op: group.Min, t: dtype.Float32, ranks: [][]float64{{1, 2}, {3, 4}}, want: []float64{1, 2}},
	{row: "R4", name: "sum of bool is or", op: group.Sum, t: dtype.Bool, ranks: [][]float64{{no, yes, no, yes}, {no, no, yes, yes}}, want: []float64{no, yes, yes, yes}},
	{row: "R4", name: "max of bool is or", op: group.Max, t: dtype.Bool, ranks: [][]float64{{no, yes, no, yes}, {no, no, yes, yes}}, want: []float64{no, yes, yes, yes}},
	{row: "R4", name: "min of bool is and", op: group.Min, t: dtype.Bool, ranks: [][]float64{{no, yes, no, yes}, {no, no, yes, yes}}, want: []float64{no, no, no, yes}},
	{row: "R5", name: "int8 wraps", op: group.Sum, t: dtype.Int8, ranks: one(100, 100), want: []float64{-56}},
	{row: "R5", name: "int8 wraps four times", op: group.Sum, t: dtype.Int8, ranks: one(100, 100, 100, 100), want: []float64{-112}},
	{row: "R5", name: "uint8 wraps", op: group.Sum, t: dtype.Uint8, ranks: one(200, 100), want: []float64{44}},
	{row: "R6", name: "max of uint64 has no sign", op: group.Max, t: dtype.Uint64, ranks: one(0x1p63, 1), want: []float64{0x1p63}},
	{row: "R6", name: "min of uint64 has no sign", op: group.Min, t: dtype.Uint64, ranks: one(0x1p63, 1), want: []float64{1}},
	{row: "R7", name: "max of complex64, equal real parts", op: group.Max, t: dtype.Complex64, raw: complexes(1+5i, 1+2i), wantRaw: complexes(1 + 5i)[0]},
	{row: "R7", name: "min of complex64, equal real parts", op: group.Min, t: dtype.Complex64, raw: complexes(1+5i, 1+2i), wantRaw: complexes(1 + 2i)[0]},
	{row: "R7", name: "max of complex64, the real part first", op: group.Max, t: dtype.Complex64, raw: complexes(2, 1+9i), wantRaw: complexes(2)[0]},
	{row: "R8", name: "float16 rounds once", op: group.Sum, t: dtype.Float16, ranks: one(2048, 1, 1, 1), want: []float64{2052}},
	{row: "R9", name: "float16 overflows on the way", op: group.Sum, t: dtype.Float16, ranks: one(60000, 60000, -60000), want: []float64{60000}},
	{row: "R10", name: "bfloat16 rounds once", op: group.Sum, t: dtype.BFloat16, ranks: one(256, 1, 1, 1), want: []float64{260}},
	{row: "R11", name: "float32 keeps what cancels", op: group.Sum, t: dtype.Float32, ranks: one(1e8, 1, -1e8), want: []float64{1}, repeat: 100},
	{row: "R14", name: "min of a NaN and the real minimum", op: group.Min, t: dtype.Float32, ranks: one(1, nan, 3, 4), want: []float64{nan}},
	{row: "R15", name: "-0 alone", op: group.Sum, t: dtype.Float32, ranks: one(minus0, minus0, minus0), want: []float64{minus0}},
	{row: "R16", name: "max of zeros", op: group.Max, t: dtype.Float32, ranks: [][]float64{{minus0, 0}, {0, minus0}}, want: []float64{0, 0}},
	{row: "R16", name: "min of zeros", op: group.Min, t: dtype.Float32, ranks: [][]float64{{minus0, 0}, {0, minus0}}, want: []float64{minus0, minus0}},
	{row: "R17", name: "sum of opposite infinities", op: group.Sum, t: dtype.Float32, ranks: one(inf, -inf), want: []float64{nan}},
	{row: "R17", name: "max of opposite infinities", op: group.Max, t: dtype.Float32, ranks: one(inf, -inf), want: []float64{inf}},
	{row: "R17", name: "min of opposite infinities", op: group.Min, t: dtype.Float32, ranks: one(inf, -inf), want: []float64{-inf}},
}

func complexes(values ...complex64) [][]byte {
	var all [][]byte
	for _, v := range values {
		all = append(all, append(encodeFloat(dtype.Float32, float64(real(v))), encodeFloat(dtype.Float32, float64(imag(v)))...))
	}
	return all
}

// encodeValues encodes numbers of any type but complex ones.
func encodeValues(t dtype.Type, values []float64) []byte {
	var b []byte
	for _, v := range values {
		switch t {
		case dtype.Bool, dtype.Uint8, dtype.Int8:
			b = append(b, byte(int(v)))
		case dtype.Uint64:
			for i := range 8 {
				b = append(b, byte(uint64(v)>>(8*i)))
			}
		default:
			b = append(b, encodeFloat(t, v)...)
		}
	}
	return b
}

func (l literal) input(rank int) []byte {
	if l.raw != nil {
		return bytes.Clone(l.raw[rank])
	}
	return encodeValues(l.t, l.ranks[rank])
}

func (l literal) check(ctx context.Context, comm group.Communicator) error {
	want := l.wantRaw
	if want == nil {
		want = encodeValues(l.t, l.want)
	}
	for range max(l.repeat, 1) {
		data := l.input(comm.Rank())
		err := comm.AllReduce(ctx, l.op, l.t, data)
		if err := first(err, equal(l.name, data, want)); err != nil {
			return err
		}
	}
	return nil
}

// rowCases are rows of the conformance list as they are written there.
func rowCases() []testCase {
	cases := []testCase{
		{
			name: "row: ones", rows: []string{"R2"}, least: 1, check: sumOfOnes,
			rule: "Ten ones sum to the number of ranks, in every type of numbers.",
		},
		{
			name: "row: random floats of many lengths", rows: []string{"R12"}, least: 2, most: 4, check: manyLengths,
			rule: "Every rank gets the same bytes at every length.",
		},
		{
			name: "row: no elements", rows: []string{"R18", "C6"}, least: 1, check: onGroup(noElements),
			rule: "Collectives of nothing are collectives: they work and keep the ranks in step.",
		},
		{
			name: "row: fewer elements than ranks", rows: []string{"R21"}, least: 8, most: 8, check: fewElements,
			rule: "Ranks that own no element of a reduction get all of it.",
		},
		{
			name: "row: gather of two", rows: []string{"A2"}, least: 2, most: 2, check: onGroup(gatherOfTwo),
			rule: "AllGather puts the ranks' elements one after the other.",
		},
		{
			name: "row: gather keeps bytes", rows: []string{"A6"}, least: 2, check: gatherKeepsBytes,
			rule: "AllGather keeps the payload of a NaN, the sign of zero and every other bit.",
		},
		{
			name: "row: reduce scatter of two", rows: []string{"C1", "C11"}, least: 2, most: 2, check: onGroup(scatterOfTwo),
			rule: "ReduceScatter leaves this rank's slice of the sum.",
		},
		{
			name: "row: 64 MiB both ways", rows: []string{"S4x"}, least: 2, most: 2, check: bothWays,
			rule: "Two ranks that send to each other at once do not wait for one another, whatever the length.",
		},
		{
			name: "row: all send 8 MiB to all", rows: []string{"B20"}, least: 2, most: 4, check: allToAllAtOnce,
			rule: "All ranks may send to all others at once.",
		},
		{
			name: "row: leader", rows: []string{"B2"}, least: 1, rule: "The leader is rank 0 alone.",
			check: onGroup(func(ctx context.Context, g *group.Group) error {
				if g.IsLeader() != (g.Rank() == 0) {
					return fmt.Errorf("rank %d: leader is %v", g.Rank(), g.IsLeader())
				}
				return nil
			}),
		},
		{
			name: "row: nobody leaves a barrier early", rows: []string{"B3"}, least: 2, check: onGroup(barrierHolds),
			rule: "No rank returns from a barrier before the last has come.",
		},
		{
			name: "row: float16 bytes", rows: []string{"B10"}, least: 4, most: 4, check: onGroup(halfBytes),
			rule: "AllReduceBytes of float16 rounds once.",
		},
		{
			name: "row: reductions in the background", rows: []string{"B11"}, least: 1, check: onGroup(background),
			rule: "Reductions in the background and one in the foreground do not mix, in whatever order they are waited for.",
		},
		{
			name: "row: tags 3 and 2", rows: []string{"B6"}, least: 2, check: onGroup(twoTags),
			rule: "Messages are received by tag, whatever came before.",
		},
		{
			name: "row: broadcast from rank 2", rows: []string{"B14"}, least: 3, most: 3, check: onGroup(broadcastFromTwo),
			rule: "Broadcast takes the data of its root; a root that is no rank is an error at once.",
		},
		{
			name: "row: broadcast of different lengths", rows: []string{"B14"}, least: 2, ends: true, check: onGroup(differentBroadcasts),
			rule: "Ranks that broadcast different lengths all get an error with both.",
		},
		{
			name: "row: reductions of different lengths", rows: []string{"B7", "R22"}, least: 2, ends: true, check: onGroup(differentLengths),
			rule: "Ranks that reduce different lengths all get an error that names the operation and both lengths.",
		},
		{
			name: "row: gathers of different lengths", rows: []string{"A7", "B13"}, least: 2, ends: true, check: onGroup(differentGathers),
			rule: "Ranks that gather different lengths all get an error with both.",
		},
	}
	for _, l := range literals {
		n := max(len(l.ranks), len(l.raw))
		cases = append(cases, testCase{
			name: "row: " + l.name, rows: []string{l.row}, least: n, most: n, check: l.check,
			rule: "Elements are combined in rank order by the rules of their type and rounded once.",
		})
	}
	return cases
}

func sumOfOnes(ctx context.Context, comm group.Communicator) error {
	for _, t := range dtype.All() {
		if t == dtype.Bool || t.IsComplex() {
			continue
		}
		unit, total := 1.0, float64(comm.Size())
		data := bytes.Repeat(encodeNumber(t, unit), 10)
		err := comm.AllReduce(ctx, group.Sum, t, data)
		if err := first(err, equal("sum of "+t.String(), data, bytes.Repeat(encodeNumber(t, total), 10))); err != nil {
			return err
		}
	}
	return nil
}

// encodeNumber encodes a small whole number.
func encodeNumber(t dtype.Type, x float64) []byte {
	if t.IsInexact() {
		return encodeFloat(t, x)
	}
	b := make([]byte, t.Size())
	b[0] = byte(x)
	return b
}

func manyLengths(ctx context.Context, comm group.Communicator) error {
	n := comm.Size()
	for _, t := range []dtype.Type{dtype.Float32, dtype.Float16, dtype.BFloat16} {
		for _, elems := range []int{1, 7, n - 1, n, n + 1, 1000, 1_000_003} {
			data := seeded(comm.Rank(), elems).elements(t, min(elems, 2003))
			data = bytes.Repeat(data, elems/2003+1)[:elems*t.Size()]
			if err := comm.AllReduce(ctx, group.Sum, t, data); err != nil {
				return err
			}
			if err := agree(ctx, comm, fmt.Sprintf("sum of %d %v", elems, t), data); err != nil {
				return err
			}
		}
	}
	return nil
}

func noElements(ctx context.Context, g *group.Group) error {
	empty, err := group.ReduceScatter(ctx, g, group.Sum, []float32{})
	if err == nil && len(empty) != 0 {
		err = fmt.Errorf("%d elements came of none", len(empty))
	}
	return first(
		group.AllReduce(ctx, g, group.Sum, []float32{}), typedReduce(ctx, g),
		err, typedReduce(ctx, g),
		g.Broadcast(ctx, g.Size()-1, nil), typedGather(ctx, g))
}

func fewElements(ctx context.Context, comm group.Communicator) error {
	for _, elems := range []int{7, 1} {
		if err := reduceAndCompare(ctx, comm, group.Sum, dtype.Float32, inputs(dtype.Float32, comm.Size(), elems, elems)); err != nil {
			return err
		}
	}
	return nil
}

func gatherOfTwo(ctx context.Context, g *group.Group) error {
	mine := [][]int32{{1, 2}, {3, 4}}[g.Rank()]
	got, err := group.AllGather(ctx, g, mine)
	return first(err, sameElements("gather", got, []int32{1, 2, 3, 4}))
}

func gatherKeepsBytes(ctx context.Context, comm group.Communicator) error {
	odd := func(rank int) []byte {
		b := []byte{1, 0, 0xc0, 0x7f, byte(rank), 0, 0x80, 0xff} // NaNs with payloads
		b = append(b, encodeFloat(dtype.Float32, minus0)...)
		return append(b, 0, 1, 1, 0) // bools
	}
	var want []byte
	for r := range comm.Size() {
		want = append(want, odd(r)...)
	}
	out := make([]byte, len(want))
	err := comm.AllGather(ctx, odd(comm.Rank()), out)
	return first(err, equal("gather", out, want))
}

func scatterOfTwo(ctx context.Context, g *group.Group) error {
	mine := [][]float32{{1, 2, 3, 4}, {10, 20, 30, 40}}[g.Rank()]
	got, err := group.ReduceScatter(ctx, g, group.Sum, mine)
	return first(err, sameElements("slice", got, [][]float32{{11, 22}, {33, 44}}[g.Rank()]))
}

// block is a long message that is quickly made: its bytes tell the ranks and the page.
func block(from, to, length int) []byte {
	b := make([]byte, length)
	for page := 0; page*4096 < length; page++ {
		fillWith(b[page*4096:min(page*4096+4096, length)], byte(page)^byte(31*from+7*to))
	}
	return b
}

func bothWays(ctx context.Context, comm group.Communicator) error {
	const length = 64 << 20
	r, peer := comm.Rank(), 1-comm.Rank()
	got := make([]byte, length)
	if err := exchange(ctx, comm, peer, peer, 4, block(r, peer, length), got); err != nil {
		return err
	}
	return equal("message", got, block(peer, r, length))
}

func allToAllAtOnce(ctx context.Context, comm group.Communicator) error {
	const length = 8 << 20
	r, n := comm.Rank(), comm.Size()
	errs := make(chan error, n)
	for k := 1; k < n; k++ {
		peer := (r + k) % n
		go func() {
			got := make([]byte, length)
			err := exchange(ctx, comm, peer, peer, 6, block(r, peer, length), got)
			errs <- first(err, equal(fmt.Sprintf("message from rank %d", peer), got, block(peer, r, length)))
		}()
	}
	var err error
	for range n - 1 {
		err = first(err, <-errs)
	}
	return err
}

// barrierHolds compares the clocks of the last to come and the first to leave; all
// ranks of a test are on one host.
func barrierHolds(ctx context.Context, g *group.Group) error {
	for late := range g.Size() {
		if g.Rank() == late {
			time.Sleep(20 * time.Millisecond)
		}
		came := time.Now().UnixNano()
		if err := g.Barrier(ctx); err != nil {
			return err
		}
		left := time.Now().UnixNano()
		times, err := group.AllGather(ctx, g, []int64{came})
		if err != nil {
			return err
		}
		if left < times[late] {
			return fmt.Errorf("left the barrier %v before rank %d came", time.Duration(times[late]-left), late)
		}
	}
	return nil
}

func halfBytes(ctx context.Context, g *group.Group) error {
	data := encodeFloat(dtype.Float16, []float64{2048, 1, 1, 1}[g.Rank()])
	err := g.AllReduceBytes(ctx, group.Sum, dtype.Float16, data)
	return first(err, equal("sum", data, encodeFloat(dtype.Float16, 2052)))
}

func background(ctx context.Context, g *group.Group) error {
	const buckets = 8
	var xs [buckets][]int64
	var pending [buckets]*group.Pending
	for i := range buckets {
		xs[i] = make([]int64, 1+i*300)
		xs[i][0] = int64(i)
		pending[i] = group.AllReduceAsync(ctx, g, group.Sum, xs[i])
	}
	front := []int64{100}
	err := group.AllReduce(ctx, g, group.Sum, front)
	for i := range buckets {
		i = buckets - 1 - i
		err = first(err, pending[i].Wait(ctx), sameElements(fmt.Sprintf("bucket %d", i), xs[i][:1], []int64{int64(i * g.Size())}))
	}
	return first(err, sameElements("foreground", front, []int64{int64(100 * g.Size())}))
}

func twoTags(ctx context.Context, g *group.Group) error {
	return onPair(g.Communicator(), func() error {
		return first(group.Send(ctx, g, 1, 2, []int16{20}), group.Send(ctx, g, 1, 3, []int16{30}))
	}, func() error {
		three, err := group.Recv[int16](ctx, g, 0, 3)
		if err != nil {
			return err
		}
		two, err := group.Recv[int16](ctx, g, 0, 2)
		return first(err, sameElements("tag 3", three, []int16{30}), sameElements("tag 2", two, []int16{20}))
	})
}

func broadcastFromTwo(ctx context.Context, g *group.Group) error {
	xs := []int32{int32(g.Rank()), 7}
	return first(
		group.Broadcast(ctx, g, 2, xs), sameElements("broadcast", xs, []int32{2, 7}),
		says(group.Broadcast(ctx, g, 3, xs), "root 3"), says(group.Broadcast(ctx, g, 3, xs), "0 to 2"),
		typedGather(ctx, g))
}

// differing has the last rank do something with two elements, the others with three.
func differing(g *group.Group, do func(xs []float32) error, words ...string) error {
	xs := make([]float32, 3)
	if isLast(g.Communicator()) {
		xs = xs[:2]
	}
	err := do(xs)
	for _, w := range words {
		if e := says(err, w); e != nil {
			return e
		}
	}
	return names(err, g.Size()-1)
}

func differentLengths(ctx context.Context, g *group.Group) error {
	return differing(g, func(xs []float32) error { return group.AllReduce(ctx, g, group.Sum, xs) }, "all_reduce", "float32[2]", "float32[3]")
}

func differentGathers(ctx context.Context, g *group.Group) error {
	return differing(g, func(xs []float32) error { _, err := group.AllGather(ctx, g, xs); return err }, "all_gather", "8 bytes", "12 bytes")
}

func differentBroadcasts(ctx context.Context, g *group.Group) error {
	return differing(g, func(xs []float32) error { return group.Broadcast(ctx, g, 0, xs) }, "broadcast", "8 bytes", "12 bytes")
}
