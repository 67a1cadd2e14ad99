package transform

import (
	"cmp"
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"github.com/lockstep-go/lockstep/array"
)

// part is what a compiled function applies at once: a program of many instructions,
// or single instructions. Collectives and messages are parts of their own.
type part struct {
	program *array.Program
	code    []instruction // without a program
	in, out []int         // slots of the program's arguments and results
	// inner is set if none of its outputs is a result of the function.
	inner bool
}

// parts cuts the tape. Instructions share a part if they wait for the same nodes of
// lanes and the same such node is the first to need them: a part then waits for no
// peer that one of its instructions would not wait for, and what a collective needs
// is there as soon as without parts. Parts are in the order in which they are
// applied; nodes of lanes keep theirs.
func (t *tape) parts(specs []array.Spec) ([]part, error) {
	c := newCutter(t, specs)
	var parts []part
	for _, p := range c.pieces() {
		if p.lane || c.isPlain(p) {
			parts = append(parts, part{code: c.instructions(p), inner: c.isInner(p)})
			continue
		}
		made, err := c.program(p)
		if err != nil {
			return nil, err
		}
		made.inner = c.isInner(p)
		parts = append(parts, made)
	}
	return parts, nil
}

// own lists those of the first n arguments that are not themselves results: those go
// back to the caller as they came.
func (t *tape) own(n int) (list []int) {
	for k := range n {
		if !slices.Contains(t.results, k) {
			list = append(list, k)
		}
	}
	return list
}

// take lets the programs have the storage of the arguments taken. It returns those that
// more than one program reads, or something else: the array itself has to be given then.
func (t *tape) take(parts []part, taken []int) (rest []int) {
	readers := map[int][]int{} // programs, or -1
	for i, p := range parts {
		for k := range p.readers() {
			readers[k] = append(readers[k], i)
		}
	}
	for _, k := range taken {
		if len(readers[k]) != 1 || parts[readers[k][0]].program == nil {
			rest = append(rest, k)
			continue
		}
		p := parts[readers[k][0]]
		p.program.Take(slices.Index(p.in, k))
	}
	return rest
}

// readers yields the slots that the part reads, some perhaps twice.
func (p *part) readers() iter.Seq[int] {
	return func(yield func(slot int) bool) {
		lists := [][]int{p.in}
		for _, c := range p.code {
			lists = append(lists, c.in)
		}
		for _, slot := range slices.Concat(lists...) {
			if !yield(slot) {
				return
			}
		}
	}
}

// piece is the instructions that become a part.
type piece struct {
	code   []int // numbers of instructions
	lane   bool  // it is the node of a lane
	needed int   // number of the first node of a lane that needs it
	before int   // how many nodes of lanes it waits for
}

type cutter struct {
	*tape
	specs   []array.Spec // of the slots
	maker   []int        // per slot: the instruction that writes it, -1 for none
	waits   [][]uint64   // per instruction: set of the nodes of lanes that it waits for
	needed  []int        // per instruction: the first node of a lane that needs it
	readers [][]int      // per slot: instructions
}

func newCutter(t *tape, args []array.Spec) *cutter {
	c := &cutter{tape: t, specs: slices.Clone(args)}
	for _, x := range t.captured {
		c.specs = append(c.specs, x.Spec())
	}
	for range c.specs {
		c.maker = append(c.maker, -1)
	}
	lanes := 0
	for i, ins := range t.code {
		in := make([]array.Spec, len(ins.in))
		for k, slot := range ins.in {
			in[k] = c.specs[slot]
		}
		outs, _ := ins.prim.OutputSpecs(in) // which succeeded when it was recorded
		for _, s := range outs {
			c.specs = append(c.specs, s)
			c.maker = append(c.maker, i)
		}
		if isLaned(ins.prim) {
			lanes++
		}
	}
	c.readers = make([][]int, len(c.specs))
	for i, ins := range t.code {
		for _, slot := range ins.in {
			c.readers[slot] = append(c.readers[slot], i)
		}
	}
	c.follow(lanes)
	return c
}

func isLaned(p array.Primitive) bool {
	l, ok := p.(array.Laned)
	return ok && l.Lane() != nil
}

// follow finds what each instruction waits for, forwards, and what needs it first,
// backwards.
func (c *cutter) follow(lanes int) {
	c.waits, c.needed = make([][]uint64, len(c.code)), make([]int, len(c.code))
	numbers := make([]int, len(c.code)) // of the nodes of lanes
	next := 0
	for i, ins := range c.code {
		c.waits[i] = make([]uint64, (lanes+63)/64)
		for _, slot := range ins.in {
			maker := c.maker[slot]
			if maker < 0 {
				continue
			}
			for k, set := range c.waits[maker] {
				c.waits[i][k] |= set
			}
			if isLaned(c.code[maker].prim) {
				c.waits[i][numbers[maker]/64] |= 1 << (numbers[maker] % 64)
			}
		}
		c.needed[i] = lanes
		if isLaned(ins.prim) {
			numbers[i] = next
			c.needed[i] = next
			next++
		}
	}
	for i, ins := range slices.Backward(c.code) {
		for _, slot := range ins.in {
			if maker := c.maker[slot]; maker >= 0 && !isLaned(c.code[maker].prim) {
				c.needed[maker] = min(c.needed[maker], c.needed[i])
			}
		}
	}
}

// pieces groups the instructions and orders the groups: those that a node of a lane
// needs come before it, and among them those that wait for less come first.
func (c *cutter) pieces() []*piece {
	var all []*piece
	byKey := map[string]*piece{}
	for i, ins := range c.code {
		key := fmt.Sprint(c.needed[i], c.waits[i])
		p := byKey[key]
		if p == nil || isLaned(ins.prim) {
			p = &piece{needed: c.needed[i], lane: isLaned(ins.prim)}
			for _, set := range c.waits[i] {
				p.before += bits.OnesCount64(set)
			}
			all = append(all, p)
			if !p.lane {
				byKey[key] = p
			}
		}
		p.code = append(p.code, i)
	}
	slices.SortStableFunc(all, func(a, b *piece) int {
		if a.needed == b.needed && a.lane != b.lane {
			return cmp.Compare(truth(a.lane), truth(b.lane))
		}
		return cmp.Or(cmp.Compare(a.needed, b.needed), cmp.Compare(a.before, b.before))
	})
	return all
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// isPlain reports whether a piece computes nothing: its outputs share storage with
// its inputs, which a program's results cannot.
func (c *cutter) isPlain(p *piece) bool {
	return !slices.ContainsFunc(p.code, func(i int) bool {
		_, views := c.code[i].prim.(array.Viewer)
		_, forwards := c.code[i].prim.(array.Forwarder)
		return !views && !forwards
	})
}

// isInner reports whether only other parts read what a piece makes.
func (c *cutter) isInner(p *piece) bool {
	return !slices.ContainsFunc(p.code, func(i int) bool {
		first := c.code[i].out
		return slices.ContainsFunc(c.results, func(slot int) bool { return first <= slot && slot < first+c.code[i].outs })
	})
}

func (c *cutter) instructions(p *piece) []instruction {
	list := make([]instruction, len(p.code))
	for k, i := range p.code {
		list[k] = c.code[i]
	}
	return list
}

// program makes a program of a piece. It has the slots that are read elsewhere as
// results.
func (c *cutter) program(p *piece) (part, error) {
	var made part
	var captured []*array.Array
	var capturedSlots []int
	number := map[int]int{} // of a slot in the program
	outside := func(i int) bool { return !slices.Contains(p.code, i) }
	for _, i := range p.code {
		for _, slot := range c.code[i].in {
			if _, known := number[slot]; known || c.maker[slot] >= 0 && !outside(c.maker[slot]) {
				continue
			}
			number[slot] = 0
			if at := slot - c.arguments; at >= 0 && at < len(c.captured) {
				captured = append(captured, c.captured[at])
				capturedSlots = append(capturedSlots, slot)
				continue
			}
			made.in = append(made.in, slot)
		}
	}
	for k, slot := range slices.Concat(made.in, capturedSlots) {
		number[slot] = k
	}
	next := len(number)
	var code []array.Instruction
	var results []int
	for _, i := range p.code {
		in := make([]int, len(c.code[i].in))
		for k, slot := range c.code[i].in {
			in[k] = number[slot]
		}
		code = append(code, array.Instruction{Primitive: c.code[i].prim, In: in})
		for slot := c.code[i].out; slot < c.code[i].out+c.code[i].outs; slot++ {
			number[slot] = next
			if slices.Contains(c.results, slot) || slices.ContainsFunc(c.readers[slot], outside) {
				made.out = append(made.out, slot)
				results = append(results, next)
			}
			next++
		}
	}
	args := make([]array.Spec, len(made.in))
	for k, slot := range made.in {
		args[k] = c.specs[slot]
	}
	var err error
	made.program, err = array.NewProgram(args, captured, code, results)
	return made, err
}

// apply records the part with the values that are in the slots, and fills in more.
func (p *part) apply(slots []*array.Array) {
	if p.program == nil {
		for _, c := range p.code {
			in := make([]*array.Array, len(c.in))
			for i, slot := range c.in {
				in[i] = slots[slot]
			}
			p.put(slots, c.out, array.Apply(c.prim, in...)...)
		}
		return
	}
	p.program.Record(slots, p.in, p.out)
	if p.inner {
		for _, slot := range p.out {
			slots[slot].Temporary()
		}
	}
}

// put fills in slots. What only other parts read is used again once they have.
func (p *part) put(slots []*array.Array, first int, ys ...*array.Array) {
	for i, y := range ys {
		if p.inner {
			y.Temporary()
		}
		slots[first+i] = y
	}
}
