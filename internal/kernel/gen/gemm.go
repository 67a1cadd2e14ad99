package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// gemm writes the tiles of matrix products. The largest fills the registers with
// sums; those of a third and two thirds of its rows and half its columns serve
// edges.
func gemm() {
	for _, e := range []element{single, double} {
		for _, v := range []struct {
			vector
			rows int
		}{{ymm, 6}, {zmm, 12}} {
			for third := 1; third <= 3; third++ {
				for columns := 1; columns <= 2; columns++ {
					tile(e, v.vector, third*v.rows/3, columns)
				}
			}
		}
	}
}

// tile writes a function that computes a block of C = A·B, or adds it to C. Each
// element is one chain of fused multiply-adds from zero in the order of k, so
// tiles of every size and vectors of every width give the same bits.
func tile(e element, v vector, rows, vectors int) {
	columns := vectors * v.lanes(e)
	name := fmt.Sprintf("%sgemm%s%dx%d", e.prefix, v.letter, rows, columns)
	TEXT(name, NOSPLIT, fmt.Sprintf("func(k int, a *%[1]s, aRow, aStep int, b *%[1]s, bStep int, c *%[1]s, cRow int, add bool, count, aNext int)", e.goType))
	Pragma("noescape")
	Doc(
		fmt.Sprintf("%s writes the product of a block of %d rows and one of %d columns, k deep and k > 0, to c or adds", name, rows, columns),
		"it to c. Distances are in elements: aRow from row to row of a and cRow of c, aStep and bStep from one",
		"step of k to the next. Elements of a row of b and c lie side by side. It does so for count > 0 blocks",
		"below one another, those of a aNext apart.",
	)
	first, c, count := Load(Param("a"), GP64()), Load(Param("c"), GP64()), Load(Param("count"), GP64())
	Label("block")
	k := Load(Param("k"), GP64())
	a := startRows(first, stride(e, "aRow"), rows)
	aStep := stride(e, "aStep")
	b := Load(Param("b"), GP64())
	bStep := stride(e, "bStep")
	sums := zeros(v, rows*vectors)
	prefetch(v, c, stride(e, "cRow"), rows, vectors)
	Label("step")
	step(e, v, a, b, sums, rows, vectors)
	a.advance(aStep)
	ADDQ(bStep, b)
	DECQ(k)
	JNZ(LabelRef("step"))
	finish(e, v, c, sums, vectors)
	ADDQ(stride(e, "aNext"), first)
	DECQ(count)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// prefetch asks for the lines of c, which are often not in a near cache.
func prefetch(v vector, first, cRow Register, rows, vectors int) {
	c := GP64()
	MOVQ(first, c)
	for range rows {
		for j := 0; j < vectors*v.bytes; j += 64 {
			PREFETCHT0(Mem{Base: c, Disp: j})
		}
		ADDQ(cRow, c)
	}
}

// step adds the products of one column of a and one row of b to the sums.
func step(e element, v vector, a rowPointers, b Register, sums []VecVirtual, rows, vectors int) {
	row := make([]VecVirtual, vectors)
	for j := range row {
		row[j] = v.new()
		e.move(Mem{Base: b, Disp: j * v.bytes}, row[j])
	}
	for i := range rows {
		x := v.new()
		e.broadcast(a.row(i), x)
		for j := range row {
			e.fma(row[j], x, sums[i*vectors+j])
		}
	}
}

// finish adds what is in c where that is asked for, then stores and leaves c below.
func finish(e element, v vector, c Register, sums []VecVirtual, vectors int) {
	cRow := stride(e, "cRow")
	add := Load(Param("add"), GP8())
	TESTB(add, add)
	JZ(LabelRef("store"))
	from := GP64()
	MOVQ(c, from)
	for i, s := range sums {
		e.add(Mem{Base: from, Disp: i % vectors * v.bytes}, s, s)
		if i%vectors == vectors-1 {
			ADDQ(cRow, from)
		}
	}
	Label("store")
	for i, s := range sums {
		e.move(s, Mem{Base: c, Disp: i % vectors * v.bytes})
		if i%vectors == vectors-1 {
			ADDQ(cRow, c)
		}
	}
}

// rowPointers address rows at equal distances through one pointer for three.
type rowPointers struct {
	first    []Register
	distance Register
}

func startRows(start, distance Register, rows int) rowPointers {
	at := GP64()
	MOVQ(start, at)
	p := rowPointers{[]Register{at}, distance}
	start = at
	for i := 3; i < rows; i += 3 {
		next := GP64()
		LEAQ(Mem{Base: start, Index: distance, Scale: 2}, next)
		ADDQ(distance, next)
		p.first = append(p.first, next)
		start = next
	}
	return p
}

func (p rowPointers) row(i int) Mem {
	if i%3 == 0 {
		return Mem{Base: p.first[i/3]}
	}
	return Mem{Base: p.first[i/3], Index: p.distance, Scale: uint8(i % 3)}
}

func (p rowPointers) advance(by Register) {
	for _, r := range p.first {
		ADDQ(by, r)
	}
}

// stride loads a distance in elements and makes it one in bytes.
func stride(e element, name string) Register {
	r := Load(Param(name), GP64())
	SHLQ(U8(shift(e)), r)
	return r
}

func zeros(v vector, n int) []VecVirtual {
	regs := make([]VecVirtual, n)
	for i := range regs {
		regs[i] = v.new()
		VXORPS(regs[i], regs[i], regs[i])
	}
	return regs
}
