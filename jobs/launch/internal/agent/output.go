package agent

import (
	"os"
	"sync"
	"time"
)

// linger is how long an output that nobody should write to any more may stay
// silent before it ends.
const linger = 100 * time.Millisecond

// output is one output of one rank.
type output struct {
	pipe *os.File // the reading end
	err  bool     // standard error

	mu   sync.Mutex
	over bool // the rank and its group are gone
}

// end says that nobody is left to write but processes that left the rank's group;
// what has been written still passes.
func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	o.pipe.SetReadDeadline(time.Now())
}

// pass reports what the rank writes, to its end, or until end was called and nothing
// is left.
func (o *output) pass(rank int, t *talk) {
	defer o.pipe.Close()
	buf := make([]byte, 64<<10)
	for {
		n, over, err := o.read(buf)
		if n > 0 {
			t.report(Report{Kind: Output, Rank: rank, Err: o.err, Data: buf[:n]})
		}
		if err != nil && (over || !os.IsTimeout(err)) {
			return
		}
	}
}

// read waits for output, and not for long when the rank is over. over is as it was
// before the wait, so that a deadline that end moved does not hide bytes in the pipe.
func (o *output) read(buf []byte) (n int, over bool, err error) {
	o.mu.Lock()
	over = o.over
	var deadline time.Time
	if over {
		deadline = time.Now().Add(linger)
	}
	o.pipe.SetReadDeadline(deadline)
	o.mu.Unlock()
	n, err = o.pipe.Read(buf)
	return n, over, err
}
