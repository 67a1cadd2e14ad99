package array_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/arraytest"
	"github.com/lockstep-go/lockstep/dtype"
)

var widths = []int{2, 3, 4, 5, 6, 8}

// grid is a matrix whose elements are exact in so many bits: scale 1/8, bias -1000.
func grid(rows, columns, bits int) (w *array.Array, codes []uint32) {
	data := make([]float64, rows*columns)
	codes = make([]uint32, len(data))
	for i := range data {
		codes[i] = uint32((i*i*7 + i*3) % (1 << bits))
		switch i % 32 {
		case 0:
			codes[i] = 0
		case 1:
			codes[i] = 1<<bits - 1
		}
		data[i] = -1000 + float64(codes[i])/8
	}
	return array.From(data, rows, columns), codes
}

func TestQuantizedElementsLieOneAfterTheOther(t *testing.T) {
	for _, bits := range widths {
		w, codes := grid(2, 64, bits)
		q := array.Quantization{GroupSize: 32, Bits: bits}
		packed, scales, biases := array.Quantize(w, q)
		words := elements[uint32](t, packed, 2, 2*bits)
		for i, want := range codes {
			got := uint32(0)
			for b := range bits {
				at := i*bits + b
				got |= words[at/32] >> (at % 32) & 1 << b
			}
			if got != want {
				t.Fatalf("%d bits: element %d is packed as %d, want %d", bits, i, got, want)
			}
		}
		s, b := elements[float64](t, scales, 2, 2), elements[float64](t, biases, 2, 2)
		for i := range s {
			if math.Abs(s[i]-0.125) > 1e-4 || b[i] != -1000 {
				t.Errorf("%d bits: group %d has scale %v and bias %v", bits, i, s[i], b[i])
			}
		}
	}
}

func TestQuantizationErrorIsHalfAStep(t *testing.T) {
	const n = 256
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(math.Sin(float64(i*i)) * float64(1+i/32))
	}
	for _, bits := range widths {
		for _, size := range []int{32, 64, 128} {
			for _, kind := range []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64} {
				q := array.Quantization{GroupSize: size, Bits: bits}
				w := array.From(data).AsType(kind)
				packed, scales, biases := array.Quantize(w, q)
				back := elements[float64](t, array.Dequantize(packed, scales, biases, q).AsType(dtype.Float64), n)
				steps := elements[float64](t, scales.AsType(dtype.Float64), n/size)
				for i, v := range elements[float64](t, w.AsType(dtype.Float64), n) {
					step := math.Abs(steps[i/size])
					if math.Abs(back[i]-v) > step*1.05+math.Abs(v)/64 {
						t.Fatalf("%d bits in groups of %d, %v: element %d is %v, was %v; step %v", bits, size, kind, i, back[i], v, step)
					}
				}
			}
		}
	}
	packed, scales, biases := array.Quantize(array.Zeros(dtype.Float32, 64), array.Quantization{})
	zeros := elements[float32](t, array.Dequantize(packed, scales, biases, array.Quantization{}), 64)
	if slices.Max(zeros) != 0 || slices.Min(zeros) != 0 {
		t.Errorf("zeros come back as %v", zeros)
	}
}

// quantized is a packed matrix with random-looking scales and biases.
func quantized(rows, columns, bits int) []*array.Array {
	w, _ := grid(rows, columns, bits)
	packed, _, _ := array.Quantize(w, array.Quantization{GroupSize: 32, Bits: bits})
	return []*array.Array{packed, sample(rows, columns/32).AddScalar(0.0625), sample(rows, columns/32).MulScalar(0.5)}
}

func TestQuantizedRules(t *testing.T) {
	q := array.Quantization{GroupSize: 32, Bits: 3}
	w := quantized(2, 32, 3)
	plain := func(xs ...*array.Array) *array.Array { return array.Dequantize(xs[0], xs[1], xs[2], q) }
	arraytest.Check(t, arraytest.Case{Name: "dequantize", F: arraytest.Many(plain), Inputs: w})
	for _, transposed := range []bool{true, false} {
		x := sample(3, 2)
		if transposed {
			x = sample(1, 32)
		}
		arraytest.Check(t, arraytest.Case{
			Name: fmt.Sprintf("quantized product, transposed %v", transposed),
			F: arraytest.Many(func(xs ...*array.Array) *array.Array {
				return array.QuantizedMatMul(xs[0], xs[1], xs[2], xs[3], transposed, q)
			}),
			Inputs: append([]*array.Array{x}, w...),
		})
	}
	arraytest.Check(t, arraytest.Case{
		Name: "quantize", F: func(xs ...*array.Array) []*array.Array {
			packed, scales, biases := array.Quantize(xs[0], q)
			return []*array.Array{packed, scales, biases}
		},
		Inputs: []*array.Array{sample(2, 32)},
		Without: map[string]string{
			"gradient": "rounding has none", "tangent": "rounding has none", "second derivative": "rounding has none",
			"tangent of the gradient": "rounding has none", "batching of the gradient": "rounding has none",
		},
	})
}

func TestQuantizedProducts(t *testing.T) {
	for _, bits := range widths {
		q := array.Quantization{GroupSize: 32, Bits: bits}
		w := quantized(64, 96, bits)
		full := array.Dequantize(w[0], w[1], w[2], q)
		batch := []*array.Array{w[0].Reshape(2, 32, -1), w[1].Reshape(2, 32, -1), w[2].Reshape(2, 32, -1)}
		for name, c := range map[string]struct{ got, want *array.Array }{
			"with the transpose":    {array.QuantizedMatMul(sample(2, 5, 96), w[0], w[1], w[2], true, q), sample(2, 5, 96).MatMul(full.T())},
			"as it is":              {array.QuantizedMatMul(sample(3, 64), w[0], w[1], w[2], false, q), sample(3, 64).MatMul(full)},
			"of a vector":           {array.QuantizedMatMul(sample(96), w[0], w[1], w[2], true, q), sample(96).MatMul(full.T())},
			"with a batch":          {array.QuantizedMatMul(sample(2, 3, 32), batch[0], batch[1], batch[2], false, q), sample(2, 3, 32).MatMul(full.Reshape(2, 32, 96))},
			"one with a batch":      {array.QuantizedMatMul(sample(3, 96), batch[0], batch[1], batch[2], true, q), sample(3, 96).MatMul(full.Reshape(2, 32, 96).SwapAxes(1, 2))},
			"of no rows":            {array.QuantizedMatMul(sample(0, 96), w[0], w[1], w[2], true, q), sample(0, 96).MatMul(full.T())},
			"in the type of halves": {array.QuantizedMatMul(sample(2, 96).AsType(dtype.BFloat16), w[0], w[1].AsType(dtype.BFloat16), w[2].AsType(dtype.BFloat16), true, q).AsType(dtype.Float64), nil},
		} {
			got := elements[float64](t, c.got, c.got.Shape()...)
			if c.want == nil {
				c.want = sample(2, 96).MatMul(full.T())
			} else if !slices.Equal(c.got.Shape(), c.want.Shape()) {
				t.Fatalf("%s: shape %v, want %v", name, c.got.Shape(), c.want.Shape())
			}
			limit := 1e-9
			if name == "in the type of halves" {
				limit = 0.02
			}
			size := 0.0
			want := elements[float64](t, c.want, c.got.Shape()...)
			for _, v := range want {
				size = max(size, math.Abs(v))
			}
			for i, v := range want {
				if math.Abs(got[i]-v) > limit*max(1, size) {
					t.Fatalf("%d bits, %s: element %d is %v, want %v", bits, name, i, got[i], v)
				}
			}
		}
	}
}

func TestQuantizationMistakes(t *testing.T) {
	w := sample(2, 64)
	first := func(x, _, _ *array.Array) *array.Array { return x }
	p := quantized(2, 64, 4)
	good := array.Quantization{GroupSize: 32}
	for name, x := range map[string]*array.Array{
		"groups of 16":          first(array.Quantize(w, array.Quantization{GroupSize: 16})),
		"7 bits":                first(array.Quantize(w, array.Quantization{Bits: 7})),
		"an unknown mode":       first(array.Quantize(w, array.Quantization{Mode: "round"})),
		"a broken group":        first(array.Quantize(sample(2, 60), good)),
		"a number":              first(array.Quantize(array.Scalar(1.0), good)),
		"integers":              first(array.Quantize(w.AsType(dtype.Int32), good)),
		"other bits":            array.Dequantize(p[0], p[1], p[2], array.Quantization{GroupSize: 32, Bits: 8}),
		"scales and no biases":  array.Dequantize(p[0], p[1], nil, good),
		"packed numbers":        array.Dequantize(p[1], p[1], p[2], good),
		"rows of other lengths": array.QuantizedMatMul(sample(2, 32), p[0], p[1], p[2], true, good),
		"a product of a number": array.QuantizedMatMul(array.Scalar(1.0), p[0], p[1], p[2], true, good),
	} {
		if x.Err() == nil {
			t.Errorf("%s has no error", name)
		}
	}
	for _, mode := range []string{"mxfp4", "mxfp8", "nvfp4"} {
		if x := first(array.Quantize(w, array.Quantization{Mode: mode})); !errors.Is(x.Err(), errors.ErrUnsupported) {
			t.Errorf("mode %s: %v", mode, x.Err())
		}
	}
}
