package ring

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRelaysFlow passes pieces of several reaches round rings of every size: each
// comes to exactly the ranks that it is for, and what one sends the next expects.
func TestRelaysFlow(t *testing.T) {
	for name, reach := range map[string]func(size int) func(origin int) []int{
		"one piece for all":    func(size int) func(int) []int { return func(int) []int { return allTheWay(size, 1) } },
		"three pieces for all": func(size int) func(int) []int { return func(int) []int { return allTheWay(size, 3) } },
		"more from the last": func(size int) func(int) []int {
			return func(o int) []int { return allTheWay(size, 1+4*boolean(o == size-1)) }
		},
		"another piece for each":   toEachOther,
		"only one rank has a word": func(size int) func(int) []int { return func(o int) []int { return allTheWay(size, boolean(o == 0)) } },
	} {
		for _, n := range sizes[1:] {
			t.Run(fmt.Sprint(name, ", ", n, " ranks"), func(t *testing.T) {
				all, got := make([]relay, n), make([][]parcel, n)
				for r := range all {
					all[r] = relaying(r, n, reach(n))
				}
				sent := make([]int, n)
				for moved := true; moved; {
					moved = false
					for r, a := range all {
						i, to := sent[r], (r+1)%n
						if i == len(a.out) || a.needs[i] > len(got[r]) {
							continue
						}
						if expected := all[to].in[len(got[to])]; expected != a.out[i] {
							t.Fatalf("rank %d sends %v, rank %d expects %v", r, a.out[i], to, expected)
						}
						if a.out[i].origin != r && !slices.Contains(got[r], a.out[i]) {
							t.Fatalf("rank %d sends %v without having it", r, a.out[i])
						}
						got[to], sent[r], moved = append(got[to], a.out[i]), i+1, true
					}
				}
				for r := range all {
					want := 0
					for d := 1; d < n; d++ {
						for number, hops := range reach(n)(below(r, d, n)) {
							want += boolean(hops >= d)
							if has := slices.Contains(got[r], parcel{below(r, d, n), number}); has != (hops >= d) {
								t.Errorf("rank %d has piece %d of rank %d: %v", r, number, below(r, d, n), has)
							}
						}
					}
					if len(got[r]) != want || sent[r] != len(all[r].out) {
						t.Errorf("rank %d has %d pieces, want %d; sent %d of %d", r, len(got[r]), want, sent[r], len(all[r].out))
					}
				}
			})
		}
	}
}

func toEachOther(size int) func(int) []int {
	hops := make([]int, size-1)
	for i := range hops {
		hops[i] = i + 1
	}
	return func(int) []int { return hops }
}

// TestCircuitsFlow reduces sets of ranks instead of numbers: every slice of every
// rank ends with all of them once, no more than two partial sums wait, and each
// rank sends and receives 2(size-1)/size of the whole.
func TestCircuitsFlow(t *testing.T) {
	for _, n := range sizes[1:9] {
		for _, segments := range []int{1, 2, 5} {
			for _, spread := range []bool{true, false} {
				t.Run(fmt.Sprint(n, " ranks, ", segments, " segments, spread ", spread), func(t *testing.T) { playCircuit(t, n, segments, spread) })
			}
		}
	}
}

func playCircuit(t *testing.T, n, segments int, spread bool) {
	all := make([]circuit, n)
	has := make([]map[stretch]string, n) // ranks in the order in which they were added
	for r := range all {
		all[r] = circling(r, n, segments, spread)
		has[r] = map[stretch]string{}
		for s := range n {
			for i := range segments {
				has[r][stretch{s, i}] = fmt.Sprint(r, " ")
			}
		}
		if want := segments * (n - 1) * (1 + boolean(spread)); len(all[r].out) != want || len(all[r].in) != want {
			t.Fatalf("rank %d sends %d pieces and receives %d, want %d", r, len(all[r].out), len(all[r].in), want)
		}
	}
	sent, level := make([]int, n), make([]int, n)
	waiting := make([][]string, n)
	for moved := true; moved; {
		moved = false
		for r, a := range all {
			to := (r + 1) % n
			came := level[to] + len(waiting[to])
			if i := sent[r]; i < len(a.out) && a.sends[i] <= level[r] && all[to].receives[came] <= level[to] {
				if all[to].in[came] != a.out[i] {
					t.Fatalf("rank %d sends %v, rank %d expects %v", r, a.out[i], to, all[to].in[came])
				}
				waiting[to] = append(waiting[to], has[r][a.out[i]])
				sent[r], moved = i+1, true
				if held := min(came+1, a.sums) - level[to]; held > 2 {
					t.Fatalf("rank %d holds %d partial sums", to, held)
				}
			}
		}
		for r, a := range all {
			if len(waiting[r]) < 2 && moved || len(waiting[r]) == 0 {
				continue // let some wait as long as anything moves
			}
			at := a.in[level[r]]
			if level[r] < a.sums {
				has[r][at] = waiting[r][0] + has[r][at]
			} else {
				has[r][at] = waiting[r][0]
			}
			waiting[r], moved = waiting[r][1:], true
			level[r]++
		}
	}
	for r := range all {
		for s := range n {
			if s != r && !spread {
				continue
			}
			want := ""
			for d := 1; d <= n; d++ {
				want += fmt.Sprint((s+d)%n, " ")
			}
			for i := range segments {
				if got := has[r][stretch{s, i}]; got != want {
					t.Errorf("rank %d has the sum of %sin slice %d, want of %s", r, got, s, want)
				}
			}
		}
	}
}

// TestNeighbourPictures compares what goes round with what is drawn in testdata.
func TestNeighbourPictures(t *testing.T) {
	var b strings.Builder
	for _, n := range []int{2, 3, 4} {
		fmt.Fprintf(&b, "circling, %d ranks, 2 segments: slice.segment that goes to the rank above, piece by piece;\npartial sums first, results after the bar\n", n)
		for r := range n {
			c := circling(r, n, 2, true)
			line := fmt.Sprintf("  rank %d ", r)
			for i, p := range c.out {
				if i == c.sums {
					line += " |"
				}
				line += fmt.Sprintf(" %d.%d", p.slice, p.segment)
			}
			fmt.Fprintln(&b, line)
		}
		fmt.Fprintln(&b)
	}
	for _, n := range []int{3, 4} {
		fmt.Fprintf(&b, "relaying, %d ranks, a piece for each other rank: origin>destination that goes to the rank above\n", n)
		for r := range n {
			line := fmt.Sprintf("  rank %d ", r)
			for _, p := range relaying(r, n, toEachOther(n)).out {
				line += fmt.Sprintf(" %d>%d", p.origin, (p.origin+p.number+1)%n)
			}
			fmt.Fprintln(&b, line)
		}
		fmt.Fprintln(&b)
	}
	comparePicture(t, "neighbours", b.String())
}

// TestHostPictures draws the levels of some groups.
func TestHostPictures(t *testing.T) {
	var b strings.Builder
	for _, hosts := range [][][]int{{{0, 1}, {2, 3}}, {{0, 2, 4}, {1}, {3, 5}}, {{0, 1, 2}}, {{0}, {1}}} {
		fmt.Fprintf(&b, "hosts %v: the circle of each rank's host, and of the leaders\n", hosts)
		members := 0
		for _, h := range hosts {
			members += len(h)
		}
		for r := range members {
			l := levelsOf(hosts, r)
			switch {
			case l == nil:
				fmt.Fprintf(&b, "  rank %d  one level\n", r)
			case l.leaders == nil:
				fmt.Fprintf(&b, "  rank %d  place %d of %v\n", r, l.host.at, l.host.ranks)
			default:
				fmt.Fprintf(&b, "  rank %d  place %d of %v  leader %d of %v\n", r, l.host.at, l.host.ranks, l.leaders.at, l.leaders.ranks)
			}
		}
		for i := range hosts {
			line := fmt.Sprintf("  blocks between hosts, host %d ", i)
			for _, st := range spelledOut(gathering(i, len(hosts)), hosts) {
				line += fmt.Sprintf(" %v -> host %d", st.send, st.to)
			}
			if len(hosts) > 1 {
				fmt.Fprintln(&b, line)
			}
		}
		fmt.Fprintln(&b)
	}
	comparePicture(t, "hosts", b.String())
}

func comparePicture(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("differs from %s; rewrite it with -update\n%s", path, got)
	}
}
