package kernel

import (
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
	"github.com/lockstep-go/lockstep/internal/layout"
)

func benchmarkReduce(b *testing.B, r Reduction, t dtype.Type, axes []int) {
	shape := []int{1024, 1024}
	x := buffer.Make(1 << 20 * t.Size())
	for i := range x {
		x[i] = byte(i*i) & 0x3f // no NaN in any type
	}
	out := buffer.Make(1024 * t.Size())
	in := Operand{Storage: x, Size: t.Size(), Strides: layout.Strides(shape)}
	b.SetBytes(int64(len(x)))
	for b.Loop() {
		Reduce(r, t, out, t, in, shape, axes)
	}
}

func BenchmarkSumOfRows(b *testing.B)     { benchmarkReduce(b, Sum, dtype.Float32, []int{1}) }
func BenchmarkSumOfColumns(b *testing.B)  { benchmarkReduce(b, Sum, dtype.Float32, []int{0}) }
func BenchmarkMaxOfRows(b *testing.B)     { benchmarkReduce(b, Max, dtype.Float32, []int{1}) }
func BenchmarkMaxOfColumns(b *testing.B)  { benchmarkReduce(b, Max, dtype.Float32, []int{0}) }
func BenchmarkSumOfHalfRows(b *testing.B) { benchmarkReduce(b, Sum, dtype.Float16, []int{1}) }
func BenchmarkSumOfBFloat(b *testing.B)   { benchmarkReduce(b, Sum, dtype.BFloat16, []int{1}) }

func BenchmarkSoftmaxRows(b *testing.B) {
	x, y := make([]float32, 1<<16), make([]float32, 1<<16)
	for i := range x {
		x[i] = float32(i%97) / 10
	}
	b.SetBytes(4 << 16)
	for b.Loop() {
		Rows(Softmax, dtype.Float32, buffer.Bytes(y), buffer.Bytes(x), 64)
	}
}

func BenchmarkLogSumExpRows(b *testing.B) {
	x, y := make([]float32, 1<<16), make([]float32, 1<<10)
	b.SetBytes(4 << 16)
	for b.Loop() {
		Rows(LogSumExp, dtype.Float32, buffer.Bytes(y), buffer.Bytes(x), 64)
	}
}

func BenchmarkNormalizeRows(b *testing.B) {
	x, y, s := make([]float32, 1<<16), make([]float32, 1<<16), make([]float32, 1<<10)
	b.SetBytes(4 << 16)
	for b.Loop() {
		Normalize(dtype.Float32, buffer.Bytes(y), buffer.Bytes(s), buffer.Bytes(x), 64, 1e-5, true)
	}
}
