//go:build !purego

package reduce

import (
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

var tables = map[kernel.Level]*table{kernel.AVX2: &avx2, kernel.AVX512: &avx512}

var avx2 = table{
	loops: [...][ops]combine{
		dtype.Bool:      {Sum: maxU8Y, Max: maxU8Y, Min: minU8Y},
		dtype.Int8:      {Sum: sumI8Y, Max: maxI8Y, Min: minI8Y},
		dtype.Int16:     {Sum: sumI16Y, Max: maxI16Y, Min: minI16Y},
		dtype.Int32:     {Sum: sumI32Y, Max: maxI32Y, Min: minI32Y},
		dtype.Int64:     {Sum: sumI64Y},
		dtype.Uint8:     {Sum: sumI8Y, Max: maxU8Y, Min: minU8Y},
		dtype.Uint16:    {Sum: sumI16Y, Max: maxU16Y, Min: minU16Y},
		dtype.Uint32:    {Sum: sumI32Y, Max: maxU32Y, Min: minU32Y},
		dtype.Uint64:    {Sum: sumI64Y},
		dtype.Float16:   {Sum: sumF16Y, Mean: meanF16Y, Max: maxF16Y, Min: minF16Y},
		dtype.BFloat16:  {Sum: sumBF16Y, Mean: meanBF16Y, Max: maxBF16Y, Min: minBF16Y},
		dtype.Float32:   {Sum: sumF32Y, Mean: meanF32Y, Max: maxF32Y, Min: minF32Y},
		dtype.Float64:   {Sum: sumF64Y, Mean: meanF64Y, Max: maxF64Y, Min: minF64Y},
		dtype.Complex64: {Sum: sumF32Y, Mean: meanF32Y},
	},
	sumsOfTwo: [...]combine{
		dtype.Float16:   pairF16Y,
		dtype.BFloat16:  pairBF16Y,
		dtype.Float32:   pairF32Y,
		dtype.Complex64: pairF32Y,
	},
}

var avx512 = table{
	loops: [...][ops]combine{
		dtype.Bool:      {Sum: maxU8Y, Max: maxU8Y, Min: minU8Y},
		dtype.Int8:      {Sum: sumI8Y, Max: maxI8Y, Min: minI8Y},
		dtype.Int16:     {Sum: sumI16Y, Max: maxI16Y, Min: minI16Y},
		dtype.Int32:     {Sum: sumI32Y, Max: maxI32Y, Min: minI32Y},
		dtype.Int64:     {Sum: sumI64Y, Max: maxI64Z, Min: minI64Z},
		dtype.Uint8:     {Sum: sumI8Y, Max: maxU8Y, Min: minU8Y},
		dtype.Uint16:    {Sum: sumI16Y, Max: maxU16Y, Min: minU16Y},
		dtype.Uint32:    {Sum: sumI32Y, Max: maxU32Y, Min: minU32Y},
		dtype.Uint64:    {Sum: sumI64Y, Max: maxU64Z, Min: minU64Z},
		dtype.Float16:   {Sum: sumF16Z, Mean: meanF16Z, Max: maxF16Z, Min: minF16Z},
		dtype.BFloat16:  {Sum: sumBF16Z, Mean: meanBF16Z, Max: maxBF16Z, Min: minBF16Z},
		dtype.Float32:   {Sum: sumF32Z, Mean: meanF32Z, Max: maxF32Z, Min: minF32Z},
		dtype.Float64:   {Sum: sumF64Z, Mean: meanF64Z, Max: maxF64Z, Min: minF64Z},
		dtype.Complex64: {Sum: sumF32Z, Mean: meanF32Z},
	},
	sumsOfTwo: [...]combine{
		dtype.Float16:   pairF16Z,
		dtype.BFloat16:  pairBF16Z,
		dtype.Float32:   pairF32Y,
		dtype.Complex64: pairF32Y,
	},
}
