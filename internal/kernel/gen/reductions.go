package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// reductions writes the sums and extrema of rows, and what folds rows into a row.
func reductions() {
	for _, v := range []vector{ymm, zmm} {
		for _, e := range []element{single, double} {
			sum(e, v)
			sums(e, v)
			sumColumns(e, v)
			for _, greater := range []bool{true, false} {
				extremumOf(e, v, greater)
				extremumColumns(e, v, greater)
			}
		}
	}
}

// Sums are taken in 32 lanes of float64, element i in lane i%32, in four or eight
// registers.
type lanes []VecVirtual

const (
	laneCount = 32
	blockSize = 1024
)

func newLanes(v vector) lanes { return zeros(v, laneCount*8/v.bytes) }

// add adds as many elements at m as there are lanes.
func (s lanes) add(w *writer, m Mem) {
	for i := range s {
		w.addWide(m.Offset(i*w.bytes/8*w.size), s[i])
	}
}

// addWide adds elements as float64.
func (w *writer) addWide(m Mem, s VecVirtual) {
	if w.size == 8 {
		VADDPD(m, s, s)
		return
	}
	wide := w.new()
	VCVTPS2PD(m, wide)
	if w.ones != nil {
		VFMADD231PD(wide, w.ones, s)
	} else {
		VADDPD(wide, s, s)
	}
}

// addByProducts has float32 added as float64 by fused multiply-adds with one, which have units
// of their own on processors of AVX2, where additions and conversions share some.
func (w *writer) addByProducts() {
	if w.size == 4 && w.letter == "Y" {
		w.ones = YMM()
		VBROADCASTSD(constant(double, double.bits(1)), w.ones)
	}
}

// widened is half a vector of float32 as float64.
func (w *writer) widened(x VecVirtual, half int, wide VecVirtual) {
	if w.letter == "Z" {
		part := YMM()
		VEXTRACTF64X4(U8(half), x, part)
		VCVTPS2PD(part, wide)
		return
	}
	part := XMM()
	VEXTRACTF128(U8(half), x, part)
	VCVTPS2PD(part, wide)
}

// total adds the lanes in halves. It overwrites them.
func (s lanes) total() VecVirtual {
	for len(s) > 1 {
		middle := len(s) / 2
		for i := range middle {
			VADDPD(s[middle+i], s[i], s[i])
		}
		s = s[:middle]
	}
	four := s[0]
	if four.Size() == 64 {
		high := YMM()
		VEXTRACTF64X4(U8(1), four, high)
		VADDPD(high, four.AsY(), high)
		four = high
	}
	two, one := XMM(), XMM()
	VEXTRACTF128(U8(1), four, two)
	VADDPD(two, four.AsX(), two)
	VUNPCKHPD(two, two, one)
	VADDSD(one, two, one)
	return one
}

// sum writes the sum of the last block of a row.
func sum(e element, v vector) {
	w := start(e, v, e.prefix+"Sum"+v.letter, fmt.Sprintf("func(n int, x *%s) float64", e.goType),
		"is the sum of n elements, added up in 32 lanes of float64 as by sumRow of a block.")
	w.addByProducts()
	n, x := Load(Param("n"), GP64()), Load(Param("x"), GP64())
	s := newLanes(v)
	Label("lanes")
	CMPQ(n, U32(laneCount))
	JLT(LabelRef("rest"))
	s.add(w, Mem{Base: x})
	ADDQ(U32(laneCount*e.size), x)
	SUBQ(U32(laneCount), n)
	JMP(LabelRef("lanes"))
	Label("rest")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	w.addRest(s, n, x)
	Label("done")
	w.giveBack(s.total())
}

// addRest adds fewer elements than there are lanes, one to a lane, through a copy
// on the stack that zeros fill up.
func (w *writer) addRest(s lanes, n, x Register) {
	copied := AllocLocal(laneCount * w.size)
	zero := YMM()
	VXORPS(zero, zero, zero)
	for i := 0; i < laneCount*w.size; i += 32 {
		VMOVUPS(zero, copied.Offset(i))
	}
	to, word := GP64(), GP64()
	LEAQ(copied, to)
	Label("copy")
	if w.size == 4 {
		MOVL(Mem{Base: x}, word.As32())
		MOVL(word.As32(), Mem{Base: to})
	} else {
		MOVQ(Mem{Base: x}, word)
		MOVQ(word, Mem{Base: to})
	}
	ADDQ(U32(w.size), x)
	ADDQ(U32(w.size), to)
	DECQ(n)
	JNZ(LabelRef("copy"))
	s.add(w, copied)
}

// sums writes the sums of whole blocks.
func sums(e element, v vector) {
	w := start(e, v, e.prefix+"Sums"+v.letter, fmt.Sprintf("func(blocks int, x *%s, y *float64)", e.goType),
		"writes the sum of each of blocks > 0 whole blocks to y.")
	blocks, x, y := Load(Param("blocks"), GP64()), Load(Param("x"), GP64()), Load(Param("y"), GP64())
	n := GP64()
	w.addByProducts()
	Label("block")
	s := newLanes(v)
	MOVQ(U32(blockSize/laneCount/2), n)
	Label("lanes")
	s.add(w, Mem{Base: x})
	s.add(w, Mem{Base: x, Disp: laneCount * e.size})
	ADDQ(U32(2*laneCount*e.size), x)
	DECQ(n)
	JNZ(LabelRef("lanes"))
	VMOVSD(s.total(), Mem{Base: y})
	ADDQ(U32(8), y)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// nameOf is Max or Min.
func nameOf(greater bool) string {
	if greater {
		return "Max"
	}
	return "Min"
}

// extremumOf writes the extremum of a row. NaN is looked for apart, in pairs.
func extremumOf(e element, v vector, greater bool) {
	w := start(e, v, e.prefix+nameOf(greater)+"Of"+v.letter, fmt.Sprintf("func(n int, x *%[1]s) (r %[1]s, nan bool)", e.goType),
		"is the extremum of n > 0 elements as of the built-in, and whether any is NaN, in which case r means nothing.")
	n, x := Load(Param("n"), GP64()), Load(Param("x"), GP64())
	first := v.new()
	w.broadcast(Mem{Base: x}, first)
	const many = 4
	var best [many]VecVirtual
	for i := range best {
		best[i] = v.new()
		w.move(first, best[i])
	}
	seen := w.newNaNs(first)
	lanes := v.lanes(e)
	for _, count := range []int{many, 1} {
		label := fmt.Sprintf("vectors%d", count)
		Label(label)
		CMPQ(n, U32(count*lanes))
		JLT(LabelRef(label + "Done"))
		var row [many]VecVirtual
		for i := range count {
			row[i] = v.new()
			w.move(Mem{Base: x, Disp: i * v.bytes}, row[i])
			w.better(greater, best[i], row[i])
		}
		for i := 0; i < count; i += 2 {
			seen.look(row[i], row[min(i+1, count-1)])
		}
		ADDQ(U32(count*v.bytes), x)
		SUBQ(U32(count*lanes), n)
		JMP(LabelRef(label))
		Label(label + "Done")
	}
	TESTQ(n, n)
	JZ(LabelRef("done"))
	load, _, m := w.mask(n)
	rest := v.new()
	load(Mem{Base: x}, rest)
	rest = w.fill(rest, m, first)
	w.better(greater, best[0], rest)
	seen.look(rest, rest)
	Label("done")
	for i := 1; i < many; i++ {
		w.better(greater, best[0], best[i])
	}
	Store(w.acrossExtremum(greater, best[0]), ReturnIndex(0))
	Store(seen.any(), ReturnIndex(1))
	VZEROUPPER()
	RET()
}

// better leaves the extremum of two numbers in a.
func (w *writer) better(greater bool, a VecVirtual, b Op) {
	f, join := w.min, w.or
	if greater {
		f, join = w.max, w.and
	}
	if a.Size() == 64 {
		how := uint64(0b0100)
		if greater {
			how = 0b0101
		}
		w.rangeZ(U8(how), b, a, a)
		return
	}
	other := like(a)
	f(a, b, other)
	f(b, a, a)
	join(other, a, a)
}

// acrossExtremum is the extremum of the elements of x.
func (w *writer) acrossExtremum(greater bool, x VecVirtual) VecVirtual {
	y := YMM()
	if w.letter == "Z" {
		VEXTRACTF64X4(U8(1), x, y)
		w.better(greater, y, x.AsY())
	} else {
		VMOVUPS(x, y)
	}
	r, other := XMM(), XMM()
	VEXTRACTF128(U8(1), y, r)
	w.better(greater, r, y.AsX())
	VUNPCKHPD(r, r, other)
	w.better(greater, r, other)
	if w.size == 4 {
		VMOVSHDUP(r, other)
		w.better(greater, r, other)
	}
	return r
}

// like is a new register as wide as x.
func like(x VecVirtual) VecVirtual {
	switch x.Size() {
	case 16:
		return XMM()
	case 32:
		return YMM()
	}
	return ZMM()
}

// nans remembers whether there was one.
type nans struct {
	w *writer
	k Register   // AVX-512
	m VecVirtual // AVX2
}

func (w *writer) newNaNs(x VecVirtual) nans {
	s := nans{w: w}
	if w.letter == "Z" {
		s.k = K()
		w.compare(U8(isUnordered), x, x, s.k)
	} else {
		s.m = YMM()
		w.compare(U8(isUnordered), x, x, s.m)
	}
	return s
}

// look looks at two vectors at once.
func (s nans) look(a, b VecVirtual) {
	if s.k != nil {
		k := K()
		s.w.compare(U8(isUnordered), b, a, k)
		KORW(k, s.k, s.k)
		return
	}
	m := YMM()
	s.w.compare(U8(isUnordered), b, a, m)
	VORPS(m, s.m, s.m)
}

func (s nans) any() Register {
	r := GP8()
	if s.k != nil {
		KORTESTW(s.k, s.k)
	} else {
		VPTEST(s.m, s.m)
	}
	SETNE(r)
	return r
}

// sumColumns writes what adds rows to a row of sums.
func sumColumns(e element, v vector) {
	w := start(e, v, e.prefix+"SumColumns"+v.letter, fmt.Sprintf("func(n, rows int, x *%s, stride int, acc *float64, ahead int)", e.goType),
		"adds n elements, a multiple of 8, of each of rows > 0 rows, stride elements apart, in that order, to acc.")
	w.addByProducts()
	columns(w, double, 8, func(x Mem, acc VecVirtual) { w.addWide(x, acc) })
}

// extremumColumns writes what takes the extremum of a row and others. NaN is looked for
// apart, in pairs of rows.
func extremumColumns(e element, v vector, greater bool) {
	w := start(e, v, e.prefix+nameOf(greater)+"Columns"+v.letter, fmt.Sprintf("func(n, rows int, x *%[1]s, stride int, acc *%[1]s, ahead int) (nan bool)", e.goType),
		fmt.Sprintf("takes the extremum of n elements, a multiple of %d, of acc and of each of rows > 0 rows, stride elements apart. If any of the rows has a NaN, which it tells, acc means nothing.", v.lanes(e)))
	number := v.new()
	VXORPS(number.AsY(), number.AsY(), number.AsY())
	seen := w.newNaNs(number)
	var last VecVirtual
	columnsOf(w, "x", e, v.lanes(e), func(int) {}, func(k, of int, x Mem, acc VecVirtual) {
		row := v.new()
		w.move(x, row)
		w.better(greater, acc, row)
		switch {
		case k%2 == 1:
			seen.look(last, row)
		case k == of-1:
			seen.look(row, row)
		}
		last = row
	})
	Store(seen.any(), ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// columns folds rows, four at a time, into acc of elements of type to. The rows
// are walked as they lie, which memory is quickest at, and acc stays in the first
// cache. The number of columns is a multiple of unit. What lies ahead is fetched
// meanwhile: rows often lie in pages of their own, at whose end the processor
// stops to look ahead itself.
func columns(w *writer, to element, unit int, fold func(x Mem, acc VecVirtual)) {
	columnsOf(w, "x", to, unit, func(int) {}, func(_, _ int, x Mem, acc VecVirtual) { fold(x, acc) })
	VZEROUPPER()
	RET()
}

// columnsOf is columns with the name of the rows, and what begins some of them. It leaves
// the end of the function to its caller.
func columnsOf(w *writer, name string, to element, unit int, begin func(rows int), fold func(row, of int, x Mem, acc VecVirtual)) {
	n, rows, x := Load(Param("n"), GP64()), Load(Param("rows"), GP64()), Load(Param(name), GP64())
	down, acc := stride(w.element, "stride"), Load(Param("acc"), GP64())
	for _, count := range w.rowsAtOnce() {
		label := fmt.Sprintf("rows%d", count)
		Label(label)
		CMPQ(rows, U32(count))
		JLT(LabelRef(label + "Done"))
		if count == atOnceNear {
			ahead := Load(Param("ahead"), GP64())
			TESTQ(ahead, ahead)
			JNZ(LabelRef(label + "Done"))
		}
		begin(count)
		w.foldRows(label, n, x, down, acc, to, unit, count, fold)
		for range count {
			ADDQ(down, x)
		}
		SUBQ(U32(count), rows)
		JMP(LabelRef(label))
		Label(label + "Done")
	}
}

// atOnceNear is how many rows are folded at a time where all are in the second cache, from
// which that many can be read at once.
const atOnceNear = 8

// rowsAtOnce is of AVX2 for sums of float32, which move two bytes of sums for one of a row.
func (w *writer) rowsAtOnce() []int {
	if w.ones != nil {
		return []int{atOnceNear, 4, 1}
	}
	return []int{4, 1}
}

// foldRows folds count rows.
func (w *writer) foldRows(name string, n, x, down, acc Register, to element, unit, count int, fold func(row, of int, x Mem, acc VecVirtual)) {
	left, at := GP64(), GP64()
	MOVQ(n, left)
	MOVQ(acc, at)
	ahead := stride(w.element, "ahead")
	first := make([]Register, min(count, 4))
	for i := range first {
		first[i] = GP64()
		if i == 0 {
			MOVQ(x, first[i])
		} else {
			LEAQ(Mem{Base: first[i-1], Index: down, Scale: 1}, first[i])
		}
	}
	from := make([]Mem, count)
	for i := range from {
		from[i] = Mem{Base: first[i%4]}
		if i >= 4 {
			from[i].Index, from[i].Scale = down, 4
		}
	}
	// To fetch what is near already costs as much as to load it.
	loops := []struct {
		label string
		many  int
		fetch bool
	}{{name + "Near", 4 * unit, false}, {name + "Far", 4 * unit, true}, {name + "One", unit, false}}
	if count == 1 || count == atOnceNear {
		loops = append(loops[:1], loops[2])
	} else {
		TESTQ(ahead, ahead)
		JNZ(LabelRef(name + "Far"))
	}
	for _, l := range loops {
		Label(l.label)
		CMPQ(left, U32(l.many))
		if l.many > unit {
			JLT(LabelRef(name + "One"))
		} else {
			JLT(LabelRef(l.label + "Done"))
		}
		w.foldColumns(from, at, to, l.many, func(row Mem, disp int) {
			if l.fetch {
				PREFETCHT1(Mem{Base: row.Base, Index: ahead, Scale: 1, Disp: disp})
			}
		}, fold)
		for _, row := range first {
			ADDQ(U32(l.many*w.element.size), row)
		}
		ADDQ(U32(l.many*to.size), at)
		SUBQ(U32(l.many), left)
		JMP(LabelRef(l.label))
	}
	Label(name + "OneDone")
}

// foldColumns folds so many columns of some rows.
func (w *writer) foldColumns(from []Mem, at Register, to element, many int, fetch func(row Mem, disp int), fold func(row, of int, x Mem, acc VecVirtual)) {
	for i := 0; i < many; i += w.bytes / to.size {
		r := w.new()
		VMOVUPS(Mem{Base: at, Disp: i * to.size}, r)
		for k, row := range from {
			fold(k, len(from), row.Offset(i*w.element.size), r)
			if i*w.element.size%64 == 0 {
				fetch(row, i*w.element.size)
			}
		}
		VMOVUPS(r, Mem{Base: at, Disp: i * to.size})
	}
}
