package kernel

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/blas/gonum"

	"github.com/lockstep-go/lockstep/internal/env"
)

// Level is a set of instructions that kernels are written for.
type Level string

// The levels. Portable is plain Go and gonum.
const (
	Portable Level = "portable"
	AVX2     Level = "avx2"   // with FMA and F16C
	AVX512   Level = "avx512" // F, BW, VL and DQ
)

// Levels are those that this machine has, the best one last.
func Levels() []Level {
	levels := make([]Level, len(machine()))
	for i, k := range machine() {
		levels[i] = k.level
	}
	return levels
}

// kernels are the fast loops of a level; where it has none, the portable ones
// compute.
type kernels struct {
	gonum.Implementation

	level      Level
	gemm32     *gemm[float32]
	gemm64     *gemm[float64]
	products32 vectorProducts[float32]
	products64 vectorProducts[float64]
	vectors32  vectors[float32]
	vectors64  vectors[float64]
	sums32     summing[float32]
	sums64     summing[float64]

	extremes32 extremes[float32]
	extremes64 extremes[float64]
	rows32     rowFunctions[float32]
	rows64     rowFunctions[float64]
	f16, bf16  conversion
	casts      casts
	choose32   chooser[uint32]
	choose64   chooser[uint64]
}

// chosen is the level that LOCKSTEP_KERNEL asks for, else the best one.
var chosen = sync.OnceValues(func() (*kernels, error) { return chooseLevel(machine()) })

func chooseLevel(all []*kernels) (*kernels, error) {
	name, err := env.LookupKernel()
	switch {
	case err != nil:
		return all[0], err
	case name == "":
		return all[len(all)-1], nil
	}
	i := slices.IndexFunc(all, func(k *kernels) bool { return string(k.level) == name })
	if i < 0 {
		return all[0], fmt.Errorf("%s is %q; this program has on this processor: %s", env.Kernel, name, names(all))
	}
	return all[i], nil
}

func names(all []*kernels) string {
	var list []string
	for _, k := range all {
		list = append(list, string(k.level))
	}
	return strings.Join(list, ", ")
}

func active() *kernels {
	k, _ := chosen()
	return k
}

// Active is the level that computes: the best of Levels, or the one that
// LOCKSTEP_KERNEL names. The error says what is wrong with that variable.
func Active() (Level, error) {
	k, err := chosen()
	return k.level, err
}
