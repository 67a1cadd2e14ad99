package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// rows writes the whole-row functions.
func rows() {
	for _, v := range []vector{ymm, zmm} {
		for _, e := range []element{single, double} {
			softmax(e, v)
			expSum(e, v)
			normalize(e, v)
		}
		squares(double, v)
		moments(single, v)
	}
}

// softmax writes the whole-row function.
func softmax(e element, v vector) {
	w := start(e, v, e.prefix+"Softmax"+v.letter, fmt.Sprintf("func(n int, y, x *%s)", e.goType),
		"writes exp(x-max) / sum of a row of n > 0 elements to y: exponentials within 2 units in the last place, added in float64.")
	n, y, x := Load(Param("n"), GP64()), Load(Param("y"), GP64()), Load(Param("x"), GP64())
	greatest := w.greatest(n, x)
	s := w.exponentials(n, greatest, x, y)
	scale := w.inverse(s.total())
	w.overRow("scale", n, []Register{y, y}, nil, func(vectors []VecVirtual, _ *edgeMask) {
		vectors[1] = w.do2(w.mul, vectors[0], scale)
	})
	VZEROUPPER()
	RET()
}

// expSum writes the first two thirds of softmax, without the storing.
func expSum(e element, v vector) {
	w := start(e, v, e.prefix+"ExpSum"+v.letter, fmt.Sprintf("func(n int, x *%[1]s) (greatest %[1]s, sum float64)", e.goType),
		"is the greatest of n > 0 elements and the sum of exp(x-greatest), of exponentials within 2 units in the last place, added in float64.")
	n, x := Load(Param("n"), GP64()), Load(Param("x"), GP64())
	greatest := w.greatest(n, x)
	Store(greatest.AsX(), ReturnIndex(0))
	s := w.exponentials(n, greatest, x)
	Store(s.total(), ReturnIndex(1))
	VZEROUPPER()
	RET()
}

// greatest is the greatest element of a row in every element. It passes over NaN,
// whose exponential is NaN.
func (w *writer) greatest(n, x Register) VecVirtual {
	var bests []VecVirtual
	if w.letter == "Z" {
		kept := [][]float64{w.coefficients().exp}
		if w.size == 4 { // that of float64 leaves no registers for more
			low, high := w.limits()
			kept = append(kept, w.expParts(), []float64{low, high})
		}
		for _, c := range keepers(w.vector, 1, kept...) {
			w.keep(w.bits(c))
		}
		bests = []VecVirtual{w.number(math.Inf(-1))}
	} else {
		for range 4 {
			bests = append(bests, w.number(math.Inf(-1)))
		}
	}
	greatest := bests[0]
	many := func(r *rowWalk) {
		r.some("max", len(bests), nil, func(x []VecVirtual) {
			for i := range x {
				w.max(bests[i], x[i], bests[i])
			}
		})
	}
	if len(bests) == 1 {
		many = nil
	}
	w.overRow("max", n, []Register{x}, many, func(vectors []VecVirtual, m *edgeMask) {
		if m != nil {
			vectors[0] = w.fill(vectors[0], m, w.number(math.Inf(-1)))
		}
		w.max(greatest, vectors[0], greatest)
	})
	for _, b := range bests[1:] {
		w.max(greatest, b, greatest)
	}
	return w.spread(greatest)
}

// exponentials adds up those of a row and stores them at the second pointer, where
// there is one.
func (w *writer) exponentials(n Register, greatest VecVirtual, pointers ...Register) lanes {
	s := lanes(zeros(w.vector, 64/w.bytes))
	if w.size == 8 {
		s = lanes{YMM()}
		VXORPS(s[0], s[0], s[0])
	}
	f := func(vectors []VecVirtual, m *edgeMask) {
		e := w.expBody([]VecVirtual{w.do2(w.sub, vectors[0], greatest)})
		if m != nil {
			e = w.fill(e, m, w.pattern(0))
		}
		w.addVector(s, e)
		vectors[1] = e
	}
	var many func(r *rowWalk)
	if w.letter == "Y" {
		many = func(r *rowWalk) { w.exponentialsTogether(r, greatest, s, f) }
	}
	w.overRow("exp", n, pointers, many, f)
	return s
}

// exponentialsTogether takes several vectors at a time, as long as none of them has an
// element for which slow is needed.
func (w *writer) exponentialsTogether(r *rowWalk, greatest VecVirtual, s lanes, slow func(vectors []VecVirtual, m *edgeMask)) {
	r.some("exp", map[int]int{4: 3, 8: 2}[w.size], slow, func(x []VecVirtual) {
		operands := make([][]VecVirtual, len(x))
		for i := range x {
			w.sub(greatest, x[i], x[i])
			operands[i] = x[i : i+1]
		}
		w.jumpIfAny(r.slow(), operands, func(d VecVirtual) VecVirtual {
			m := w.new()
			w.compare(U8(isNotAtLeast), w.operand(-w.ordinaryLimit()), d, m)
			return m
		})
		for i, e := range w.together(func(w *writer, x []VecVirtual) VecVirtual { return w.expWithin(x[0]) }, operands...) {
			w.addVector(s, e)
			x[i] = e
		}
	})
}

// addVector adds a vector of float32 in eight lanes, in one or two registers, or
// one of float64 in four.
func (w *writer) addVector(s lanes, x VecVirtual) {
	if w.size == 4 {
		for i := range 2 {
			wide := w.new()
			w.widened(x, i, wide)
			VADDPD(wide, s[i*len(s)/2], s[i*len(s)/2])
		}
		return
	}
	if w.letter == "Y" {
		VADDPD(x, s[0], s[0])
		return
	}
	high := YMM()
	VEXTRACTF64X4(U8(1), x, high)
	VADDPD(x.AsY(), s[0], s[0])
	VADDPD(high, s[0], s[0])
}

// squares writes the sums of the squares of distances from the mean.
func squares(e element, v vector) {
	w := start(e, v, e.prefix+"Squares"+v.letter, fmt.Sprintf("func(n int, x *%s, mean float64, sums *float64) float64", e.goType),
		"writes the sums of (x-mean)² over n elements, a multiple of 32, in 32 lanes to sums, and returns what these add up to.")
	n, x := Load(Param("n"), GP64()), Load(Param("x"), GP64())
	mean, s := w.everywhere("mean"), newLanes(v)
	Label("lanes")
	CMPQ(n, U32(laneCount))
	JLT(LabelRef("done"))
	for i := range s {
		d := w.wideFrom(Mem{Base: x, Disp: i * v.bytes / 8 * e.size})
		VSUBPD(mean, d, d)
		VFMADD231PD(d, d, s[i])
	}
	ADDQ(U32(laneCount*e.size), x)
	SUBQ(U32(laneCount), n)
	JMP(LabelRef("lanes"))
	Label("done")
	to := Load(Param("sums"), GP64())
	for i, r := range s {
		VMOVUPD(r, Mem{Base: to, Disp: i * v.bytes})
	}
	w.giveBack(s.total())
}

// moments writes the sums of distances from a number and of their squares.
func moments(e element, v vector) {
	w := start(e, v, e.prefix+"Moments"+v.letter, fmt.Sprintf("func(n int, x *%s, from float64, sums *float64) (sum, square float64)", e.goType),
		"writes the sums of x-from over n elements, a multiple of 16, in 16 lanes to sums unless that is nil, then those of (x-from)², and returns what these add up to.")
	const count = 16
	n, x := Load(Param("n"), GP64()), Load(Param("x"), GP64())
	from := w.everywhere("from")
	w.addByProducts()
	sums, squares := lanes(zeros(v, count*8/v.bytes)), lanes(zeros(v, count*8/v.bytes))
	Label("lanes")
	CMPQ(n, U32(count))
	JLT(LabelRef("done"))
	for i := range sums {
		d := w.wideFrom(Mem{Base: x, Disp: i * v.bytes / 8 * e.size})
		VSUBPD(from, d, d)
		if w.ones != nil {
			VFMADD231PD(d, w.ones, sums[i])
		} else {
			VADDPD(d, sums[i], sums[i])
		}
		VFMADD231PD(d, d, squares[i])
	}
	ADDQ(U32(count*e.size), x)
	SUBQ(U32(count), n)
	JMP(LabelRef("lanes"))
	Label("done")
	to := Load(Param("sums"), GP64())
	TESTQ(to, to)
	JZ(LabelRef("total"))
	for i := range sums {
		VMOVUPD(sums[i], Mem{Base: to, Disp: i * v.bytes})
		VMOVUPD(squares[i], Mem{Base: to, Disp: count*8 + i*v.bytes})
	}
	Label("total")
	Store(sums.total(), ReturnIndex(0))
	Store(squares.total(), ReturnIndex(1))
	VZEROUPPER()
	RET()
}

// normalize writes what scales and adds a number.
func normalize(e element, v vector) {
	w := start(e, v, e.prefix+"Normalize"+v.letter, fmt.Sprintf("func(n int, y, x *%s, scale, shift float64)", e.goType),
		fmt.Sprintf("writes x·scale + shift, computed in float64 and rounded once before the last rounding, of n elements, a multiple of %d, to y.", 8))
	n, y, x := Load(Param("n"), GP64()), Load(Param("y"), GP64()), Load(Param("x"), GP64())
	scale, shift := w.everywhere("scale"), w.everywhere("shift")
	for _, many := range []int{32, 8} {
		label := fmt.Sprintf("elements%d", many)
		Label(label)
		CMPQ(n, U32(many))
		JLT(LabelRef(label + "Done"))
		for i := 0; i < many; i += v.lanes(double) {
			d := w.wideFrom(Mem{Base: x, Disp: i * e.size})
			VFMADD213PD(shift, scale, d)
			w.storeWide(d, Mem{Base: y, Disp: i * e.size})
		}
		ADDQ(U32(many*e.size), x)
		ADDQ(U32(many*e.size), y)
		SUBQ(U32(many), n)
		JMP(LabelRef(label))
		Label(label + "Done")
	}
	VZEROUPPER()
	RET()
}

// everywhere is a parameter of float64 in every element.
func (w *writer) everywhere(name string) VecVirtual {
	x, r := Load(Param(name), XMM()), w.new()
	VBROADCASTSD(x, r)
	return r
}

// wideFrom is elements at m as float64.
func (w *writer) wideFrom(m Mem) VecVirtual {
	r := w.new()
	if w.size == 8 {
		VMOVUPD(m, r)
	} else {
		VCVTPS2PD(m, r)
	}
	return r
}

// storeWide rounds float64 to the element's type.
func (w *writer) storeWide(x VecVirtual, m Mem) {
	switch {
	case w.size == 8:
		VMOVUPD(x, m)
	case w.letter == "Z":
		r := YMM()
		VCVTPD2PS(x, r)
		VMOVUPS(r, m)
	default:
		r := XMM()
		VCVTPD2PSY(x, r)
		VMOVUPS(r, m)
	}
}

// inverse is 1/x of a number of float64, rounded, in every element.
func (w *writer) inverse(x VecVirtual) VecVirtual {
	one, r := XMM(), w.new()
	VMOVSD(constant(double, double.bits(1)), one)
	VDIVSD(x, one, one)
	if w.size == 4 {
		VCVTSD2SS(one, one, one)
	}
	w.broadcast(one, r)
	return r
}

// spread is the greatest element of x, none of which is NaN, in every element.
func (w *writer) spread(x VecVirtual) VecVirtual {
	y := YMM()
	if w.letter == "Z" {
		VEXTRACTF64X4(U8(1), x, y)
		w.max(y, x.AsY(), y)
	} else {
		VMOVUPS(x, y)
	}
	half, other := XMM(), XMM()
	VEXTRACTF128(U8(1), y, half)
	w.max(half, y.AsX(), half)
	VPERMILPS(U8(0b01_00_11_10), half, other)
	w.max(other, half, half)
	if w.size == 4 {
		VPERMILPS(U8(0b10_11_00_01), half, other)
		w.max(other, half, half)
	}
	r := w.new()
	w.broadcast(half, r)
	return r
}

// edgeMask is the mask of an incomplete vector.
type edgeMask struct {
	k Register   // AVX-512
	m VecVirtual // AVX2
}

// fill is x where the mask is set, and elsewhere other.
func (w *writer) fill(x VecVirtual, m *edgeMask, other VecVirtual) VecVirtual {
	r := w.new()
	if w.letter == "Z" {
		w.move(other, r)
		w.move(x, m.k, r)
		return r
	}
	w.blendY(m.m, x, other, r)
	return r
}

// rowWalk is a walk over a row.
type rowWalk struct {
	w        *writer
	name     string
	left, at Register
	pointers []Register
}

func (r *rowWalk) address(i, vector int) Mem {
	return Mem{Base: r.pointers[i], Index: r.at, Scale: uint8(r.w.size), Disp: vector * r.w.bytes}
}

func (r *rowWalk) step(vectors int) {
	count := vectors * r.w.lanes(r.w.element)
	ADDQ(U32(count), r.at)
	SUBQ(U32(count), r.left)
}

// one handles one vector.
func (r *rowWalk) one(f func(vectors []VecVirtual, m *edgeMask)) {
	x := []VecVirtual{r.w.new(), nil}
	r.w.move(r.address(0, 0), x[0])
	f(x, nil)
	if len(r.pointers) > 1 {
		r.w.move(x[1], r.address(1, 0))
	}
	r.step(1)
}

func (r *rowWalk) slow() string { return r.name + "Slow" }

// some handles so many vectors at a time, as long as there are; f leaves what is stored
// in their place. It may jump to where slow takes them one by one.
func (r *rowWalk) some(name string, vectors int, slow func(vectors []VecVirtual, m *edgeMask), f func(x []VecVirtual)) {
	Label(name + "Some")
	CMPQ(r.left, U32(vectors*r.w.lanes(r.w.element)))
	JLT(LabelRef(name))
	x := make([]VecVirtual, vectors)
	for i := range x {
		x[i] = r.w.new()
		r.w.move(r.address(0, i), x[i])
	}
	f(x)
	if len(r.pointers) > 1 {
		for i := range x {
			r.w.move(x[i], r.address(1, i))
		}
	}
	r.step(vectors)
	JMP(LabelRef(name + "Some"))
	if slow != nil {
		count := GP64()
		Label(r.slow())
		MOVQ(U32(vectors), count)
		Label(name + "SlowOne")
		r.one(slow)
		DECQ(count)
		JNZ(LabelRef(name + "SlowOne"))
		JMP(LabelRef(name + "Some"))
	}
}

// overRow walks n elements from the first pointer on. f computes what is stored
// at the second pointer, where there is one. Before, many may handle some vectors at a
// time.
func (w *writer) overRow(name string, n Register, pointers []Register, many func(r *rowWalk), f func(vectors []VecVirtual, m *edgeMask)) {
	r := &rowWalk{w: w, name: name, left: GP64(), at: GP64(), pointers: pointers}
	MOVQ(n, r.left)
	XORQ(r.at, r.at)
	if many != nil {
		many(r)
	}
	Label(name)
	CMPQ(r.left, U32(w.lanes(w.element)))
	JLT(LabelRef(name + "Rest"))
	r.one(f)
	JMP(LabelRef(name))
	Label(name + "Rest")
	TESTQ(r.left, r.left)
	JZ(LabelRef(name + "Done"))
	load, store, m := w.mask(r.left)
	x := []VecVirtual{w.new(), nil}
	load(r.address(0, 0), x[0])
	f(x, m)
	if len(pointers) > 1 {
		store(x[1], r.address(1, 0))
	}
	Label(name + "Done")
}

// start begins a function.
func start(e element, v vector, name, signature, doc string) *writer {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(name + " " + doc)
	return &writer{element: e, vector: v, kept: map[uint64]VecVirtual{}}
}

// giveBack ends a function that returns a float64.
func (w *writer) giveBack(x VecVirtual) {
	Store(x, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
