package group

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
)

// fingerprintBytes is the length of a fingerprint, textBytes the space that a
// composed comparison gives each rank's description.
const (
	fingerprintBytes = 16
	textBytes        = 256
)

type labelKey struct{}

// WithLabel makes collectives that run under the returned context describe
// themselves by label, such as "all_sum #17 float32[3 4]", in errors and to
// their peers. All ranks must use the same label for the same collective.
func WithLabel(ctx context.Context, label string) context.Context {
	return context.WithValue(ctx, labelKey{}, label)
}

// call describes one collective. What is in it must be the same on all ranks.
type call struct {
	name   string // such as "all_reduce"
	detail string // what a reader needs beside the name
	op     Op
	t      dtype.Type
	bytes  int
	root   int
}

// text describes the call for people. The run number is 0 while it is unknown.
func (c call) text(ctx context.Context, run uint64) string {
	if label, ok := ctx.Value(labelKey{}).(string); ok {
		return label
	}
	text := c.name
	if run > 0 {
		text = fmt.Sprintf("%s #%d", c.name, run)
	}
	return strings.TrimSpace(text + " " + c.detail)
}

func (c call) fingerprint(id string, run uint64, text string) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %d %q %q %d %d %d %d", id, run, text, c.name, c.op, c.t, c.bytes, c.root))
	return sum[:fingerprintBytes]
}

// run carries out one collective: waits for its turn, lets the ranks compare
// what they are about to do, then does it. Arguments have been checked. An error
// breaks the group.
func (g *Group) run(ctx context.Context, c call, do func(context.Context) error) error {
	text := c.text(ctx, 0)
	if err := g.usable(); err != nil {
		return within(text, err)
	}
	ctx, cancel := g.bound(ctx)
	defer cancel()
	defer g.watch(text)()
	if err := acquire(ctx, g.turn); err != nil {
		return g.fail(text, err)
	}
	defer release(g.turn)
	if err := g.usable(); err != nil {
		return within(text, err)
	}
	g.runs++
	text = c.text(ctx, g.runs)
	err := g.compare(ctx, c.fingerprint(g.id, g.runs, text), text)
	if err == nil {
		err = do(ctx)
	}
	if err != nil {
		return g.fail(text, cause(ctx, err))
	}
	g.counts.add(c)
	return nil
}

// compare hands the fingerprint to the backend, or has the ranks exchange
// theirs when the backend does not.
func (g *Group) compare(ctx context.Context, fp []byte, text string) error {
	if f, ok := g.comm.(Fingerprinter); ok {
		f.Next(fp, text)
		return nil
	}
	all := make([]byte, len(fp)*g.size)
	if err := g.comm.AllGather(ctx, fp, all); err != nil {
		return err
	}
	if bytes.Equal(all, bytes.Repeat(fp, g.size)) {
		return nil
	}
	return g.disagree(ctx, text)
}

// disagree gathers every rank's description; all ranks come here together.
func (g *Group) disagree(ctx context.Context, text string) error {
	mine, all := make([]byte, textBytes), make([]byte, textBytes*g.size)
	copy(mine, text)
	if err := g.comm.AllGather(ctx, mine, all); err != nil {
		return err
	}
	calls := make([]string, g.size)
	for r := range calls {
		calls[r] = string(bytes.TrimRight(all[r*textBytes:(r+1)*textBytes], "\x00"))
	}
	return &MismatchError{Calls: calls}
}

// meet lets a fingerprint that was handed to the backend take effect before a
// collective that is made of messages.
func (g *Group) meet(ctx context.Context) error {
	if _, ok := g.comm.(Fingerprinter); !ok {
		return nil
	}
	return g.comm.AllGather(ctx, make([]byte, 1), make([]byte, g.size))
}

// watch warns in the log when a call takes long, until the caller stops it.
func (g *Group) watch(text string) (stop func()) {
	warned := make(chan struct{})
	timer := time.AfterFunc(g.stall, func() {
		defer close(warned)
		g.logger.Warn("still waiting", "call", text, "after", g.stall)
	})
	return func() {
		if !timer.Stop() {
			<-warned
		}
	}
}

func acquire(ctx context.Context, turn chan struct{}) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func release(turn chan struct{}) { <-turn }

// cause replaces the bare error of an ended context by what ended it.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil && err == ctx.Err() {
		return context.Cause(ctx)
	}
	return err
}

// within puts what was being done before err unless err says so already.
func within(what string, err error) error {
	if strings.Contains(err.Error(), what) {
		return err
	}
	return fmt.Errorf("%s: %w", what, err)
}
