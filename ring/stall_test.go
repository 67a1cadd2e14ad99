package ring

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/group"
)

// TestStallWarning has two of four ranks come late to each kind of collective. The
// two that wait warn, once, and name the others; then all ends well.
func TestStallWarning(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"sum 8", "sum 500000", "gather 8", "scatter 8", "all-to-all 8", "broadcast 1", "barrier", "split"} {
		for name, overSockets := range map[string]bool{"shared memory": false, "sockets": true} {
			t.Run(what+", "+name, func(t *testing.T) {
				t.Parallel()
				// On a machine with much else to do one of the two may be late itself, and is
				// named then: they get more time.
				after := 100 * time.Millisecond
				for !warnOfTwo(t, what, overSockets, after) {
					if after *= 5; after > 3*time.Second {
						t.Fatalf("ranks 0 and 2 were not there within %v of each other", after/5)
					}
				}
			})
		}
	}
}

// warnOfTwo has ranks 0 and 2 wait until both have warned. It reports false when
// they waited for each other, too.
func warnOfTwo(t *testing.T, what string, overSockets bool, after time.Duration) bool {
	t.Helper()
	log := &logOf{}
	comms := makeWorld(t, 4, Config{StallWarning: after, NoSharedMemory: overSockets, Logger: log.logger(slog.LevelWarn)})
	do := func(r int) {
		if err := doOne(t.Context(), comms[r], strings.Fields(what)); err != nil {
			t.Errorf("rank %d: %v", r, err)
		}
	}
	done := make(chan struct{})
	go func() {
		everyRank(2, func(i int) { do(2 * i) })
		close(done)
	}()
	warnings := func() []string { return log.lines(" have not come") }
	for end := time.Now().Add(30 * time.Second); len(warnings()) < 2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("log %q", log.lines(""))
		}
	}
	time.Sleep(3 * after)
	everyRank(2, func(i int) { do(2*i + 1) })
	<-done
	for _, w := range warnings() {
		if strings.Contains(w, "ranks 1,2,3 have") || strings.Contains(w, "ranks 0,1,3 have") {
			return false
		}
		wantText(t, "warning", w, "level=WARN", " #1", " has waited for ", "ranks 1,3 have not come (127.0.0.1:", "missing=\"[1 3]\"", "sequence=1")
	}
	if len(warnings()) != 2 {
		t.Errorf("%d warnings, want one of each rank that waits: %q", len(warnings()), warnings())
	}
	return true
}

// TestStallInAGroup names ranks as the group has them, and as the world has.
func TestStallInAGroup(t *testing.T) {
	log := &logOf{}
	comms := makeWorld(t, 4, Config{StallWarning: 50 * time.Millisecond, Logger: log.logger(slog.LevelWarn)})
	groups := make([]group.Communicator, 4)
	everyRank(4, func(r int) {
		var err error
		if groups[r], err = comms[r].(group.Splitter).Split(t.Context(), 0, -r); err != nil {
			t.Error(err)
		}
	})
	done := make(chan error)
	go func() { done <- groups[3].(group.Barrierer).Barrier(t.Context()) }()
	for end := time.Now().Add(30 * time.Second); len(log.lines("barrier #1 has waited for")) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("log %q", log.lines(""))
		}
	}
	everyRank(3, func(r int) { groups[r].(group.Barrierer).Barrier(t.Context()) })
	if err := <-done; err != nil {
		t.Error(err)
	}
	wantText(t, "warning", log.lines("barrier #1 has waited for")[0], "ranks 1,2,3 have not come", "1 is rank 2 of the world, 127.0.0.1:", "3 is rank 0 of the world")
}

// TestNoStallNoWarning sees that the log stays silent as long as all is well.
func TestNoStallNoWarning(t *testing.T) {
	log := &logOf{}
	comms := makeWorld(t, 2, Config{StallWarning: time.Hour, Logger: log.logger(slog.LevelWarn)})
	for range 10 {
		sumAll(t, comms)
	}
	if lines := log.lines(""); len(lines) > 0 {
		t.Errorf("log %q", lines)
	}
	_, err := Local(t.Context(), 2, Config{StallWarning: -1})
	wantError(t, err, "negative", "StallWarning (-1ns)")
}
