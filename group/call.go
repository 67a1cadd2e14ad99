package group

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/digest"
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

// call describes one call: collectives, in which it must be the same on all ranks,
// and messages.
type call struct {
	label string // what the caller wants it to be called; may be empty
	name  string // such as "all_reduce"
	run   uint64 // its number among the group's collectives; 0 while it is unknown
	form  wording
	op    Op
	t     dtype.Type
	bytes int
	root  int // or the peer of a message
	tag   int
}

// wording is what a reader of a call's description needs beside its name.
type wording uint8

const (
	bare     wording = iota
	sized            // the bytes
	reducing         // operation and elements
	from             // root and bytes
	to
	messageFrom // peer and tag
	messageTo
)

// String describes the call for people, such as "all_reduce #3 sum float32[4]".
func (c call) String() string {
	if c.label != "" {
		return c.label
	}
	b := append(make([]byte, 0, 80), c.name...)
	if c.run > 0 {
		b = strconv.AppendUint(append(b, " #"...), c.run, 10)
	}
	switch c.form {
	case reducing:
		b = append(append(append(b, ' '), c.op.String()...), ' ')
		b = append(append(b, c.t.String()...), '[')
		b = append(strconv.AppendInt(b, int64(c.bytes/c.t.Size()), 10), ']')
	case from, messageFrom:
		b = strconv.AppendInt(append(b, " from rank "...), int64(c.root), 10)
	case to, messageTo:
		b = strconv.AppendInt(append(b, " to rank "...), int64(c.root), 10)
	}
	switch c.form {
	case sized, from, to:
		b = append(strconv.AppendInt(append(b, " ["...), int64(c.bytes), 10), " bytes]"...)
	case messageFrom, messageTo:
		b = strconv.AppendInt(append(b, " with tag "...), int64(c.tag), 10)
	}
	return string(b)
}

// fingerprint is a hash of what must be the same on all ranks.
func (c call) fingerprint(id, text string) [fingerprintBytes]byte {
	d := digest.New()
	d.Word(c.run)
	d.Word(uint64(c.op)<<32 | uint64(c.t))
	d.Word(uint64(c.bytes))
	d.Word(uint64(c.root))
	d.Text(id)
	d.Text(text)
	d.Text(c.name)
	return d.Sum()
}

// run carries out one collective after those in the background. Arguments have
// been checked. An error breaks the group.
func (g *Group) run(ctx context.Context, c call, do func(context.Context) error) error {
	if last := g.background.tail(); last != nil {
		if err := last.awaitTurn(ctx); err != nil {
			c.label, _ = ctx.Value(labelKey{}).(string)
			return g.fail(c, err)
		}
	}
	return g.runNow(ctx, c, do)
}

// runNow waits for the turn of one collective, lets the ranks compare what they
// are about to do, then does it.
func (g *Group) runNow(ctx context.Context, c call, do func(context.Context) error) error {
	c.label, _ = ctx.Value(labelKey{}).(string)
	if err := g.usable(); err != nil {
		return within(c, refusal{err})
	}
	b, err := g.place.begin(ctx, g, c)
	if err != nil {
		return g.fail(c, err)
	}
	defer g.place.end(b)
	if err := g.usable(); err != nil {
		return within(c, refusal{err})
	}
	g.runs++
	c.run = g.runs
	err = g.compare(b, c)
	if err == nil {
		err = do(b)
	}
	if err != nil {
		return g.fail(c, cause(b, err))
	}
	g.counts.add(c)
	return nil
}

// compare hands the fingerprint to the backend, or has the ranks exchange
// theirs when the backend does not.
func (g *Group) compare(ctx context.Context, c call) error {
	text := c.String()
	g.fingerprint = c.fingerprint(g.id, text)
	fp := g.fingerprint[:]
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

func acquire(ctx context.Context, turn chan struct{}) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case turn <- struct{}{}:
		return nil
	default: // only who has to wait needs ctx to have a timer
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
func within(what fmt.Stringer, err error) error {
	if strings.Contains(err.Error(), what.String()) {
		return err
	}
	return fmt.Errorf("%s: %w", what, err)
}
