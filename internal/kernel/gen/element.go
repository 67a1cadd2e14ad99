package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// op is an instruction of any number of operands.
type op = func(...Op)

// element is a floating-point type and its instructions.
type element struct {
	goType string
	prefix string // of function names
	size   int    // bytes

	move, broadcast, add, sub, mul, div, min, max, sqrt op
	and, or, andNot, xor                                op
	fma, fma213, fma213Broadcast, fnma                  op
	compare                                             op
	moveMasked                                          func(from, mask, to Op)
	moveZeroed                                          func(from, mask, to Op)
	blendY                                              func(mask, yes, no, to Op)
	roundY                                              func(how, from, to Op)
	roundZ, scaleZ, rangeZ                              op
}

var single = element{
	goType: "float32", prefix: "s", size: 4,
	move: VMOVUPS, broadcast: VBROADCASTSS, add: VADDPS, sub: VSUBPS, mul: VMULPS, div: VDIVPS,
	min: VMINPS, max: VMAXPS, sqrt: VSQRTPS, and: VANDPS, or: VORPS, andNot: VANDNPS, xor: VXORPS,
	fma: VFMADD231PS, fma213: VFMADD213PS, fma213Broadcast: VFMADD213PS_BCST, fnma: VFNMADD231PS, compare: VCMPPS,
	moveMasked: VMASKMOVPS, moveZeroed: VMOVUPS_Z, blendY: VBLENDVPS, roundY: VROUNDPS,
	roundZ: VRNDSCALEPS, scaleZ: VSCALEFPS, rangeZ: VRANGEPS,
}

var double = element{
	goType: "float64", prefix: "d", size: 8,
	move: VMOVUPD, broadcast: VBROADCASTSD, add: VADDPD, sub: VSUBPD, mul: VMULPD, div: VDIVPD,
	min: VMINPD, max: VMAXPD, sqrt: VSQRTPD, and: VANDPD, or: VORPD, andNot: VANDNPD, xor: VXORPD,
	fma: VFMADD231PD, fma213: VFMADD213PD, fma213Broadcast: VFMADD213PD_BCST, fnma: VFNMADD231PD, compare: VCMPPD,
	moveMasked: VMASKMOVPD, moveZeroed: VMOVUPD_Z, blendY: VBLENDVPD, roundY: VROUNDPD,
	roundZ: VRNDSCALEPD, scaleZ: VSCALEFPD, rangeZ: VRANGEPD,
}

// bits are those of a constant in the element's type.
func (e element) bits(v float64) uint64 {
	if e.size == 4 {
		return uint64(math.Float32bits(float32(v)))
	}
	return math.Float64bits(v)
}

// vector is a width of registers.
type vector struct {
	letter string // in function names
	bytes  int
	new    func() VecVirtual
}

var (
	ymm = vector{"Y", 32, YMM} // AVX2 and FMA
	zmm = vector{"Z", 64, ZMM} // AVX-512
)

func (v vector) lanes(e element) int { return v.bytes / e.size }

// constants are those in the file so far, each stored once.
var constants = map[string]Mem{}

// constant is where a pattern of bits of an element lies in memory.
func constant(e element, bits uint64) Mem {
	name := fmt.Sprintf("%s%0*x", e.prefix, 2*e.size, bits)
	m, ok := constants[name]
	if !ok {
		m = GLOBL(name, attr.RODATA|attr.NOPTR)
		if e.size == 4 {
			DATA(0, U32(bits))
		} else {
			DATA(0, U64(bits))
		}
		constants[name] = m
	}
	return m
}

// edge is memory of eight 32-bit ones and as many zeros, from which AVX2 takes
// the masks of incomplete vectors.
func edge() Mem {
	m, ok := constants["edge"]
	if !ok {
		m = GLOBL("edge", attr.RODATA|attr.NOPTR)
		for i := range 16 {
			DATA(4*i, U32(map[bool]uint32{true: math.MaxUint32}[i < 8]))
		}
		constants["edge"] = m
	}
	return m
}
