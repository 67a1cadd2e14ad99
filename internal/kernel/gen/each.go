package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// writer writes the instructions of one function.
type writer struct {
	element
	vector
	kept   map[uint64]VecVirtual // constants in registers throughout
	labels int

	streams bool       // results go to memory past the caches
	within  bool       // exp is asked for what has an ordinary result only
	ones    VecVirtual // of float64, where numbers are added by products
}

// label is a new one.
func (w *writer) label(name string) string {
	w.labels++
	return fmt.Sprintf("%s%d", name, w.labels)
}

// body computes one vector from as many as there are operands, which it may
// overwrite.
type body func(w *writer, x []VecVirtual) VecVirtual

// each writes an elementwise function of operands x and perhaps y: vectors, many
// at a time where that is told, and an incomplete one at the end by mask.
func each(e element, v vector, name, doc string, operands, many int, keep []float64, f body) {
	w, n, pointers := startEach(e, v, name, doc, operands)
	for _, c := range keep {
		w.keep(e.bits(c))
	}
	if many > 1 {
		w.streamed(n, pointers, many, f)
		w.loop("many", "one", many, n, pointers, f)
	}
	w.loop("one", "rest", 1, n, pointers, f)
	w.endEach(n, pointers, f)
}

// startEach begins an elementwise function and endEach ends it.
func startEach(e element, v vector, name, doc string, operands int) (w *writer, n Register, pointers []Register) {
	full := e.prefix + name + v.letter
	arguments := "z, x *" + e.goType
	if operands == 2 {
		arguments = "z, x, y *" + e.goType
	}
	TEXT(full, NOSPLIT, fmt.Sprintf("func(n int, %s)", arguments))
	Pragma("noescape")
	Doc(fmt.Sprintf("%s writes %s of n elements to z, which may be an operand.", full, doc))
	w = &writer{element: e, vector: v, kept: map[uint64]VecVirtual{}}
	n = Load(Param("n"), GP64())
	pointers = []Register{Load(Param("z"), GP64()), Load(Param("x"), GP64())}
	if operands == 2 {
		pointers = append(pointers, Load(Param("y"), GP64()))
	}
	return w, n, pointers
}

func (w *writer) endEach(n Register, pointers []Register, f body) {
	Label("rest")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	w.rest(n, pointers, f)
	Label("done")
	VZEROUPPER()
	RET()
}

// streamBytes is how many bytes of results go past the caches, as streamBytes of package
// kernel.
const streamBytes = 1 << 20

// streamed handles what is long, and written beside its operands, by stores that do not
// read what they replace. These want whole vectors.
func (w *writer) streamed(n Register, pointers []Register, many int, f body) {
	CMPQ(n, U32(streamBytes/w.size))
	JLT(LabelRef("many"))
	TESTQ(U32(w.bytes-1), pointers[0])
	JNZ(LabelRef("many"))
	for _, p := range pointers[1:] {
		CMPQ(p, pointers[0])
		JEQ(LabelRef("many"))
	}
	w.streams = true
	w.loop("stream", "streamed", many, n, pointers, f)
	w.streams = false
	Label("streamed")
	SFENCE()
}

func (w *writer) store(x VecVirtual, m Mem) {
	if w.streams {
		VMOVNTPS(x, m)
	} else {
		w.move(x, m)
	}
}

// loop handles vectors, some at a time, while that many are left.
func (w *writer) loop(label, next string, vectors int, n Register, pointers []Register, f body) {
	Label(label)
	CMPQ(n, U32(vectors*w.lanes(w.element)))
	JLT(LabelRef(next))
	for i := range vectors {
		x := make([]VecVirtual, len(pointers)-1)
		for j := range x {
			x[j] = w.new()
			w.move(Mem{Base: pointers[j+1], Disp: i * w.bytes}, x[j])
		}
		w.store(f(w, x), Mem{Base: pointers[0], Disp: i * w.bytes})
	}
	for _, p := range pointers {
		ADDQ(U32(vectors*w.bytes), p)
	}
	SUBQ(U32(vectors*w.lanes(w.element)), n)
	JMP(LabelRef(label))
}

// rest handles n elements, fewer than a vector.
func (w *writer) rest(n Register, pointers []Register, f body) {
	load, store, _ := w.mask(n)
	x := make([]VecVirtual, len(pointers)-1)
	for j := range x {
		x[j] = w.new()
		load(Mem{Base: pointers[j+1]}, x[j])
	}
	store(f(w, x), Mem{Base: pointers[0]})
}

// mask makes a mask for the first n elements of a vector and returns how to load
// and store by it. Elements that are not loaded are zero.
func (w *writer) mask(n Register) (load, store func(from, to Op), m *edgeMask) {
	if w.letter == "Z" {
		MOVQ(n, RCX)
		bits := GP64()
		MOVQ(U32(1), bits)
		SHLQ(CL, bits)
		DECQ(bits)
		k := K()
		KMOVW(bits.As32(), k)
		return func(from, to Op) { w.moveZeroed(from, k, to) }, func(from, to Op) { w.move(from, k, to) }, &edgeMask{k: k}
	}
	at := GP64()
	LEAQ(edge(), at)
	ADDQ(U32(32), at)
	bytes := GP64()
	MOVQ(n, bytes)
	SHLQ(U8(shift(w.element)), bytes)
	SUBQ(bytes, at)
	ones := w.new()
	VMOVUPS(Mem{Base: at}, ones)
	masked := func(from, to Op) { w.moveMasked(from, ones, to) }
	return masked, masked, &edgeMask{m: ones}
}

func shift(e element) uint64 { return map[int]uint64{4: 2, 8: 3}[e.size] }

// keep holds a constant in a register for the whole function.
func (w *writer) keep(bits uint64) {
	r := w.new()
	w.broadcast(constant(w.element, bits), r)
	w.kept[bits] = r
}

// pattern is a register with the given bits in each element.
func (w *writer) pattern(bits uint64) VecVirtual {
	if r, ok := w.kept[bits]; ok {
		return r
	}
	r := w.new()
	w.broadcast(constant(w.element, bits), r)
	return r
}

// number is a register with v in each element.
func (w *writer) number(v float64) VecVirtual { return w.pattern(w.element.bits(v)) }

func (w *writer) signBit() VecVirtual { return w.pattern(1 << (8*w.size - 1)) }

// do2 is a new register with the result of an instruction of two operands, in
// Intel's order.
func (w *writer) do2(f op, x VecVirtual, y Op) VecVirtual {
	r := w.new()
	f(y, x, r)
	return r
}

// rangeOf is extremum by an instruction of AVX-512 that orders zeros. With one NaN
// it gives the other operand, so there the sum, which is NaN, replaces it.
func (w *writer) rangeOf(greater bool, x, y VecVirtual) VecVirtual {
	how := uint64(0b0100) // the lesser, with its own sign
	if greater {
		how = 0b0101
	}
	r, k := w.new(), K()
	w.rangeZ(U8(how), y, x, r)
	w.compare(U8(isUnordered), y, x, k)
	w.add(y, x, k, r)
	return r
}

// where is yes where a comparison of a and b holds, and elsewhere no.
func (w *writer) where(predicate uint8, a, b, yes, no VecVirtual) VecVirtual {
	r := w.new()
	if w.letter == "Z" {
		k := K()
		w.compare(U8(predicate), b, a, k)
		w.move(no, r)
		w.move(yes, k, r)
		return r
	}
	m := w.new()
	w.compare(U8(predicate), b, a, m)
	w.blendY(m, yes, no, r)
	return r
}

// Predicates of comparisons.
const (
	isEqual      = 0
	isUnordered  = 3
	isNotAtMost  = 6 // greater or not a number
	isLess       = 17
	isNotAtLeast = 25 // less or not a number
	isGreater    = 30

	isNoLessUnsigned = 5 // of integers
)

// timesPlus makes r·x + c of r.
func (w *writer) timesPlus(r, x VecVirtual, c float64) {
	if _, ok := w.kept[w.element.bits(c)]; !ok && w.letter == "Z" {
		w.fma213Broadcast(constant(w.element, w.element.bits(c)), x, r)
		return
	}
	w.fma213(w.operand(c), x, r)
}

// polynomial is c[0] + c[1]·x + ..., by Horner's rule; a long one as its even and
// its odd terms apart, since each step waits for the one before.
func (w *writer) polynomial(x VecVirtual, c []float64) VecVirtual {
	if len(c) < 7 {
		return w.horner(x, c)
	}
	return w.polynomialOf(x, w.do2(w.mul, x, x), c)
}

// polynomialOf is a long polynomial in x, whose square is known.
func (w *writer) polynomialOf(x, square VecVirtual, c []float64) VecVirtual {
	var even, odd []float64
	for i, v := range c {
		if i%2 == 0 {
			even = append(even, v)
		} else {
			odd = append(odd, v)
		}
	}
	r := w.horner(square, odd)
	w.fma213(w.horner(square, even), x, r)
	return r
}

func (w *writer) horner(x VecVirtual, c []float64) VecVirtual {
	r := w.new()
	w.move(w.operand(c[len(c)-1]), r)
	for i := len(c) - 2; i >= 0; i-- {
		w.timesPlus(r, x, c[i])
	}
	return r
}
