package main

import "fmt"

// scenario is what one table shows: an operation of some ranks over several
// sizes.
type scenario struct {
	op      string // as the programs name it
	kind    string // element type
	ranks   int
	bytes   []int
	heading string
	unit    unit
}

// unit is how a table shows what was measured, which is microseconds for one
// operation, or percent.
type unit int

const (
	microseconds unit = iota
	bandwidth         // GB/s
	percent
)

const (
	kib = 1 << 10
	mib = 1 << 20
)

var (
	sums   = []int{4, 4 * kib, 16 * kib, 128 * kib, mib, 16 * mib, 64 * mib}
	halves = []int{16 * kib, 512 * kib, mib, 8 * mib, 16 * mib, 32 * mib}
)

// idleOp is the scenario of ranks that wait in a barrier; its one figure is the
// share of a core that the busiest of them used.
const idleOp = "idle"

var scenarios = []scenario{
	{"allreduce", "f32", 2, sums, "all-reduce of float32, two ranks", microseconds},
	{"allreduce", "f32", 4, sums, "all-reduce of float32, four ranks", microseconds},
	{"allreduce", "f32", 8, []int{4 * kib}, "all-reduce of 1,024 float32, eight ranks", microseconds},
	{"allreduce", "f16", 2, halves, "all-reduce of float16, two ranks", microseconds},
	{"allreduce", "bf16", 2, halves, "all-reduce of bfloat16, two ranks", microseconds},
	{"pingpong", "f32", 2, []int{4, 4 * kib, 64 * kib}, "round trip between two ranks", microseconds},
	{"stream", "f32", 2, []int{64 * kib, 256 * kib, mib, 4 * mib, 16 * mib}, "stream from one rank to another", bandwidth},
	{idleOp, "f32", 8, []int{0}, "busiest of seven ranks that wait in a barrier for the eighth", percent},
}

// name is unique among scenarios.
func (s scenario) name() string { return fmt.Sprintf("%s/%s/%d", s.op, s.kind, s.ranks) }

// upTo leaves out sizes above a limit.
func (s scenario) upTo(limit int) scenario {
	var kept []int
	for _, n := range s.bytes {
		if n <= limit {
			kept = append(kept, n)
		}
	}
	s.bytes = kept
	return s
}

// of is the scenario with one size.
func (s scenario) of(bytes int) scenario {
	s.bytes = []int{bytes}
	return s
}

// chosen lists the scenarios of this run; the quick ones keep one size at least.
func (o *options) chosen() []scenario {
	if !o.quick {
		return scenarios
	}
	var all []scenario
	for _, s := range scenarios {
		if short := s.upTo(16 * kib); len(short.bytes) > 0 {
			all = append(all, short)
		} else {
			s.bytes = s.bytes[:1]
			all = append(all, s)
		}
	}
	return all
}

// sizeName is a number of bytes as headings show it.
func sizeName(bytes int) string {
	switch {
	case bytes >= mib && bytes%mib == 0:
		return fmt.Sprintf("%d MiB", bytes/mib)
	case bytes >= kib && bytes%kib == 0:
		return fmt.Sprintf("%d KiB", bytes/kib)
	}
	return fmt.Sprintf("%d B", bytes)
}
