package main

import (
	"context"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/nn"
)

// window is the end of a text, as much of it as the model can see. When that is more than the
// context, the later half stays: letters then have new positions, so that what the cache holds
// of them is of no use, and half a context of letters goes by until the next time.
type window struct {
	model   *nn.LanguageModel
	context int
	tokens  []int32
	seen    int // of these, whose keys and values are in the cache
	cache   []nn.KVCache
	keep    bool // the cache from one letter to the next
}

func newWindow(model *nn.LanguageModel, tokens []int32, cache bool) *window {
	w := &window{model: model, context: model.Positions.Weight.Dim(0), keep: cache, cache: model.NewCache()}
	w.add(tokens...)
	return w
}

// add appends tokens.
func (w *window) add(tokens ...int32) {
	w.tokens = append(w.tokens, tokens...)
	if len(w.tokens) > w.context {
		w.tokens = append([]int32(nil), w.tokens[len(w.tokens)-max(1, w.context/2):]...)
		w.forget()
	}
}

func (w *window) forget() { w.seen, w.cache = 0, w.model.NewCache() }

// logits are those of the token that follows, evaluated, [vocab].
func (w *window) logits(ctx context.Context) (*array.Array, error) {
	if !w.keep {
		w.forget()
	}
	more := w.tokens[w.seen:]
	logits := w.model.ForwardCached(array.From(more, 1, len(more)), w.cache)
	logits = logits.SliceAxis(1, len(more)-1, len(more)).Flatten()
	want := []*array.Array{logits}
	for _, c := range w.cache {
		want = append(want, c.Keys, c.Values)
	}
	w.seen = len(w.tokens)
	return logits, array.Eval(ctx, want...)
}
