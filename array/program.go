package array

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/lockstep-go/lockstep/internal/buffer"
	"github.com/lockstep-go/lockstep/internal/kernel"
	"github.com/lockstep-go/lockstep/internal/layout"
)

// Instruction applies a primitive to values that have numbers. Its outputs get the
// next numbers.
type Instruction struct {
	Primitive Primitive
	In        []int
}

// Program is a list of instructions as one operation, for package transform. Its
// chains of elementwise instructions run in one pass over their operands, and what
// only it needs shares one piece of memory. Its results have the bits that the
// instructions would give one by one.
type Program struct {
	NoRules
	args     []Spec
	outs     []Spec
	lazy     []*Array         // captured arrays that are inputs, after the arguments
	fixed    []*buffer.Buffer // storage of captured arrays, to which the program has references
	stores   []store
	steps    []step
	arena    int    // bytes
	over     []int  // per result: an input that it may be written over, or -1
	takes    []bool // per argument: its storage is the program's; nil for none
	fallible bool

	mu   sync.Mutex
	idle []*workspace
}

// NewProgram makes a program of code for arguments with the given specs. Numbers
// count the arguments, the captured arrays and the outputs of the instructions, in
// this order; results are numbers too. No primitive may belong to a lane.
func NewProgram(args []Spec, captured []*Array, code []Instruction, results []int) (*Program, error) {
	p := &Program{args: args}
	b := &programBuilder{Program: p}
	for i, s := range args {
		b.values = append(b.values, b.input(i, s))
	}
	for _, x := range captured {
		b.values = append(b.values, b.capture(x))
	}
	for _, c := range code {
		if err := b.add(c); err != nil {
			return nil, err
		}
	}
	for i, number := range results {
		b.result(i, b.values[number])
	}
	b.rewrite()
	if err := b.schedule(); err != nil {
		return nil, err
	}
	b.plan()
	return p, nil
}

// Take says that every run takes the storage of an argument, as if that had been given by
// Donate: results are written over it, and reading the argument is ErrDonated then. It is
// called before the first run.
func (p *Program) Take(argument int) {
	if p.takes == nil {
		p.takes = make([]bool, len(p.args)+len(p.lazy))
	}
	p.takes[argument] = true
}

// Record records the program's run. The arguments, of the specs that it was made for,
// are the slots that args lists; the results are put into those that results lists.
func (p *Program) Record(slots []*Array, args, results []int) {
	n := newNode(p)
	count := len(args) + len(p.lazy)
	for i, slot := range args {
		n.adopt(i, slots[slot], count)
	}
	for i, x := range p.lazy {
		n.adopt(len(args)+i, x, count)
	}
	n.setSpecs(p.outs)
	if n.err() != nil {
		n.setSpecs(make([]Spec, len(p.outs)))
	} else if p.fallible {
		n.special().site = newSite()
	}
	n.fillOutputs(func(i int, x *Array) { slots[results[i]] = x })
}

func (p *Program) program() *Program { return p }

// Name is what stands for it where none of its instructions is meant.
func (p *Program) Name() string { return "compiled" }

// Outputs is the number of results.
func (p *Program) Outputs() int { return len(p.outs) }

// ReadsStrided marks a StridedReader.
func (p *Program) ReadsStrided() {}

// OutputSpecs are known.
func (p *Program) OutputSpecs([]Spec) ([]Spec, error) { return p.outs, nil }

// elementwise is a primitive whose loop computes each element of its output from
// those at the same place of its operands.
type elementwise interface {
	Primitive
	loop(in []Spec) kernel.Loop
}

// where a store lies.
type storeKind uint8

const (
	inArena    storeKind = iota // at an offset of the program's memory
	inInput                     // an input's storage
	inResult                    // an output's storage
	isFixed                     // a captured array's storage
	inRegister                  // nowhere: only the pass that makes it reads it
)

// store is room for the elements of one value and of its views.
type store struct {
	kind   storeKind
	index  int // of the input or result
	bytes  int
	fixed  []byte
	maker  int // operation that writes it, -1 for none
	offset int // in the arena
}

// value is elements in a store. The view has no Storage.
type value struct {
	View
	store int
}

// isWhole reports whether v has this shape and is its store in row order.
func (v value) isRows(shape []int) bool { return v.Offset == 0 && v.isRowsOf(shape) }

// operation is a primitive with its operands.
type operation struct {
	prim    Primitive
	loop    kernel.Loop // of an elementwise primitive, else nil
	in, out []value
}

type programBuilder struct {
	*Program
	values []value
	ops    []*operation
	copies map[copied]value
}

// copied names a view of a store by what it needs to be copied.
type copied struct {
	store          int
	shape, strides string
	offset         int
}

func (b *programBuilder) newStore(s store) int {
	b.stores = append(b.stores, s)
	return len(b.stores) - 1
}

func rows(s Spec, store int) value {
	return value{View{Spec: s, Strides: layout.Strides(s.Shape)}, store}
}

func (b *programBuilder) input(i int, s Spec) value {
	return rows(s, b.newStore(store{kind: inInput, index: i, bytes: s.Bytes(), maker: -1}))
}

// capture takes a captured array's storage where there is one, and that of the array
// of which it is a view; else the array is one more input.
func (b *programBuilder) capture(x *Array) value {
	if v, computed := x.view(); computed {
		v.owner.Retain() // the array may be donated, its elements stay
		b.fixed = append(b.fixed, v.owner)
		at := b.newStore(store{kind: isFixed, bytes: len(v.Storage), fixed: v.Storage, maker: -1})
		v.Storage, v.owner = nil, nil
		return value{v, at}
	}
	p, in := x.node().source()
	if viewer, ok := p.(Viewer); ok && in.at(0) != nil && !x.node().isTemporary() && !in.at(0).node().isTemporary() {
		return b.viewed(viewer, b.capture(in.at(0)), x.spec())
	}
	b.lazy = append(b.lazy, x)
	return b.input(len(b.args)+len(b.lazy)-1, x.Spec())
}

func (b *programBuilder) add(c Instruction) error {
	in, specs := make([]value, len(c.In)), make([]Spec, len(c.In))
	for i, number := range c.In {
		in[i] = b.values[number]
		specs[i] = in[i].Spec
	}
	outs, err := c.Primitive.OutputSpecs(specs)
	if err != nil {
		return newOpError(c.Primitive.Name(), err)
	}
	if _, ok := c.Primitive.(Fallible); ok {
		b.fallible = true
	}
	if _, ok := c.Primitive.(Forwarder); ok {
		b.values = append(b.values, in[:len(outs)]...)
		return nil
	}
	if viewer, ok := c.Primitive.(Viewer); ok {
		b.values = append(b.values, b.viewed(viewer, in[0], outs[0]))
		return nil
	}
	op := &operation{prim: c.Primitive, in: in}
	if e, ok := c.Primitive.(elementwise); ok {
		op.loop = e.loop(specs)
	}
	if _, ok := c.Primitive.(StridedReader); !ok {
		for i := range in {
			in[i] = b.contiguous(in[i])
		}
	}
	b.values = append(b.values, b.append(op, outs)...)
	return nil
}

// append adds an operation with a store for each output.
func (b *programBuilder) append(op *operation, outs []Spec) []value {
	for _, s := range outs {
		op.out = append(op.out, rows(s, b.newStore(store{bytes: s.Bytes(), maker: len(b.ops)})))
	}
	b.ops = append(b.ops, op)
	return op.out
}

func (b *programBuilder) viewed(p Viewer, in value, out Spec) value {
	v, ok := p.View(in.View, out)
	if !ok {
		in = b.contiguous(in)
		v, _ = p.View(in.View, out)
	}
	return value{v, in.store}
}

// contiguous is v, or a copy of it in row order, which all users of the same view
// share.
func (b *programBuilder) contiguous(v value) value {
	if v.IsContiguous() {
		return v
	}
	key := copied{v.store, fmt.Sprint(v.Shape), fmt.Sprint(v.Strides), v.Offset}
	if c, ok := b.copies[key]; ok {
		return c
	}
	if b.copies == nil {
		b.copies = map[copied]value{}
	}
	c := b.append(&operation{prim: copyRows{}, in: []value{v}}, []Spec{v.Spec})[0]
	b.copies[key] = c
	return c
}

// result lets v be written to the storage of the i-th result, by a copy where it is
// a view or has a place already.
func (b *programBuilder) result(i int, v value) {
	b.outs = append(b.outs, Spec{slices.Clone(v.Shape), v.DType})
	s := b.stores[v.store]
	if s.maker < 0 || s.kind != inArena || s.bytes != v.Spec.Bytes() || !v.isRows(v.Shape) {
		v = b.append(&operation{prim: copyRows{}, in: []value{v}}, []Spec{v.Spec})[0]
	}
	b.stores[v.store].kind, b.stores[v.store].index = inResult, i
}

// copyRows writes its input in row order.
type copyRows struct{ NoRules }

func (copyRows) Name() string                          { return "copy" }
func (copyRows) ReadsStrided()                         {}
func (copyRows) OutputSpecs(in []Spec) ([]Spec, error) { return in, nil }
func (copyRows) Eval(_ context.Context, in, out []View) error {
	x := in[0]
	layout.Copy(out[0].Bytes(), x.Storage, x.DType.Size(), x.Shape, x.Strides, x.Offset)
	return nil
}
