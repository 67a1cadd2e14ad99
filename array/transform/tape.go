package transform

import (
	"fmt"
	"slices"
	"sync"

	"github.com/lockstep-go/lockstep/array"
)

// tape is a function as a list of instructions over numbered slots. The first
// slots hold the arguments, the next ones the captured arrays, and then every
// instruction adds its outputs. It holds no array of the trace that it was made
// from, is never changed, and may be run from several goroutines.
type tape struct {
	arguments int
	captured  []*array.Array
	code      []instruction
	results   []int // slots
	slots     int   // how many there are
}

// instruction applies a primitive to slots.
type instruction struct {
	prim array.Primitive
	in   []int
	out  int // slot of the first output
	outs int // number of outputs
}

// newTape writes down what leads from the stand-ins of t to its results, which
// carry no mistake: what does not is left out, and so is what an earlier
// instruction computes too.
func newTape(t *traced) *tape {
	w := &tapeWriter{
		tape:  &tape{arguments: len(t.standIns)},
		slots: map[place]int{}, constants: map[string]int{}, merged: map[string][]int{},
	}
	nodes, depends := t.between(array.Node.Inputs)
	for i, x := range t.standIns {
		w.slots[placeOf(x)] = i
	}
	w.next = len(t.standIns)
	for _, n := range nodes {
		for _, x := range n.Inputs() {
			w.capture(x, depends)
		}
	}
	for _, out := range t.outs {
		w.capture(out, depends)
	}
	for _, n := range nodes {
		w.write(n)
	}
	for _, out := range t.outs {
		w.tape.results = append(w.tape.results, w.slots[placeOf(out)])
	}
	w.tape.slots = w.next
	return w.tape
}

// place is an array as an output of a node.
type place struct {
	node array.Node
	out  int
}

func placeOf(x *array.Array) place { return place{x.Node(), x.Index()} }

type tapeWriter struct {
	tape      *tape
	next      int // slot
	slots     map[place]int
	constants map[string]int   // slots of the captured arrays that repeat one number, by spec and bytes
	merged    map[string][]int // numbers of the instructions with the same input slots
	outputs   []int            // first output slot of each instruction
}

// capture gives x a slot if it is not computed from the arguments. Equal
// constants share one.
func (w *tapeWriter) capture(x *array.Array, depends map[array.Node]bool) {
	if _, known := w.slots[placeOf(x)]; known || depends[x.Node()] {
		return
	}
	element, constant := x.Repeated()
	key := fmt.Sprint(x.Spec(), element)
	if slot, known := w.constants[key]; known && constant {
		w.slots[placeOf(x)] = slot
		return
	}
	if constant {
		w.constants[key] = w.next
	}
	w.slots[placeOf(x)] = w.next
	w.tape.captured = append(w.tape.captured, x)
	w.next++
}

// write adds the instruction of n, unless n only stands for its input or equals
// an instruction that is there.
func (w *tapeWriter) write(n array.Node) {
	if x := n.Source(); x != nil {
		w.slots[place{n, 0}] = w.slots[placeOf(x)]
		return
	}
	in := make([]int, len(n.Inputs()))
	for i, x := range n.Inputs() {
		in[i] = w.slots[placeOf(x)]
	}
	first, found := w.find(n, in)
	if !found {
		first = w.next
		w.next += len(n.Outputs())
		key := fmt.Sprint(in)
		w.merged[key] = append(w.merged[key], len(w.tape.code))
		w.tape.code = append(w.tape.code, instruction{n.Primitive(), in, first, len(n.Outputs())})
		w.outputs = append(w.outputs, first)
	}
	for i := range n.Outputs() {
		w.slots[place{n, i}] = first + i
	}
}

// find looks for an instruction that computes what n does. A node of a lane is
// never the same as another.
func (w *tapeWriter) find(n array.Node, in []int) (slot int, found bool) {
	p, ok := n.Primitive().(array.Comparable)
	if !ok || n.Lane() != nil {
		return 0, false
	}
	for _, i := range w.merged[fmt.Sprint(in)] {
		if p.Equal(w.tape.code[i].prim) {
			return w.outputs[i], true
		}
	}
	return 0, false
}

// run applies the instructions to xs, one by one. Nodes of lanes are recorded in the
// tape's order.
func (t *tape) run(xs []*array.Array) []*array.Array {
	return t.apply(xs, []part{{code: t.code}})
}

// apply applies parts that the tape was cut into.
func (t *tape) apply(xs []*array.Array, parts []part) []*array.Array {
	list := slotLists.Get().(*[]*array.Array)
	*list = slices.Grow(*list, t.slots)[:t.slots]
	slots := *list
	copy(slots, xs)
	copy(slots[t.arguments:], t.captured)
	for i := range parts {
		parts[i].apply(slots)
	}
	results := make([]*array.Array, len(t.results))
	for i, slot := range t.results {
		results[i] = slots[slot]
	}
	clear(slots)
	*list = slots[:0]
	slotLists.Put(list)
	return results
}

// slotLists are empty lists between uses.
var slotLists = sync.Pool{New: func() any { return new([]*array.Array) }}
