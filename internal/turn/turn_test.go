package turn_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-go/lockstep/internal/turn"
)

// TestOneAtATime has many callers count, some of whom give up.
func TestOneAtATime(t *testing.T) {
	held, count, taken := turn.New(), 0, 0
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for j := range 2000 {
				var done chan struct{}
				if i%4 == 0 {
					done = make(chan struct{})
					close(done)
				}
				if j%3 == 0 && !held.Try() || j%3 != 0 && !held.Take(done, nil) {
					continue
				}
				count++
				held.Pass()
				mu.Lock()
				taken++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if count != taken {
		t.Errorf("%d turns left %d traces", taken, count)
	}
	if !held.Try() {
		t.Error("somebody has kept the turn")
	}
}

// TestWaits has two wait, of whom the first gives up just before the turn is passed.
func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held, over := turn.New(), make(chan struct{})
		if !held.Take(nil, nil) || held.Try() {
			t.Fatal("the first caller does not have the turn for itself")
		}
		first, second := make(chan bool, 1), make(chan bool, 1)
		go func() { first <- held.Take(nil, over) }()
		synctest.Wait()
		go func() { second <- held.Take(nil, nil) }()
		synctest.Wait()
		close(over)
		held.Pass()
		select {
		case <-time.After(time.Hour):
			t.Fatal("the turn was lost")
		case <-second:
		case got := <-first:
			if got {
				held.Pass()
			}
			if !<-second {
				t.Error("who waits without an end gave up")
			}
		}
	})
}
