// Package par shares work out over the processors.
package par

import (
	"runtime"
	"sync"
	"sync/atomic"
)

var limit atomic.Int64 // 0 for none

// Limit bounds Workers, for a process that shares the processors with others; 0 lifts
// the bound.
func Limit(n int) { limit.Store(int64(n)) }

// Workers is how many goroutines compute at once: GOMAXPROCS, or what Limit allows.
func Workers() int {
	n := runtime.GOMAXPROCS(0)
	if most := int(limit.Load()); most > 0 {
		return min(n, most)
	}
	return n
}

// Do calls f(0) to f(n-1), each once, on up to Workers goroutines, one of which
// is the caller's, and returns when all calls have. The goroutines end before it
// does. Calls must not wait for each other: any number of them may run one after
// the other. A panic of f is raised again in the caller.
func Do(n int, f func(i int)) {
	workers := min(n, Workers())
	if workers <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var failed atomic.Pointer[any]
	work := func() {
		defer func() {
			if r := recover(); r != nil {
				failed.Store(&r)
			}
		}()
		for failed.Load() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			f(i)
		}
	}
	var all sync.WaitGroup
	for range workers - 1 {
		all.Go(work)
	}
	work()
	all.Wait()
	if r := failed.Load(); r != nil {
		panic(*r)
	}
}
