package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

// write streams the prompt and what follows to out, on rank 0, and then says on log how long
// that took.
func write(ctx context.Context, o options, out, log io.Writer, g *group.Group) error {
	model, letters, err := load(ctx, o, g)
	if err != nil {
		return err
	}
	tokens, err := encode(o.prompt, letters)
	if err != nil {
		return err
	}
	if !g.IsLeader() {
		out, log = io.Discard, io.Discard
	}
	if _, err := io.WriteString(out, o.prompt); err != nil {
		return err
	}
	w, start := newWindow(model, tokens, o.cache), time.Now()
	for i := range o.n {
		logits, err := w.logits(ctx)
		if err != nil {
			return err
		}
		token, err := draw(ctx, logits, random.NewKey(o.seed).Fold(uint64(i)), o.temperature, g)
		if err != nil {
			return err
		}
		w.add(token)
		if _, err := io.WriteString(out, string(letters[token])); err != nil {
			return err
		}
	}
	if took := time.Since(start); !o.quiet {
		fmt.Fprintf(log, "generate: %d letters in %.2f s, %.0f a second\n", o.n, took.Seconds(), float64(o.n)/took.Seconds())
	}
	_, err = io.WriteString(out, "\n")
	return err
}

// draw has rank 0 draw a token, which all ranks return.
func draw(ctx context.Context, logits *array.Array, key random.Key, temperature float64, g *group.Group) (int32, error) {
	token := []int32{0}
	if g.IsLeader() {
		drawn := logits.ArgMax(0)
		if temperature > 0 {
			drawn = random.Categorical(key, logits.DivScalar(temperature), -1)
		}
		var err error
		if token[0], err = array.Item[int32](ctx, drawn.AsType(dtype.Int32)); err != nil {
			return 0, err
		}
	}
	return token[0], group.Broadcast(ctx, g, 0, token)
}
