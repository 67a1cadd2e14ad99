package transform_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
)

// gelu is x Φ(x) of x·w + b.
func gelu(xs ...*array.Array) []*array.Array {
	z := xs[0].Mul(xs[1]).Add(xs[2])
	return []*array.Array{z.MulScalar(0.5).Mul(z.MulScalar(math.Sqrt2 / 2).Erf().AddScalar(1))}
}

// sameBits compares what f and its compiled form give, twice.
func sameBits(t *testing.T, f transform.Func, xs ...*array.Array) {
	t.Helper()
	ctx := context.Background()
	want := f(xs...)
	compiled := transform.Compile(f)
	for call := range 2 {
		for i, y := range compiled(xs...) {
			a, err := array.Bytes(ctx, want[i])
			b, err2 := array.Bytes(ctx, y)
			if err != nil || err2 != nil {
				t.Fatalf("result %d: %v, compiled %v", i, err, err2)
			}
			if !bytes.Equal(a, b) {
				t.Errorf("call %d, result %d of %v: compiled bits differ", call, i, y.Spec())
			}
		}
	}
}

func normal(seed uint64, t dtype.Type, shape ...int) *array.Array {
	return random.Normal(random.NewKey(seed), dtype.Float32, shape...).AsType(t)
}

func TestFusedChainsGiveTheSameBits(t *testing.T) {
	shapes := map[string][3][]int{
		"all alike":             {{70, 90}, {70, 90}, {70, 90}},
		"one element":           {{1}, {1}, {1}},
		"nothing":               {{0, 3}, {0, 3}, {3}},
		"less than a tile":      {{7}, {7}, {1}},
		"rows of a short bias":  {{1000, 10}, {1, 10}, {10}},
		"rows of an odd length": {{33, 1023}, {1023}, {33, 1}},
		"rows longer than tile": {{3, 5000}, {5000}, {3, 1}},
		"numbers":               {{300, 40}, {}, {1, 1}},
		"columns":               {{300, 40}, {300, 1}, {40}},
		"batches":               {{9, 8, 70}, {8, 1}, {9, 1, 70}},
		"a large array":         {{1 << 19}, {1}, {1 << 19}},
	}
	for name, s := range shapes {
		for _, typ := range []dtype.Type{dtype.Float32, dtype.Float64, dtype.Float16, dtype.BFloat16} {
			t.Run(fmt.Sprint(name, " of ", typ), func(t *testing.T) {
				sameBits(t, gelu, normal(1, typ, s[0]...), normal(2, typ, s[1]...), normal(3, typ, s[2]...))
			})
		}
	}
}

func TestFusedChainsOfEveryKindOfOperand(t *testing.T) {
	x, y := normal(1, dtype.Float32, 60, 60), normal(2, dtype.Float32, 60, 60)
	cases := map[string]transform.Func{
		"a transposed operand": func(xs ...*array.Array) []*array.Array {
			return []*array.Array{xs[0].Exp().Add(xs[1].T().Mul(xs[0]))}
		},
		"its own transpose": func(xs ...*array.Array) []*array.Array {
			z := xs[0].Mul(xs[1])
			return []*array.Array{z.Add(z.T()).Tanh()}
		},
		"a row of itself": func(xs ...*array.Array) []*array.Array {
			z := xs[0].Mul(xs[1])
			return []*array.Array{z.Sub(z.Slice([]int{3, 0}, []int{4, 60}, []int{1, 1})).Abs()}
		},
		"its own sum": func(xs ...*array.Array) []*array.Array {
			z := xs[0].Exp()
			return []*array.Array{z.Div(z.SumKeep(1)).Sub(xs[1])}
		},
		"types of several sizes": func(xs ...*array.Array) []*array.Array {
			small := xs[0].Less(xs[1])
			w := array.Where(small, xs[0].AsType(dtype.Float64).Square(), xs[1].AsType(dtype.Float64))
			return []*array.Array{w.AsType(dtype.Float16).Add(xs[0].AsType(dtype.Float16)).AsType(dtype.Int32).Neg(), small.LogicalNot()}
		},
		"a value that is a result and goes on": func(xs ...*array.Array) []*array.Array {
			z := xs[0].Mul(xs[1])
			return []*array.Array{z, z.Exp().Add(z), z, z.T(), xs[0]}
		},
		"a chain around a product": func(xs ...*array.Array) []*array.Array {
			z := xs[0].Exp().Add(xs[1])
			return []*array.Array{z.MatMul(xs[1]).Add(z).Mul(xs[0].Exp())}
		},
		"more operations than one pass has": func(xs ...*array.Array) []*array.Array {
			z := xs[0]
			for range 200 {
				z = z.Mul(xs[1]).Sub(xs[0]).Tanh()
			}
			return []*array.Array{z}
		},
		"many values at once": func(xs ...*array.Array) []*array.Array {
			var all []*array.Array
			sum := xs[0]
			for i := range 20 {
				all = append(all, xs[0].MulScalar(float64(i)).Add(xs[1]))
			}
			for _, z := range all {
				sum = sum.Mul(z).Add(z.Square())
			}
			return append(all[:3:3], sum.Sigmoid())
		},
		"constants": func(xs ...*array.Array) []*array.Array {
			return []*array.Array{xs[0].Add(array.Arange(0, 60, 1, dtype.Float32)).MaximumScalar(3).Mul(normal(9, dtype.Float32, 60, 1))}
		},
		"nothing but views": func(xs ...*array.Array) []*array.Array {
			return []*array.Array{xs[0].T().Reshape(3, -1), xs[1].BroadcastTo(2, 60, 60)}
		},
		"the steps of AdamW": func(xs ...*array.Array) []*array.Array {
			m := xs[0].MulScalar(0.9).Add(xs[1].MulScalar(0.1))
			v := xs[0].Square().MulScalar(0.999).Add(xs[1].Square().MulScalar(0.001))
			return []*array.Array{xs[0].Sub(m.Div(v.Sqrt().AddScalar(1e-8)).Mul(array.Scalar(float32(0.01)))), m, v}
		},
	}
	for name, f := range cases {
		t.Run(name, func(t *testing.T) {
			sameBits(t, f, x, y)
			t.Run("of strided arguments", func(t *testing.T) { sameBits(t, f, x.T(), y.Slice([]int{0, 0}, []int{60, 60}, []int{1, 1})) })
			t.Run("of repeated arguments", func(t *testing.T) { sameBits(t, f, array.Full(0.5, dtype.Float32, 60, 60), y) })
			t.Run("of the same argument", func(t *testing.T) { sameBits(t, f, x, x) })
		})
	}
}

func TestFusedGradientsGiveTheSameBits(t *testing.T) {
	loss := func(xs ...*array.Array) []*array.Array {
		return []*array.Array{gelu(xs...)[0].Softmax(-1).Log().Mean()}
	}
	f := func(xs ...*array.Array) []*array.Array {
		y, grads := transform.VJP(loss, xs, []*array.Array{array.Scalar(float32(1))})
		return append(y, grads...)
	}
	sameBits(t, f, normal(1, dtype.Float32, 50, 70), normal(2, dtype.Float32, 70), normal(3, dtype.Float32, 50, 1))
}

func TestCompiledFunctionsRunAtOnceInManyGoroutines(t *testing.T) {
	ctx := context.Background()
	f := transform.Compile(gelu)
	x := normal(1, dtype.Float32, 100, 100)
	want, err := array.Bytes(ctx, gelu(x, x, x)[0])
	if err != nil {
		t.Fatal(err)
	}
	errs := make(chan error)
	for range 8 {
		go func() {
			var err error
			for range 20 {
				got, e := array.Bytes(ctx, f(x, x, x)[0])
				if e != nil || !bytes.Equal(got, want) {
					err = fmt.Errorf("other bits, or %v", e)
				}
			}
			errs <- err
		}()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func TestMistakesInValuesNameTheirOperation(t *testing.T) {
	f := transform.Compile(func(xs ...*array.Array) []*array.Array {
		return []*array.Array{xs[0].Exp().Take(xs[1], 0).Neg()}
	})
	_, err := array.Values[float32](context.Background(), f(array.From([]float32{1, 2}), array.From([]int32{5}))[0])
	if err == nil || !contains(err.Error(), "take at fuse_test.go:") {
		t.Errorf("got %v, want the operation and the place of the call", err)
	}
}

func contains(s, part string) bool { return bytes.Contains([]byte(s), []byte(part)) }

// Views of captured numbers are no copies that every call makes anew.
func TestCapturedViewsTakeNoMemory(t *testing.T) {
	ctx := context.Background()
	rate := array.Scalar(float32(0.5)).BroadcastTo(1024, 1024).T()
	f := transform.Compile(func(xs ...*array.Array) []*array.Array { return []*array.Array{xs[0].Mul(rate)} })
	x := normal(1, dtype.Float32, 1024, 1024)
	if err := array.Eval(ctx, x, f(x)[0]); err != nil {
		t.Fatal(err)
	}
	array.ClearCache()
	before := array.Memory().Active
	array.ResetPeakMemory()
	y := f(x)[0]
	if err := array.Eval(ctx, y); err != nil {
		t.Fatal(err)
	}
	if got := array.Memory().Peak - before; got > 5<<20 {
		t.Errorf("%d bytes beside the argument, want those of the result, 4 MiB", got)
	}
}
