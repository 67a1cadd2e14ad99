package ring

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/internal/env"
)

// The tests of this file make faults happen to ranks that are processes.

// soon is by when what needs no deadline must be known, on a machine that has
// much else to do; deadlines that must not matter are far beyond it.
const soon = 20 * time.Second

// eachWay runs a test once for each way of moving data.
func eachWay(t *testing.T, test func(t *testing.T, way string)) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, way)
		})
	}
}

// failsSoon expects an error that says all of the words, long before a deadline.
func failsSoon(t *testing.T, rank int, p *process, words ...string) {
	t.Helper()
	text, took := p.did(t)
	wantText(t, fmt.Sprintf("rank %d", rank), text, words...)
	if took > soon {
		t.Errorf("rank %d: took %v", rank, took)
	}
}

// TestStopShorterThanTheDeadline stops a process for a while in the middle of the
// others' work, which then goes on, with the right results.
func TestStopShorterThanTheDeadline(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, way string) {
		ranks := startTold(t, 3, way)
		all(t, ranks, "sum 1000")
		for _, p := range ranks {
			for range 20 {
				p.tell(t, "sum 300000")
			}
		}
		ranks[1].stop(t)
		time.Sleep(1500 * time.Millisecond)
		ranks[1].Process.Signal(syscall.SIGCONT)
		for r, p := range ranks {
			for i := range 20 {
				if text, _ := p.did(t); text != "<nil>" {
					t.Errorf("rank %d, sum %d: %s", r, i, text)
				}
			}
		}
	})
}

// TestSignalledRankBlamesNobody ends the wait of one rank by a signal: that is its
// reason, and what the others hear, before it is said who was not there yet.
func TestSignalledRankBlamesNobody(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, way string) {
		ranks := startTold(t, 3, way)
		all(t, ranks, "sum 10")
		ranks[0].tell(t, "sum 10")
		ranks[1].tell(t, "sum 10")
		time.Sleep(200 * time.Millisecond)
		ranks[1].Process.Signal(syscall.SIGTERM)
		text, _ := ranks[1].did(t)
		const reason = "all_reduce #2 sum int32[10]: rank 1 gave up: signal: terminated; still to come: rank 2 (127.0.0.1:"
		if !strings.HasPrefix(text, reason) {
			t.Errorf("rank 1: %s", text)
		}
		text, _ = ranks[0].did(t)
		if !strings.HasPrefix(text, "group broken by rank 1: "+reason) {
			t.Errorf("rank 0: %s", text)
		}
		// What the others sent may still suffice for rank 2 before it hears of the end.
		text = "<nil>"
		for tries := 0; text == "<nil>" && tries < 1000; tries++ {
			ranks[2].tell(t, "sum 10")
			text, _ = ranks[2].did(t)
		}
		wantText(t, "rank 2", text, "broken by rank 1", "rank 1 gave up: signal: terminated")
	})
}

// TestRankThatLeaves has one rank leave before the others' next call: in order, or
// by an exit without a word.
func TestRankThatLeaves(t *testing.T) {
	t.Parallel()
	for how, says := range map[string]string{"close": "has left the group", "exit": "died or cannot be reached"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			eachWay(t, func(t *testing.T, way string) {
				ranks := startTold(t, 3, way)
				all(t, ranks, "sum 10")
				for _, p := range ranks[:2] {
					p.tell(t, "sum 10")
				}
				ranks[2].tell(t, how)
				for r, p := range ranks[:2] {
					failsSoon(t, r, p, "rank 2 (127.0.0.1:", says)
					p.tell(t, "barrier")
					failsSoon(t, r, p, "rank 2 (127.0.0.1:")
					p.tell(t, "close")
					failsSoon(t, r, p, "<nil>")
					p.tell(t, "left")
					failsSoon(t, r, p, "<nil>")
				}
			})
		})
	}
}

// TestNothingIsLeftAfterAKill looks at what survivors hold once they have closed.
func TestNothingIsLeftAfterAKill(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, way string) {
		ranks := startTold(t, 3, way)
		all(t, ranks, "sum 3000000")
		all(t, ranks, "split")
		ranks[0].tell(t, "send 1")
		ranks[1].tell(t, "recv 0")
		for _, p := range ranks[:2] {
			failsSoon(t, 0, p, "<nil>")
			p.tell(t, "sum 100000")
		}
		ranks[2].Process.Kill()
		for r, p := range ranks[:2] {
			failsSoon(t, r, p, "all_reduce #", "rank 2 (127.0.0.1:")
			for _, what := range []string{"sum 10", "send 2", "recv 2"} {
				p.tell(t, what)
				failsSoon(t, r, p, "rank 2 (127.0.0.1:")
			}
			for _, what := range []string{"close", "left"} {
				p.tell(t, what)
				failsSoon(t, r, p, "<nil>")
			}
		}
	})
}

// TestOneCallTooFew has one rank make a call less than the others.
func TestOneCallTooFew(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, way string) {
		ranks := startTold(t, 3, way, env.Timeout+"=4s")
		all(t, ranks, "sum 10")
		for _, p := range ranks[:2] {
			p.tell(t, "sum 10")
		}
		for r, p := range ranks[:2] {
			failsSoon(t, r, p, "rank 2", "has not come: 4s passed", "all_reduce #2 sum int32[10]")
		}
		for r, p := range ranks {
			p.tell(t, "sum 10")
			text, took := p.did(t)
			wantText(t, fmt.Sprintf("rank %d, later", r), text, "rank 2")
			if took > 3*time.Second {
				t.Errorf("rank %d: a call on the broken group took %v", r, took)
			}
		}
	})
}

// TestCallsThatDiffer has rank 1 call something else than the others.
func TestCallsThatDiffer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ one, others, says, saysOthers string }{
		"operation": {"max 8", "sum 8", "max int32[8]", "sum int32[8]"},
		"type":      {"sum-floats 8", "sum 8", "sum float32[8]", "sum int32[8]"},
		"shape":     {"sum 9", "sum 8", "sum int32[9]", "sum int32[8]"},
		"size":      {"sum 900000", "sum 8", "sum int32[900000]", "sum int32[8]"},
		"order":     {"gather 32", "sum 8", "all_gather #2", "all_reduce #2"},
		"root":      {"broadcast 1", "broadcast 0", "broadcast #2 from 1", "broadcast #2 from 0"},
		"barrier":   {"barrier", "split", "barrier #2", "split #2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachWay(t, func(t *testing.T, way string) {
				ranks := startTold(t, 3, way)
				all(t, ranks, "sum 10")
				for r, p := range ranks {
					what := c.others
					if r == 1 {
						what = c.one
					}
					p.tell(t, what)
				}
				for r, p := range ranks {
					failsSoon(t, r, p, "ranks disagree: ranks 0,2 called", c.saysOthers, "rank 1 called", c.says)
					p.tell(t, "sum 10")
					failsSoon(t, r, p, "ranks disagree")
				}
			})
		})
	}
}

// TestBarrierNamesThoseWhoDidNotCome gives a barrier a deadline of its own, far
// before the group's.
func TestBarrierNamesThoseWhoDidNotCome(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, way string) {
		ranks := startTold(t, 4, way)
		all(t, ranks, "barrier")
		for _, r := range []int{0, 2} {
			ranks[r].tell(t, "barrier 0 1s")
		}
		for _, r := range []int{0, 2} {
			text, took := ranks[r].did(t)
			wantText(t, fmt.Sprintf("rank %d", r), text, "barrier #2", "ranks 1,3 have not come (127.0.0.1:")
			if strings.Contains(text, "no answer") || took > soon {
				t.Errorf("rank %d: after %v: %s", r, took, text)
			}
		}
	})
}

// TestLateRank starts one rank after the others have waited for it.
func TestLateRank(t *testing.T) {
	t.Parallel()
	variables := roleOf(t, "told", 3)
	var ranks []*process
	for r := range 3 {
		if r == 2 {
			time.Sleep(time.Second)
		}
		ranks = append(ranks, startRank(t, append(variables, env.Rank+"="+fmt.Sprint(r))))
	}
	for _, p := range ranks {
		p.expect(t, "ready")
	}
	all(t, ranks, "sum 10")
	twin := startRank(t, append(variables, env.Rank+"=1"))
	wantText(t, "a second rank 1, too late", twin.expect(t, "end: "), "the world is complete")
	all(t, ranks, "sum 10")
}

// TestMissingRank never starts one.
func TestMissingRank(t *testing.T) {
	t.Parallel()
	variables := append(roleOf(t, "told", 3), connectVariable+"=1s")
	var ranks []*process
	for _, r := range []int{0, 2} {
		ranks = append(ranks, startRank(t, append(variables, env.Rank+"="+fmt.Sprint(r))))
	}
	for _, p := range ranks {
		wantText(t, "without rank 1", p.expect(t, "end: "), "rank 1 did not come", "1s passed")
	}
}

// TestRankKilledBeforeTheWorldForms loses one that had come.
func TestRankKilledBeforeTheWorldForms(t *testing.T) {
	t.Parallel()
	variables := append(roleOf(t, "told", 3), connectVariable+"=5s")
	one := startRank(t, append(variables, env.Rank+"=1"))
	zero := startRank(t, append(variables, env.Rank+"=0"))
	time.Sleep(time.Second)
	one.Process.Kill()
	two := startRank(t, append(variables, env.Rank+"=2"))
	for r, p := range map[int]*process{0: zero, 2: two} {
		wantText(t, fmt.Sprintf("rank %d", r), p.expect(t, "end: "), "rank 1")
	}
}

// TestTooManyOpenFiles lets one rank, which dials or which is called, open hardly
// any more files.
func TestTooManyOpenFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ few, files int }{"who dials": {1, 0}, "who is called": {0, 3}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			variables := append(roleOf(t, "told", 6), connectVariable+"=2s", env.SharedMem+"=0")
			var ranks []*process
			for r := range 6 {
				own := append(variables[:len(variables):len(variables)], env.Rank+"="+fmt.Sprint(r))
				if r == c.few {
					own = append(own, fmt.Sprintf("%s=%d", filesVariable, c.files))
				}
				ranks = append(ranks, startRank(t, own))
			}
			wantText(t, "the rank with few files", ranks[c.few].expect(t, "end: "), "too many open files", "(ulimit -n)")
		})
	}
}

// TestSixtyFourProcesses has as many form a world, within the time given, and sum;
// then three do not come to a barrier, which is said before the others' deadline, and
// after.
func TestSixtyFourProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("64 processes")
	}
	const n = 64
	variables := append(roleOf(t, "told", n), "GOMAXPROCS=1", env.Stall+"=1s")
	ranks, log := make([]*process, n), &logOf{}
	began := time.Now()
	for r := range ranks {
		ranks[r] = startLogging(t, log, append(variables, env.Rank+"="+fmt.Sprint(r)))
	}
	for _, p := range ranks {
		p.expect(t, "ready")
	}
	formed := time.Since(began)
	all(t, ranks, "sum 10")
	all(t, ranks, "sum 10000")
	t.Logf("formed after %v, two sums after %v", formed, time.Since(began))
	absent := map[int]bool{3: true, 17: true, 63: true}
	for r, p := range ranks {
		if !absent[r] {
			p.tell(t, "barrier 0 3s")
		}
	}
	for r, p := range ranks {
		if absent[r] {
			continue
		}
		text, took := p.did(t)
		wantText(t, fmt.Sprintf("rank %d", r), text, "barrier #3: ranks 3,17,63 have not come (127.0.0.1:")
		if took > soon {
			t.Errorf("rank %d: after %v", r, took)
		}
	}
	warnings := log.lines("barrier #3 has waited for")
	if len(warnings) == 0 {
		t.Error("nobody warned")
	}
	for _, w := range warnings {
		wantText(t, "warning", w, "ranks 3,17,63 have not come (127.0.0.1:", `missing="[3 17 63]"`)
	}
}
