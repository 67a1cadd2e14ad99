// Gen writes the assembly of internal/kernel and the Go declarations that go with
// it. It is a module of its own, so that programs that use lockstep never need
// what it is built on. scripts/generate runs it, once for each file.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"

	. "github.com/mmcloughlin/avo/build"
)

// files are the functions that fill each file.
var files = map[string]func(){
	"gemm":       gemm,
	"arithmetic": arithmetic,
	"functions":  functions,
	"reductions": reductions,
	"rows":       rows,
	"halves":     halves,
	"dot":        dot,
	"choose":     choices,
	"casts":      casts,
	"fetch":      fetches,
	"stripes":    stripes,
}

func main() {
	file := flag.String("file", "", "which file to write")
	flag.Parse()
	fill, ok := files[*file]
	if !ok {
		fmt.Fprintf(os.Stderr, "gen: -file %q: one of %v\n", *file, slices.Sorted(maps.Keys(files)))
		os.Exit(2)
	}
	ConstraintExpr("amd64,!purego")
	fill()
	Generate()
}
