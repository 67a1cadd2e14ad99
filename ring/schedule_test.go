package ring

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the pictures in testdata")

var sizes = []int{1, 2, 3, 4, 5, 6, 7, 8, 13, 64}

// schedules are the functions under test and what each promises.
var schedules = []struct {
	name  string
	of    func(rank, size int) []step
	steps func(size int) int
	// blocks that a rank receives: those it ends with beside its own.
	blocks func(size int) int
}{
	{"doubling", doubling, logarithm, func(n int) int { return n - 1 }},
	{"scattering", scattering, func(n int) int { return n - 1 }, func(n int) int { return n - 1 }},
	{"gathering", gathering, func(n int) int { return n - 1 }, func(n int) int { return n - 1 }},
}

func logarithm(n int) int {
	steps := 0
	for 1<<steps < n {
		steps++
	}
	return steps
}

// world gives every rank's schedule.
func world(of func(rank, size int) []step, size int) [][]step {
	all := make([][]step, size)
	for r := range all {
		all[r] = of(r, size)
	}
	return all
}

func TestStepsAndBlocks(t *testing.T) {
	for _, s := range schedules {
		for _, n := range sizes {
			for r, steps := range world(s.of, n) {
				if len(steps) != s.steps(n) {
					t.Errorf("%s: rank %d of %d has %d steps, want %d", s.name, r, n, len(steps), s.steps(n))
				}
				sent, received := 0, 0
				for _, st := range steps {
					sent, received = sent+len(st.send), received+len(st.recv)
				}
				if sent != s.blocks(n) || received != s.blocks(n) {
					t.Errorf("%s: rank %d of %d sends %d blocks and receives %d, want %d", s.name, r, n, sent, received, s.blocks(n))
				}
			}
		}
	}
}

func TestEverySendMeetsItsReceive(t *testing.T) {
	for _, s := range schedules {
		for _, n := range sizes {
			all := world(s.of, n)
			for r, steps := range all {
				for i, st := range steps {
					other := all[st.to][i]
					if other.from != r || !slices.Equal(other.recv, st.send) {
						t.Errorf("%s: in step %d rank %d of %d sends %v to %d, which receives %v from %d",
							s.name, i+1, r, n, st.send, st.to, other.recv, other.from)
					}
				}
			}
		}
	}
}

func TestFirstStepIsWithTheNeighbours(t *testing.T) {
	for _, s := range schedules {
		for _, n := range sizes[1:] {
			for r, steps := range world(s.of, n) {
				if steps[0].to != (r+1)%n || steps[0].from != (r+n-1)%n {
					t.Errorf("%s: rank %d of %d begins with %+v", s.name, r, n, steps[0])
				}
			}
		}
	}
}

// TestEveryRankEndsWithEverything plays the two schedules that bring all blocks to
// all ranks, and sees that nobody passes on what it does not have.
func TestEveryRankEndsWithEverything(t *testing.T) {
	for _, s := range []int{0, 2} {
		for _, n := range sizes {
			all := world(schedules[s].of, n)
			has := make([][]bool, n)
			for r := range has {
				has[r] = make([]bool, n)
				has[r][r] = true
			}
			for i := range schedules[s].steps(n) {
				before := make([][]bool, n)
				for r := range has {
					before[r] = slices.Clone(has[r])
				}
				for r := range all {
					for _, b := range all[r][i].send {
						if !before[r][b] {
							t.Fatalf("%s: rank %d of %d sends block %d in step %d without having it", schedules[s].name, r, n, b, i+1)
						}
						has[all[r][i].to][b] = true
					}
				}
			}
			for r := range has {
				if slices.Contains(has[r], false) {
					t.Errorf("%s: rank %d of %d ends with %v", schedules[s].name, r, n, has[r])
				}
			}
		}
	}
}

func TestScatteringBringsEveryOriginalOfASlice(t *testing.T) {
	for _, n := range sizes {
		for r, steps := range world(scattering, n) {
			var from []int
			for _, st := range steps {
				if st.recv[0] != r || st.send[0] != st.to {
					t.Errorf("rank %d of %d: %+v moves another slice", r, n, st)
				}
				from = append(from, st.from)
			}
			slices.Sort(from)
			if want := slices.DeleteFunc(everyone(n), func(i int) bool { return i == r }); !slices.Equal(from, want) {
				t.Errorf("rank %d of %d receives from %v, want %v", r, n, from, want)
			}
		}
	}
}

func TestPipelines(t *testing.T) {
	for _, c := range []struct {
		name     string
		segments int
		spread   bool
		want     string
	}{
		{"nothing to combine", 0, true, "o0 r0"},
		{"one segment", 1, true, "o0 r0"},
		{"two segments", 2, true, "o0 o1 r0 r1"},
		{"four segments", 4, true, "o0 o1 r0 o2 r1 o3 r2 r3"},
		{"originals alone", 3, false, "o0 o1 o2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pipeline(c.segments, c.spread)
			var got []string
			for _, what := range p.pieces {
				got = append(got, fmt.Sprintf("%c%d", "or"[boolean(what.reduced)], what.segment))
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("%s, want %s", s, c.want)
			}
		})
	}
}

// TestPipelinesFlow has two ranks send each other a pipeline piece by piece: each
// gets everything, sends no result before it has it, and never holds originals of
// more than two segments that are not combined.
func TestPipelinesFlow(t *testing.T) {
	for _, spread := range []bool{false, true} {
		for segments := 1; segments < 9; segments++ {
			p := pipeline(segments, spread)
			var sent, received, level [2]int
			for moved := true; moved; {
				moved = false
				for r := range 2 {
					if i := sent[r]; i < len(p.pieces) && p.sends[i] <= level[r] {
						if what := p.pieces[i]; what.reduced && what.segment >= level[r] {
							t.Fatalf("%d segments: %+v is sent at level %d", segments, what, level[r])
						}
						sent[r], moved = i+1, true
					}
					if i := received[r]; i < sent[1-r] && p.receives[i] <= level[r] {
						received[r], moved = i+1, true
					}
					held := 0
					for held+level[r] < segments && p.originals[level[r]+held] < received[r] {
						held++
					}
					if held > 2 {
						t.Fatalf("%d segments: originals of %d are held", segments, held)
					}
					if held == 2 || held > 0 && received[r] == sent[1-r] {
						level[r], moved = level[r]+1, true
					}
				}
			}
			if sent != [2]int{len(p.pieces), len(p.pieces)} || received != sent || level != [2]int{segments, segments} {
				t.Errorf("%d segments: ends with %v sent, %v received, %v reduced", segments, sent, received, level)
			}
		}
	}
}

func TestSlicing(t *testing.T) {
	for _, s := range []slicing{{0, 3, 4}, {1, 8, 4}, {7, 8, 1}, {8, 8, 4}, {10, 3, 2}, {1000, 7, 13}, {1 << 20, 5, 4096}} {
		covered, next := 0, 0
		for r := range s.ranks {
			for i := range s.segments() {
				lo, hi := s.segment(r, i)
				if lo != next && lo != hi || hi < lo || hi-lo > s.limit {
					t.Fatalf("%+v: segment %d of rank %d is %d to %d, after %d", s, i, r, lo, hi, next)
				}
				covered += hi - lo
				next = max(next, hi)
			}
			if length := s.start(r+1) - s.start(r); length != s.elems/s.ranks && length != s.elems/s.ranks+1 {
				t.Errorf("%+v: slice of rank %d has %d elements", s, r, length)
			}
		}
		if covered != s.elems || next != s.elems {
			t.Errorf("%+v: covers %d elements up to %d", s, covered, next)
		}
	}
}

// TestPictures compares the schedules with those drawn in testdata.
func TestPictures(t *testing.T) {
	for _, s := range schedules {
		var b strings.Builder
		for _, n := range []int{2, 3, 4, 5, 8} {
			draw(&b, s.name, world(s.of, n))
		}
		path := filepath.Join("testdata", s.name+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("%s differs from %s; rewrite it with -update\n%s", s.name, path, b.String())
		}
	}
}

// draw shows one world: a line for each rank, a column for each step.
func draw(b *strings.Builder, name string, all [][]step) {
	fmt.Fprintf(b, "%s, %d ranks: what goes to whom, step by step\n", name, len(all))
	for r, steps := range all {
		line := fmt.Sprintf("  rank %d", r)
		for _, st := range steps {
			line += fmt.Sprintf("  %-14s", fmt.Sprintf("%s -> %d", strings.Join(strings.Fields(strings.Trim(fmt.Sprint(st.send), "[]")), " "), st.to))
		}
		fmt.Fprintln(b, strings.TrimRight(line, " "))
	}
	fmt.Fprintln(b)
}
