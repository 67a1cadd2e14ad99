package transform

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lockstep-go/lockstep/array"
)

// Compile returns a function that does what f does but calls it only once for
// each combination of shapes and types of the arguments; later calls repeat what
// was recorded, without what the results do not need and without computing the
// same twice. The last 64 combinations are remembered.
//
// Recording evaluates and communicates nothing; evaluating inside f is
// array.ErrTraced. Collectives and messages are recorded anew by every call, in
// one order for all ranks, and are neither merged nor moved; those whose results
// f does not use are left out, on every rank alike.
//
// Whatever f reads but its arguments is read in the first call alone: arrays that
// it captures, parameters of modules among them, keep the value that they have
// then, and so do Go variables; see CompileWith. What changes from call to call
// must be an argument. A captured array that belongs to an enclosing transform is an
// error.
//
// Collectives and messages that depend on no argument, such as a receive, happen in
// every call too, but recording them is what f does itself: f is then called by every
// call, and nothing is saved.
//
// Compiled functions may be transformed and compiled in their turn, and called from
// several goroutines.
func Compile(f Func) Func {
	g := CompileWith(func(_ struct{}, xs ...*array.Array) []*array.Array { return f(xs...) })
	return func(xs ...*array.Array) []*array.Array { return g(struct{}{}, xs...) }
}

// CompileWith is Compile for a function that also depends on a value that is no
// array, such as a *group.Group, a number or a struct of several: f is called once
// for each value, compared by ==.
func CompileWith[S comparable](f func(static S, xs ...*array.Array) []*array.Array) func(static S, xs ...*array.Array) []*array.Array {
	return compileTaking(f, 0)
}

// CompileDonating is Compile for a function that takes the storage of its first n
// arguments, as if each had been given by array.Donate, and writes results over it: a
// training step that is given parameters and the optimizer's state, and returns new ones,
// then needs no second room for them and next to nothing of Go's heap.
//
//	step := transform.CompileDonating(update, len(params))
//	params = step(append(params, batch...)...) // the old parameters cannot be read any more
//
// What array.Donate promises is promised by every call: nobody reads these arguments any
// more. The same array must not be given twice. An argument that f returns as it is, such
// as a parameter that is not trained, stays what it was.
func CompileDonating(f Func, n int) Func {
	g := compileTaking(func(_ struct{}, xs ...*array.Array) []*array.Array { return f(xs...) }, n)
	return func(xs ...*array.Array) []*array.Array {
		if n < 0 || n > len(xs) {
			return []*array.Array{array.Fail("compile", fmt.Errorf("%d arguments are to be donated, there are %d", n, len(xs)))}
		}
		return g(struct{}{}, xs...)
	}
}

func compileTaking[S comparable](f func(static S, xs ...*array.Array) []*array.Array, taken int) func(static S, xs ...*array.Array) []*array.Array {
	c := cache[S]{trace: func(static S, specs []array.Spec) *compiled {
		return compile(func(xs ...*array.Array) []*array.Array { return f(static, xs...) }, specs, taken)
	}}
	return func(static S, xs ...*array.Array) []*array.Array {
		if slices.ContainsFunc(xs, func(x *array.Array) bool { return x.Err() != nil }) {
			return finished(record(func(xs ...*array.Array) []*array.Array { return f(static, xs...) }, xs))
		}
		if err := checkStatic(static); err != nil {
			return []*array.Array{array.Fail("compile", err)}
		}
		return c.find(static, xs).call(xs)
	}
}

// finished are the results of a function as if it had not been recorded.
func finished(t *traced) []*array.Array {
	t.trace.Finish(t.outs...)
	return t.outs
}

// checkStatic reports values that == panics on, such as a slice in an interface,
// or that are not equal to themselves.
func checkStatic[S comparable](static S) (err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("static value of type %T cannot be compared", static)
		}
	}()
	if again := static; again != static {
		err = fmt.Errorf("static value %v is not equal to itself", static)
	}
	return err
}

// compiled is a function for arguments of given shapes and types.
type compiled struct {
	tape *tape
	// every is the function itself where each call has to call it. The nodes of lanes
	// that the tape holds were recorded when it was written: they serve one call.
	every  Func
	served atomic.Bool
	taken  []int // arguments that every call donates
	// What concrete arguments are given to, made when there are some.
	specs []array.Spec
	cut   sync.Once
	parts []part
	given []int // arguments that are donated as arrays, since not one program alone reads them
	// A function with a mistake has its results instead, and perhaps an error that
	// they do not carry.
	outs []*array.Array
	err  error
}

func compile(f Func, specs []array.Spec, taken int) *compiled {
	examples := make([]*array.Array, len(specs))
	for i, s := range specs {
		examples[i] = array.Zeros(s.DType, s.Shape...)
	}
	t := record(f, examples)
	if bad := t.mistake(); bad != nil {
		return &compiled{outs: t.outs, err: bad.Err()}
	}
	made := &compiled{tape: newTape(t), specs: specs}
	made.taken = made.tape.own(taken)
	for _, x := range made.tape.captured {
		if x.IsTraced() {
			return &compiled{outs: t.outs, err: fmt.Errorf("compile: the function captures %v, which belongs to an enclosing transform; make it an argument", x.Spec())}
		}
	}
	if slices.ContainsFunc(array.Sorted(made.tape.captured...), func(n array.Node) bool { return n.Lane() != nil }) {
		made.every = f
	}
	return made
}

// call repeats the function. Results with a mistake keep the graph above them, so
// that peers who wait for its collectives are told when they are evaluated.
func (c *compiled) call(xs []*array.Array) []*array.Array {
	switch {
	case c.every != nil && c.served.Swap(true):
		return finished(record(c.every, donated(xs, c.taken)))
	case c.tape != nil && slices.ContainsFunc(xs, (*array.Array).IsTraced):
		// For the enclosing transform, which knows the primitives' rules.
		return c.tape.run(donated(xs, c.taken))
	case c.tape != nil:
		c.cut.Do(c.makeParts)
		if c.err != nil {
			return all(array.Fail("compile", c.err), len(c.tape.results))
		}
		return c.tape.apply(donated(xs, c.given), c.parts)
	}
	outs := make([]*array.Array, len(c.outs))
	for i, out := range c.outs {
		outs[i] = array.Depends(out.WithError(c.err), xs...)
	}
	return outs
}

func (c *compiled) makeParts() {
	c.parts, c.err = c.tape.parts(c.specs)
	if c.err == nil {
		c.given = c.tape.take(c.parts, c.taken)
	}
}

// donated is xs with some of them donated.
func donated(xs []*array.Array, which []int) []*array.Array {
	if len(which) == 0 {
		return xs
	}
	xs = slices.Clone(xs)
	for _, i := range which {
		xs[i] = array.Donate(xs[i])
	}
	return xs
}

// remembered is how many combinations of arguments a compiled function keeps.
const remembered = 64

// cache holds compiled functions, the one that was called last in front.
type cache[S comparable] struct {
	trace   func(static S, specs []array.Spec) *compiled
	mu      sync.Mutex
	entries []*entry[S]
}

type entry[S comparable] struct {
	static S
	specs  []array.Spec
	trace  func() *compiled
}

// find returns the function for a combination, made now if it is not there. The
// others are not held up meanwhile.
func (c *cache[S]) find(static S, xs []*array.Array) *compiled { return c.entry(static, xs).trace() }

func (c *cache[S]) entry(static S, xs []*array.Array) *entry[S] {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.entries, func(e *entry[S]) bool {
		return e.static == static && slices.EqualFunc(e.specs, xs, isOf)
	})
	if at == 0 {
		return c.entries[0]
	}
	var e *entry[S]
	if at > 0 {
		e = c.entries[at]
		c.entries = slices.Delete(c.entries, at, at+1)
	} else {
		specs := specsOf(xs)
		e = &entry[S]{static, specs, sync.OnceValue(func() *compiled { return c.trace(static, specs) })}
	}
	c.entries = slices.Insert(c.entries, 0, e)
	c.entries = slices.Delete(c.entries, min(len(c.entries), remembered), len(c.entries))
	return e
}

func specsOf(xs []*array.Array) []array.Spec {
	specs := make([]array.Spec, len(xs))
	for i, x := range xs {
		specs[i] = x.Spec()
	}
	return specs
}

// isOf reports whether x has this shape and type.
func isOf(s array.Spec, x *array.Array) bool {
	if x.DType() != s.DType || x.NDim() != len(s.Shape) {
		return false
	}
	for axis, n := range s.Shape {
		if x.Dim(axis) != n {
			return false
		}
	}
	return true
}
