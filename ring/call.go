package ring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/digest"
	"github.com/lockstep-go/lockstep/internal/onehost"
)

// callKind names a collective on the wire.
type callKind uint8

const (
	allReduce callKind = iota + 1
	allGather
	reduceScatter
	broadcast
	allToAll
	barrier
	split
)

var callNames = map[callKind]string{
	allReduce: "all_reduce", allGather: "all_gather", reduceScatter: "reduce_scatter",
	broadcast: "broadcast", allToAll: "all_to_all", barrier: "barrier", split: "split",
}

// request is what must be the same on all ranks.
type request struct {
	kind  callKind
	op    group.Op
	t     dtype.Type // Invalid where the type does not matter
	bytes int
	root  int
}

// numbered is one collective of a group.
type numbered struct {
	request
	sequence uint64
	label    string // what a user of the group calls it; may be empty
}

// String describes the call for people.
func (c numbered) String() string {
	if c.label == "" {
		return c.request.text(c.sequence)
	}
	return c.label
}

// fingerprint is what a user of the group says about the coming collective.
type fingerprint struct {
	sum  []byte
	text string
}

// Next names the coming collective.
func (c *comm) Next(fp []byte, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next.sum, c.next.text = append(c.next.sum[:0], fp...), text
}

// text describes a call that nobody has described better.
func (r request) text(sequence uint64) string {
	text := fmt.Sprintf("%s #%d", callNames[r.kind], sequence)
	switch {
	case r.t != dtype.Invalid:
		text += fmt.Sprintf(" %v %v[%d]", r.op, r.t, r.bytes/r.t.Size())
	case r.kind == broadcast:
		text += fmt.Sprintf(" from %d [%d bytes]", r.root, r.bytes)
	case r.kind != barrier && r.kind != split:
		text += fmt.Sprintf(" [%d bytes]", r.bytes)
	}
	return text
}

func (r request) fingerprint(sum []byte) [16]byte {
	d := digest.New()
	for _, n := range [...]int{int(r.kind), int(r.op), int(r.t), r.bytes, r.root} {
		d.Word(uint64(n))
	}
	d.Text(string(sum))
	return d.Sum()
}

// collective runs one collective: in its turn, under the deadline, and so that
// whatever goes wrong breaks the group. A group of one only checks that it is
// open.
func (c *comm) collective(ctx context.Context, r request, run func(*exchange) error) error {
	x, err := c.begin(ctx, r)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		err = x.over()
	} else {
		err = run(x)
	}
	x.end()
	if err != nil {
		err = c.conclude(x, err)
	}
	c.finish(x, err)
	return err
}

// finish passes the turn on.
func (c *comm) finish(x *exchange, err error) {
	c.mu.Lock()
	c.running = false
	if err == nil {
		c.finished = x.head.sequence
	}
	c.mu.Unlock()
	c.turn.Pass()
}

// begin waits for the collective's turn and numbers it. When it succeeds the
// caller holds the turn.
func (c *comm) begin(ctx context.Context, r request) (*exchange, error) {
	if !c.turn.Try() {
		if err := c.awaitTurn(ctx, r); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	c.sequence++
	c.running = true
	c.latest = numbered{r, c.sequence, c.next.text}
	h := head{kind: r.kind, sequence: c.sequence, fingerprint: r.fingerprint(c.next.sum)}
	c.next.sum, c.next.text = c.next.sum[:0], ""
	x := &c.exchange
	x.start(c, ctx, c.latest, h)
	c.mu.Unlock()
	if err := c.late(x); err != nil {
		c.finish(x, err)
		return nil, err
	}
	return x, nil
}

// awaitTurn waits for an earlier collective to end.
func (c *comm) awaitTurn(ctx context.Context, r request) error {
	ctx, cancel := c.node.cfg.bound(ctx)
	defer cancel()
	switch {
	case c.turn.Take(ctx.Done(), c.life.Done()):
		return nil
	case c.life.Err() != nil:
		return c.failure(r.text(0))
	default:
		return c.giveUp(-1, fmt.Errorf("%s: still waiting for an earlier collective: %w", callNames[r.kind], context.Cause(ctx)))
	}
}

// late is the error of a collective whose group has ended; for the one about
// which the ranks are found to disagree it is that.
func (c *comm) late(x *exchange) error {
	ended := c.life.Err() != nil // asked first: peers that settle a dispute break the group afterwards
	switch {
	case c.disputed(x.head.sequence):
		return c.settle(x)
	case ended:
		return c.failure(x.call.String())
	}
	return nil
}

// conclude turns what stopped a collective into its error, and breaks the group.
func (c *comm) conclude(x *exchange, err error) error {
	if errors.Is(err, onehost.ErrDiffers) {
		c.disagree(x.head.sequence)
	}
	if over := c.late(x); over != nil {
		return over
	}
	var at *linkError
	switch {
	case x.over() != nil:
		return c.absence(x)
	case errors.As(err, &at):
		return c.explainLink(x, at)
	}
	return c.giveUp(-1, fmt.Errorf("%s: %w", x.call, err))
}

// explainLink waits for the notice that says why a connection failed, which may
// be one of a disagreement.
func (c *comm) explainLink(x *exchange, at *linkError) error {
	timer := time.NewTimer(graceTime)
	defer timer.Stop()
	select {
	case <-c.opened:
	case <-c.life.Done():
	case <-c.peers[at.peer].gone:
		at.err = errLeft
	case <-timer.C:
	}
	if over := c.late(x); over != nil {
		return over
	}
	return c.giveUp(at.peer, c.peerError(x.call.String(), at.peer, at.err))
}

// absence is the error of a collective whose context has ended: it names the
// ranks that have not come. When this rank was told to wait no longer that is the
// reason, and no peer's fault.
func (c *comm) absence(x *exchange) error {
	cause := x.over()
	absent, silent := c.census(x.head.sequence)
	if errors.Is(x.ctx.Err(), context.Canceled) {
		err := c.gaveUp(x.call.String(), cause)
		if all := sorted(slices.Concat(absent, silent)); len(all) > 0 {
			err = fmt.Errorf("%w; still to come: %s (%s)", err, ranks(all), c.places(all))
		}
		return c.giveUp(-1, err)
	}
	switch {
	case len(silent) > 0 && c.life.Err() != nil:
		return c.failure(x.call.String()) // a peer has found out, before all had answered
	case len(absent)+len(silent) > 1:
		return c.giveUp(-1, fmt.Errorf("%s: %s: %w", x.call, c.missing(absent, silent), cause))
	case len(silent) == 1:
		return c.giveUp(-1, c.peerError(x.call.String(), silent[0], fmt.Errorf("does not answer: %w", cause)))
	case len(absent) == 1:
		return c.giveUp(-1, c.peerError(x.call.String(), absent[0], fmt.Errorf("has not come: %w", cause)))
	case x.waiting >= 0:
		return c.giveUp(-1, c.peerError(x.call.String(), x.waiting, fmt.Errorf("has come but sends nothing: %w", cause)))
	}
	return c.giveUp(-1, fmt.Errorf("%s: %w", x.call, cause))
}

// gaveUp is the error of an operation that this rank was told to end: no fault of
// a peer.
func (c *comm) gaveUp(op string, cause error) error {
	return fmt.Errorf("%s: rank %d gave up: %w", op, c.rank, cause)
}

// missing reads "ranks 1,3 have not come (10.0.0.2:5000; 10.0.0.4:5000); rank 2 does
// not answer (10.0.0.3:5000)".
func (c *comm) missing(absent, silent []int) string {
	var parts []string
	if len(absent) > 0 {
		parts = append(parts, fmt.Sprintf("%s %s not come (%s)", ranks(absent), plural(absent, "has", "have"), c.places(absent)))
	}
	if len(silent) > 0 {
		parts = append(parts, fmt.Sprintf("%s %s not answer (%s)", ranks(silent), plural(silent, "does", "do"), c.places(silent)))
	}
	return strings.Join(parts, "; ")
}

func plural(ranks []int, one, many string) string {
	if len(ranks) == 1 {
		return one
	}
	return many
}

// places is where some ranks are.
func (c *comm) places(ranks []int) string {
	var places []string
	for i, r := range ranks {
		if i == manyRanks {
			places = append(places, "…")
			break
		}
		places = append(places, c.whereabouts(r))
	}
	return strings.Join(places, "; ")
}

// manyRanks is of how many ranks an error gives the addresses.
const manyRanks = 8

// whereabouts is a rank's address, and its rank in the world when that is another.
func (c *comm) whereabouts(r int) string {
	world := c.ranks[r]
	if world == r {
		return c.node.address(world)
	}
	return fmt.Sprintf("%d is rank %d of the world, %s", r, world, c.node.address(world))
}

func ranks(all []int) string {
	if len(all) == 1 {
		return fmt.Sprintf("rank %d", all[0])
	}
	return "ranks " + list(all)
}

func list(ranks []int) string {
	words := make([]string, len(ranks))
	for i, r := range ranks {
		words[i] = fmt.Sprint(r)
	}
	return strings.Join(words, ",")
}
