package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// fetches writes what asks for memory ahead of its use.
func fetches() {
	TEXT("fetchLines", NOSPLIT, "func(at *byte, lines int)")
	Pragma("noescape")
	Doc("fetchLines asks for lines > 0 of 64 bytes from at on to be brought into the second cache.")
	at, lines := Load(Param("at"), GP64()), Load(Param("lines"), GP64())
	Label("line")
	PREFETCHT1(Mem{Base: at})
	ADDQ(U32(64), at)
	DECQ(lines)
	JNZ(LabelRef("line"))
	RET()
}
