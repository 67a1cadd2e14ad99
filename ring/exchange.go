package ring

import (
	"context"
	"time"
)

// exchange is a collective under way: it moves messages between this rank and
// others, all of them marked with the call's fingerprint.
type exchange struct {
	comm    *comm
	ctx     context.Context
	began   time.Time // when its time began to count; zero as long as it has waited for nobody
	until   time.Time // the deadline of ctx, or the operation's own when that is earlier
	call    numbered
	head    head // of its messages, but for their length
	waiting int  // the peer that was waited for last; -1 for none
	circle  *circle

	outs, ins []flow
	// level is how many segments have been reduced; flows wait for levels. advance,
	// if not nil, raises it as far as what has come allows.
	level   int
	advance func()

	release func() bool // ends the watch over ctx; nil while there is none
	in, out []stream    // what to sleep for
}

// start makes x the exchange of a call; it keeps the room that earlier ones made.
func (x *exchange) start(c *comm, ctx context.Context, call numbered, h head) {
	*x = exchange{comm: c, ctx: ctx, call: call, head: h, waiting: -1, circle: c.everyone,
		outs: x.outs[:0], ins: x.ins[:0], in: x.in[:0], out: x.out[:0]}
}

// count begins to count the time. Most exchanges in shared memory are over before
// that, and to ask the clock would be a good part of what they cost.
func (x *exchange) count() {
	if x.began.IsZero() {
		x.began = time.Now()
		x.until = x.comm.node.cfg.deadline(x.ctx, x.began)
	}
}

// over is why the exchange must end now, nil while it may go on.
func (x *exchange) over() error {
	x.count()
	if x.ctx.Err() == nil && time.Now().Before(x.until) {
		return nil
	}
	if _, ok := x.ctx.Deadline(); ok && x.ctx.Err() == nil {
		x.expire()
	}
	if x.ctx.Err() != nil {
		return context.Cause(x.ctx)
	}
	return passed(x.comm.node.cfg.Timeout)
}

// expire waits for the timer of ctx when its deadline has passed.
func (x *exchange) expire() {
	if at, _ := x.ctx.Deadline(); !time.Now().Before(at) {
		<-x.ctx.Done()
	}
}

// unwatched is how long an exchange does without a watch over its context, which
// most need not pay for. The end of ctx is noticed so much later.
const unwatched = 20 * time.Millisecond

// rest is how long this rank may sleep at most; it has the end of ctx wake it.
func (x *exchange) rest(longest time.Duration) time.Duration {
	x.count()
	if since := time.Since(x.began); since < unwatched {
		return min(longest, unwatched-since)
	}
	if x.release == nil {
		x.release = context.AfterFunc(x.ctx, x.comm.wake)
	}
	return longest
}

// end gives back what the exchange holds.
func (x *exchange) end() {
	if x.release != nil {
		x.release()
	}
}

// flow adds a message to what run will send to, or receive from, a place in the
// circle.
func (x *exchange) flow(all *[]flow, place int, blocks [][]byte, needs []int) {
	f := flow{peer: x.circle.ranks[place], blocks: blocks, needs: needs, head: x.head}
	f.head.length = f.length()
	f.pass(0)
	*all = append(*all, f)
}

// inFlight bounds how many peers are sent to, and received from, in one turn.
const inFlight = 16

// run sends and receives by turns what has been added, and returns when all of it
// is done. Flows come first that were added first: all ranks add theirs by
// distance, so that no rank is everyone's target. All
// connections that this rank makes are made before it waits for any that a peer
// makes: so there is no circle.
func (x *exchange) run() error {
	x.count()
	defer x.forget()
	if err := x.dial(); err != nil {
		return err
	}
	if x.advance != nil {
		x.advance()
	}
	for {
		moved, done, err := x.turn()
		switch {
		case done || err != nil:
			return err
		case moved:
			x.comm.patience.moved()
			continue
		}
		if err := x.pause(); err != nil {
			return &linkError{x.waiting, err}
		}
	}
}

// forget lets go of the flows, and of the buffers in them, for the next part of
// the collective.
func (x *exchange) forget() {
	x.level, x.advance = 0, nil
	clear(x.outs)
	clear(x.ins)
	x.outs, x.ins = x.outs[:0], x.ins[:0]
}

// dial finds the links that are there and makes those that are this rank's to
// make.
func (x *exchange) dial() error {
	c := x.comm
	if err := c.ready(); err != nil {
		return err
	}
	if c.patience == nil {
		c.patience = newPatience(c.node.crowded())
	}
	for _, all := range [][]flow{x.outs, x.ins} {
		for i := range all {
			f := &all[i]
			x.waiting = f.peer
			if err := x.connect(f); err != nil {
				return &linkError{f.peer, err}
			}
		}
	}
	return nil
}

// connect finds the link of a flow, or makes it if it is this rank's to make.
func (x *exchange) connect(f *flow) (err error) {
	if f.link, err = x.comm.linkTo(f.peer); f.link != nil || err != nil || !x.comm.dials(f.peer) {
		return err
	}
	ctx, cancel := context.WithDeadlineCause(x.ctx, x.until, passed(x.comm.node.cfg.Timeout))
	defer cancel()
	if err = x.comm.dialLink(ctx, f.peer); err == nil {
		f.link, err = x.comm.linkTo(f.peer)
	}
	return err
}

// turn serves each flow once.
func (x *exchange) turn() (moved, done bool, err error) {
	sent, allSent, err := x.serve(x.outs, (*flow).sent, (*flow).canSend, (*flow).send)
	if err != nil {
		return false, false, err
	}
	came, allCame, err := x.serve(x.ins, (*flow).allPassed, (*flow).canReceive, (*flow).receive)
	if came && x.advance != nil {
		x.advance()
	}
	return sent || came, allSent && allCame, err
}

// serve moves what can be moved of the first flows that are not finished.
func (x *exchange) serve(all []flow, finished func(*flow) bool, can func(*flow, int) bool, move func(*flow, int) (bool, error)) (moved, done bool, err error) {
	done = true
	served := 0
	for i := range all {
		f := &all[i]
		if finished(f) {
			continue
		}
		if done {
			done, x.waiting = false, f.peer
		}
		if f.link == nil {
			if f.link, err = x.comm.linkTo(f.peer); err != nil {
				return false, false, &linkError{f.peer, err}
			}
		}
		if !can(f, x.level) {
			continue
		}
		m, err := move(f, x.level)
		if err != nil {
			return false, false, &linkError{f.peer, err}
		}
		if m {
			served++
		}
		if served == inFlight {
			break
		}
	}
	return served > 0, done, nil
}

// pause returns when it is time to look again.
func (x *exchange) pause() error {
	if x.comm.steps.Err() != nil {
		return errEnded
	}
	if x.comm.patience.look() {
		return nil
	}
	if err := x.over(); err != nil {
		return err
	}
	return x.sleep()
}

func (x *exchange) sleep() error {
	c := x.comm
	x.in, x.out = x.in[:0], x.out[:0]
	for i := range x.outs {
		if f := &x.outs[i]; !f.sent() && f.canSend(x.level) {
			x.out = append(x.out, f.link.stream)
		}
	}
	for i := range x.ins {
		if f := &x.ins[i]; !f.allPassed() && f.canReceive(x.level) {
			x.in = append(x.in, f.link.stream)
		}
	}
	return c.carrier.sleep(x.in, x.out, x.rest(time.Until(x.until)))
}

// follow carries out a schedule step by step; block gives block i of what is
// sent to, or received from, a place in the circle.
func (x *exchange) follow(steps []step, sent, received func(place, block int) []byte) error {
	for _, s := range steps {
		x.flow(&x.outs, s.to, pick(s.to, s.send, sent), nil)
		x.flow(&x.ins, s.from, pick(s.from, s.recv, received), nil)
		if err := x.run(); err != nil {
			return err
		}
	}
	return nil
}

// stream carries out a schedule whose steps do not build on each other.
func (x *exchange) stream(steps []step, sent, received func(place, block int) []byte) error {
	for _, s := range steps {
		x.flow(&x.outs, s.to, pick(s.to, s.send, sent), nil)
		x.flow(&x.ins, s.from, pick(s.from, s.recv, received), nil)
	}
	return x.run()
}

func pick(place int, numbers []int, block func(place, block int) []byte) [][]byte {
	blocks := make([][]byte, len(numbers))
	for i, n := range numbers {
		blocks[i] = block(place, n)
	}
	return blocks
}

// linkError is a failure of the connection to a peer.
type linkError struct {
	peer int
	err  error
}

func (e *linkError) Error() string { return e.err.Error() }

func (e *linkError) Unwrap() error { return e.err }
