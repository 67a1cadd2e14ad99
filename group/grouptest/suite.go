// Package grouptest judges communicators: one suite for every backend, and a
// world in memory for tests that need ranks but no wire.
//
//	func TestMyBackend(t *testing.T) {
//		grouptest.Run(t, func(t *testing.T, n int) []group.Communicator {
//			return myWorldOf(t, n)
//		})
//	}
//
// A case checks one rank, from its rank and the size alone, so that the same
// suite runs with all ranks in one process and with one rank in each.
package grouptest

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/conform"
)

// MakeWorld returns those communicators of a new world of n ranks that live in
// this process, in rank order: all n of them, or one when the process is itself a
// rank. A process that such a world leaves out returns an empty, non-nil slice;
// nil says that no process here can be in a world of n ranks. The suite closes
// what it got, and asks for several worlds with earlier ones still open or broken:
// in turn and in the same order in every process, or, where it got all ranks of
// several, from several goroutines. A backend whose first world cannot be made
// again returns splits of it.
type MakeWorld func(t *testing.T, n int) []group.Communicator

// Sizes are the numbers of ranks that Run tries: one, two, the next powers of
// two, and what lies between them.
var Sizes = []int{1, 2, 3, 4, 5, 8}

const (
	// caseTime bounds one case; it is spent only by what hangs.
	caseTime = 60 * time.Second
	// graceTime is how long calls may take to return after their context ended.
	graceTime = 10 * time.Second
)

// check is the part of a case that one rank plays. It returns what is wrong.
type check func(ctx context.Context, comm group.Communicator) error

// testCase is one thing that every communicator has to get right.
type testCase struct {
	name  string
	rule  string   // the sentence that a failure prints
	rows  []string // ids of the conformance list that it covers
	least int      // the smallest number of ranks with which the case makes sense
	most  int      // the largest; 0 means any
	ends  bool     // the case leaves its world broken or closed and needs its own
	needs ability
	check check
}

// Run checks that the communicators from makeWorld keep the contract of
// group.Communicator and carry a group.Group, for every number of ranks in Sizes.
// Sizes for which there is no world and cases whose optional interface is missing
// are skipped by name.
func Run(t *testing.T, makeWorld MakeWorld) {
	runAll(t, makeWorld, false)
}

func runAll(t *testing.T, makeWorld MakeWorld, partial bool) {
	cases := allCases()
	if partial {
		cases = partialCases()
	}
	for _, n := range Sizes {
		t.Run(fmt.Sprintf("ranks=%d", n), func(t *testing.T) {
			s := &suite{make: makeWorld, size: n, partial: partial, goroutines: runtime.NumGoroutine()}
			s.run(t, cases)
		})
	}
}

// suite runs the cases of one size.
type suite struct {
	make       MakeWorld
	size       int
	world      []group.Communicator
	spent      bool // a failure may have left world unusable
	partial    bool // partial sums will do
	goroutines int  // before the first world
}

func (s *suite) run(t *testing.T, cases []testCase) {
	s.world = s.make(t, s.size)
	if s.world == nil {
		t.Skipf("no world of %d ranks here", s.size)
	}
	for _, c := range cases {
		if s.size < c.least || c.most > 0 && s.size > c.most {
			continue
		}
		apart := c.ends && s.many()
		passed := t.Run(c.name, func(t *testing.T) {
			if apart {
				t.Parallel()
			}
			s.play(t, c)
		})
		if !passed && !apart {
			s.renew(t)
		}
	}
	s.close(t, s.world)
	if s.whole() {
		t.Cleanup(func() { awaitGoroutines(t, s.goroutines) }) // when those that run apart have ended, too
	}
}

// whole reports whether all ranks live in this process.
func (s *suite) whole() bool { return len(s.world) == s.size }

// many reports whether several worlds can be made at once: no other process has to
// make them in the same order. Cases with a world of their own, most of which wait
// for something that does not come, then run side by side.
func (s *suite) many() bool { return s.whole() && s.size > 1 }

// play runs one case on the common world or on one of its own, which is made
// even when the case is skipped: other processes may not know of the reason.
func (s *suite) play(t *testing.T, c testCase) {
	world := s.world
	if c.ends {
		world = s.make(t, s.size)
		defer s.close(t, world)
	}
	if s.spent {
		t.Skip("not run: an earlier failure may have left the ranks out of step")
	}
	if len(world) > 0 && !c.needs.has(world[0]) {
		t.Skipf("communicator is no %s", c.needs.name)
	}
	conform.Row(t, c.rows...)
	errs := s.everyRank(t, world, c.check)
	for i, err := range errs {
		if err != nil {
			t.Errorf("rank %d of %d: %v\nrule: %s", world[i].Rank(), s.size, err, c.rule)
		}
	}
	s.vote(t)
}

// everyRank runs check on all local ranks. With the whole world at hand, the
// first failure ends the context of the others, who may be waiting for that rank.
func (s *suite) everyRank(t *testing.T, world []group.Communicator, check check) []error {
	ctx, cancel := context.WithTimeoutCause(t.Context(), caseTime, fmt.Errorf("case took %v", caseTime))
	defer cancel()
	if s.partial {
		ctx = withPartialSums(ctx)
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	errs := make([]error, len(world))
	var ranks sync.WaitGroup
	for i, comm := range world {
		ranks.Go(func() {
			errs[i] = check(ctx, comm)
			if errs[i] != nil && len(world) == s.size {
				fail(fmt.Errorf("rank %d failed: %w", comm.Rank(), errs[i]))
			}
		})
	}
	returned := make(chan struct{})
	go func() {
		ranks.Wait()
		close(returned)
	}()
	select {
	case <-returned:
		return errs
	case <-ctx.Done():
	}
	select {
	case <-returned:
	case <-time.After(graceTime):
		t.Fatalf("a rank did not return within %v of the end of its context (%v)\n%s", graceTime, context.Cause(ctx), stacks())
	}
	return errs
}

// vote lets all processes know that a case failed in one of them. With the whole
// world in this process there is nothing to tell.
func (s *suite) vote(t *testing.T) {
	if s.whole() || len(s.world) == 0 {
		return
	}
	comm := s.world[0]
	ctx, cancel := context.WithTimeout(t.Context(), caseTime+graceTime)
	defer cancel()
	mine, all := []byte{0}, make([]byte, s.size)
	if t.Failed() {
		mine[0] = 1
	}
	if err := comm.AllGather(ctx, mine, all); err != nil {
		t.Errorf("vote: %v", err)
	}
	for rank, failed := range all {
		if failed != 0 && rank != comm.Rank() {
			t.Errorf("failed on rank %d", rank)
		}
	}
}

// renew replaces a world that a failed case may have left unusable. Where other
// processes may take part they need not be as far as this one, and the world is
// given up.
func (s *suite) renew(t *testing.T) {
	if !s.whole() || s.size == 1 {
		s.spent = true
		return
	}
	s.close(t, s.world)
	s.world = s.make(t, s.size)
}

// close closes the local ranks at once, as ranks of different processes would.
func (s *suite) close(t *testing.T, world []group.Communicator) {
	errs := s.everyRank(t, world, func(_ context.Context, comm group.Communicator) error { return comm.Close() })
	for i, err := range errs {
		if err != nil && !t.Failed() {
			t.Errorf("rank %d of %d: close: %v", i, s.size, err)
		}
	}
}

// awaitGoroutines guards the rule that a closed communicator leaves nothing
// running.
func awaitGoroutines(t *testing.T, want int) {
	for end := time.Now().Add(graceTime); runtime.NumGoroutine() > want; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines after Close, %d before the first world\n%s", runtime.NumGoroutine(), want, stacks())
		}
	}
}

func stacks() string {
	buf := make([]byte, 1<<16)
	return string(buf[:runtime.Stack(buf, true)])
}
