package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// kernel is a function that combines parts. It holds some accumulators, each of
// as many bytes of a part as is said, in registers over all parts.
type kernel struct {
	name, doc    string
	accumulators int
	bytes        int
	begin        func(count Register) // before the loops
	load         func(from Mem, to VecVirtual)
	room         func() VecVirtual // a register for what load loads
	combine      func(acc, x VecVirtual)
	store        func(acc VecVirtual, to Mem)
}

// headerBytes is the size of a slice in memory; the pointer comes first.
const headerBytes = 24

func (k kernel) write() {
	step := k.accumulators * k.bytes
	TEXT(k.name, NOSPLIT, "func(n int, dst *byte, parts *[]byte, count, from int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s %s n bytes, a multiple of %d, from an offset in each part on.", k.name, k.doc, step))
	n, dst, parts := Load(Param("n"), GP64()), Load(Param("dst"), GP64()), Load(Param("parts"), GP64())
	count, from := Load(Param("count"), GP64()), Load(Param("from"), GP64())
	if k.begin != nil {
		k.begin(count)
	}
	acc := make([]VecVirtual, k.accumulators)
	for i := range acc {
		acc[i] = k.room()
	}
	next, left, part := GP64(), GP64(), GP64()
	Label("step")
	CMPQ(n, U32(step))
	JLT(LabelRef("done"))
	MOVQ(parts, next)
	MOVQ(count, left)
	MOVQ(Mem{Base: next}, part)
	for i, a := range acc {
		k.load(Mem{Base: part, Index: from, Scale: 1, Disp: i * k.bytes}, a)
	}
	Label("part")
	DECQ(left)
	JZ(LabelRef("store"))
	ADDQ(U32(headerBytes), next)
	MOVQ(Mem{Base: next}, part)
	for i, a := range acc {
		x := k.room()
		k.load(Mem{Base: part, Index: from, Scale: 1, Disp: i * k.bytes}, x)
		k.combine(a, x)
	}
	JMP(LabelRef("part"))
	Label("store")
	for i, a := range acc {
		k.store(a, Mem{Base: dst, Disp: i * k.bytes})
	}
	ADDQ(U32(step), from)
	ADDQ(U32(step), dst)
	SUBQ(U32(step), n)
	JMP(LabelRef("step"))
	Label("done")
	VZEROUPPER()
	RET()
}

// vector is a width of registers, and that of half as wide ones.
type vector struct {
	letter      string // in function names
	bytes       int
	whole, half func() VecVirtual
}

var (
	ymm = vector{"Y", 32, YMM, XMM}
	zmm = vector{"Z", 64, ZMM, YMM}
)

// constants are those in the file so far, each stored once.
var constants = map[string]Mem{}

func constant32(bits uint32) Mem {
	return constant(fmt.Sprintf("s%08x", bits), func() { DATA(0, U32(bits)) })
}

func constant64(bits uint64) Mem {
	return constant(fmt.Sprintf("d%016x", bits), func() { DATA(0, U64(bits)) })
}

func constant(name string, fill func()) Mem {
	m, ok := constants[name]
	if !ok {
		m = GLOBL(name, attr.RODATA|attr.NOPTR)
		fill()
		constants[name] = m
	}
	return m
}

// singles and doubles are registers with the given bits in each element.
func singles(new func() VecVirtual, bits uint32) VecVirtual {
	r := new()
	VBROADCASTSS(constant32(bits), r)
	return r
}

func doubles(new func() VecVirtual, bits uint64) VecVirtual {
	r := new()
	VBROADCASTSD(constant64(bits), r)
	return r
}

const (
	isUnordered = 3
	nan32       = 0x7fc00000
	nan64       = 0x7ff8000000000000
)

func isZ(r VecVirtual) bool { return r.Size() == 64 }

// quiet32 puts nan, which holds the canonical NaN, wherever x is one.
func quiet32(x, nan VecVirtual) {
	if isZ(x) {
		k := K()
		VCMPPS(U8(isUnordered), x, x, k)
		VMOVAPS(nan, k, x)
		return
	}
	m := like(x)
	VCMPPS(U8(isUnordered), x, x, m)
	VBLENDVPS(m, nan, x, x)
}

func quiet64(x, nan VecVirtual) {
	if isZ(x) {
		k := K()
		VCMPPD(U8(isUnordered), x, x, k)
		VMOVAPD(nan, k, x)
		return
	}
	m := like(x)
	VCMPPD(U8(isUnordered), x, x, m)
	VBLENDVPD(m, nan, x, x)
}

// like is a new register as wide as r.
func like(r VecVirtual) VecVirtual {
	switch r.Size() {
	case 16:
		return XMM()
	case 32:
		return YMM()
	}
	return ZMM()
}
