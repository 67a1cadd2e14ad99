package array

import (
	"errors"
	"slices"
)

// ErrDonated is wrapped by the error of reading an array whose storage was given
// away by Donate.
var ErrDonated = errors.New("its storage was given away by Donate")

// Donate returns x for operations that may take over its storage: an elementwise
// operation, a reduction over ranks or a compiled function then writes its result
// over x instead of beside it. MLX does this by itself where nobody else holds an
// array, which Go cannot tell.
//
//	params = step(array.Donate(params), grads) // needs no second room for parameters
//
// It is a promise that nobody reads x any more, no evaluation that is under way either:
// once the result has been evaluated reading x is ErrDonated, and once all operations
// recorded on the result have run, so is reading that. Storage that another array shares, as a view does, is left as
// it is. Gradients pass through; but a derivative reads the values that it needs
// after the operations, and finds those given away missing.
func Donate(x *Array) *Array {
	y := Apply1(donate{}, x)
	y.Temporary()
	return y
}

// Temporary marks x as read by none but the operations that are recorded on it from
// now on, for transforms that make arrays which their users never see. Nothing may
// have been recorded on x before. The storage is used again as soon as they have run.
func (x *Array) Temporary() {
	if x.Err() == nil && !x.node().done() {
		x.node().state.Or(temporary)
	}
}

// donate passes its input on and takes it away.
type donate struct{ standIn }

func (donate) Name() string { return "donate" }

// Equal reports whether o is the same operation.
func (donate) Equal(o Primitive) bool { return o == donate{} }

func (p donate) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	return Apply(p, in...), axes, nil
}

// givenAway takes the place of a value whose storage has another owner.
var givenAway View

// give takes the value from x; the storage is the caller's.
func (x *Array) give() {
	x.node().give(x.out())
}

// give takes the value of an output.
func (n *node) give(out int) {
	if out > 0 {
		n.rare.values[out].Store(&givenAway)
		return
	}
	n.value.Store(&givenAway)
	if n.rare != nil && n.rare.values != nil {
		n.rare.values[0].Store(&givenAway)
	}
}

// drop gives up all values of a temporary node.
func (n *node) drop() {
	for i := range n.outputsCount() {
		if v := n.valueOf(i); v != nil {
			n.give(i)
			v.owner.Release()
		}
	}
}

// read says that an operation on the inputs has run: temporary nodes that were
// waiting for it alone are dropped.
func (s *sources) read() {
	for i := 0; s.at(i) != nil; i++ {
		s.at(i).node().readOnce()
	}
}

// readOnce says that one operation that reads the node has run.
func (n *node) readOnce() {
	if n.isTemporary() && n.unread.Add(-1) == 0 {
		n.drop()
	}
}

// free reports whether the i-th input is storage that nothing else needs once the
// operation has run.
func (s *sources) free(i int, v View) bool {
	n := s.at(i).node()
	if !n.isTemporary() || v.owner == nil || v.owner.References() != 1 {
		return false
	}
	return n.unread.Load() == 1 // an operation that reads it twice counts twice
}

// overwritten returns the view for output out over an input that may be overwritten;
// ok is false if there is none. taken are the inputs that other outputs have.
func overwritten(p Overwriter, from *sources, in []View, out int, s Spec, taken *[]int) (v View, ok bool) {
	for _, i := range p.Overwrites(out) {
		x := in[i]
		if !x.hasRoomFor(s) || slices.Contains(*taken, i) || !from.free(i, x) {
			continue
		}
		*taken = append(*taken, i)
		x.owner.Retain()
		v = rows(s, 0).View
		v.Storage, v.owner = x.Storage, x.owner
		return v, true
	}
	return View{}, false
}

// hasRoomFor reports whether elements of s may be written over those of v, one over one.
func (v *View) hasRoomFor(s Spec) bool {
	return len(v.Storage) == s.Bytes() && v.isRowsOf(v.Shape) && v.DType.Size() == s.DType.Size()
}

// takeAway takes the value from x, for whoever overwrites it; nil if it was taken before.
// The caller has the reference to the storage then.
func (x *Array) takeAway() *View {
	n, out := x.node(), x.out()
	at := &n.value
	if out > 0 {
		at = &n.rare.values[out]
	}
	v := at.Load()
	if v == nil || v == &givenAway || !at.CompareAndSwap(v, &givenAway) {
		return nil
	}
	if r := n.rare; out == 0 && r != nil && r.values != nil {
		r.values[0].Store(&givenAway)
	}
	return v
}
