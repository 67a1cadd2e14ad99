// Gen writes the assembly of internal/reduce and the Go declarations that go with
// it. It is a module of its own, so that programs that use lockstep never need
// what it is built on. scripts/generate runs it.
package main

import (
	. "github.com/mmcloughlin/avo/build"
)

func main() {
	ConstraintExpr("amd64,!purego")
	for _, v := range []vector{ymm, zmm} {
		for _, f := range []format{float16, bfloat16, float32s, float64s} {
			wide(v, f)
			extremes(v, f)
		}
	}
	for _, v := range []vector{ymm, zmm} {
		pairOfFloat16(v)
		pairOfBFloat16(v)
	}
	pairOfSingles()
	integers()
	Generate()
}
