package main

import (
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

	move, broadcast, fma, add op
}

var single = element{
	goType: "float32", prefix: "s", size: 4,
	move: VMOVUPS, broadcast: VBROADCASTSS, fma: VFMADD231PS, add: VADDPS,
}

var double = element{
	goType: "float64", prefix: "d", size: 8,
	move: VMOVUPD, broadcast: VBROADCASTSD, fma: VFMADD231PD, add: VADDPD,
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
