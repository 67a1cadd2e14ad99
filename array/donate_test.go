package array_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
)

// peakOf is how many bytes more than before are in use at once while f runs.
func peakOf(t *testing.T, f func()) int64 {
	t.Helper()
	array.ClearCache()
	before := array.Memory().Active
	array.ResetPeakMemory()
	f()
	return array.Memory().Peak - before
}

func eval(t *testing.T, xs ...*array.Array) {
	t.Helper()
	if err := array.Eval(context.Background(), xs...); err != nil {
		t.Fatal(err)
	}
}

func TestDonatedStorageIsWrittenOver(t *testing.T) {
	ctx := context.Background()
	compiled := transform.Compile(func(xs ...*array.Array) []*array.Array {
		return []*array.Array{xs[0].Add(xs[1]).Tanh(), xs[1].MulScalar(2)}
	})
	y := long(t, 4)
	cases := map[string]struct {
		f    func(x *array.Array) []*array.Array
		peak int64 // MiB beside x and y
	}{
		"one operand":                 {func(x *array.Array) []*array.Array { return []*array.Array{array.Donate(x).Neg()} }, 0},
		"without a donation":          {func(x *array.Array) []*array.Array { return []*array.Array{x.Neg()} }, 4},
		"two operands":                {func(x *array.Array) []*array.Array { return []*array.Array{y.Add(array.Donate(x))} }, 0},
		"another type of the size":    {func(x *array.Array) []*array.Array { return []*array.Array{array.Donate(x).AsType(dtype.Int32)} }, 0},
		"a type of another size":      {func(x *array.Array) []*array.Array { return []*array.Array{array.Donate(x).AsType(dtype.Int16)} }, 2},
		"a compiled function":         {func(x *array.Array) []*array.Array { return compiled(array.Donate(x), y) }, 4},
		"a chain":                     {func(x *array.Array) []*array.Array { return []*array.Array{array.Donate(array.Donate(x).Neg()).Exp()} }, 0},
		"read twice by one operation": {func(x *array.Array) []*array.Array { d := array.Donate(x); return []*array.Array{d.Mul(d)} }, 4},
		"read by two operations":      {func(x *array.Array) []*array.Array { d := array.Donate(x); return []*array.Array{d.Neg(), d.Square()} }, 4},
		"its transpose, which is kept": {func(x *array.Array) []*array.Array {
			d := array.Donate(x)
			return []*array.Array{d.Reshape(1024, -1).T(), d.Neg()}
		}, 4},
		"broadcast": {func(x *array.Array) []*array.Array { return []*array.Array{array.Donate(x).BroadcastTo(2, mebi).Neg()} }, 8},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			plain := c.f(long(t, 4))
			eval(t, plain...)
			x := long(t, 4)
			var got []*array.Array
			if peak := peakOf(t, func() { got = c.f(x); eval(t, got...) }); peak > c.peak*mebi+mebi/2 {
				t.Errorf("%d bytes beside the operands, want %d MiB", peak, c.peak)
			}
			for i := range got {
				a, err := array.Bytes(ctx, got[i])
				b, err2 := array.Bytes(ctx, plain[i])
				if err != nil || err2 != nil || !slices.Equal(a, b) {
					t.Errorf("result %d differs, or %v, %v", i, err, err2)
				}
			}
			if first, err := array.Item[float32](ctx, y.At(0, 7)); first != 7 || err != nil {
				t.Errorf("the other operand was written over: %v, %v", first, err)
			}
		})
	}
}

func TestDonatedArraysCannotBeRead(t *testing.T) {
	ctx := context.Background()
	x := long(t, 1)
	d := array.Donate(x)
	if _, err := array.Values[float32](ctx, x); err != nil {
		t.Errorf("before the donation: %v", err)
	}
	y := d.Neg()
	eval(t, y)
	for name, z := range map[string]*array.Array{"the array": x, "the donation": d, "an operation on it": x.Exp(), "an operation on the donation": d.Exp()} {
		if _, err := array.Values[float32](ctx, z); !errors.Is(err, array.ErrDonated) {
			t.Errorf("reading %s: %v", name, err)
		}
	}
	if got := x.String(); got != "array(float32[262144], donated)" {
		t.Errorf("printed as %s", got)
	}
	if v, err := array.Values[float32](ctx, y); err != nil || v[5] != -5 {
		t.Errorf("the result: %v", err)
	}
}

// Arrays of less than a page are copied, and given away all the same.
func TestSmallDonations(t *testing.T) {
	ctx := context.Background()
	x := array.From([]float32{1, 2, 3})
	y := array.Donate(x).AddScalar(1)
	if v, err := array.Values[float32](ctx, y); err != nil || !slices.Equal(v, []float32{2, 3, 4}) {
		t.Errorf("%v, %v", v, err)
	}
	if _, err := array.Values[float32](ctx, x); !errors.Is(err, array.ErrDonated) {
		t.Errorf("reading the array: %v", err)
	}
}

func TestViewsOfADonatedArrayKeepTheirValues(t *testing.T) {
	ctx := context.Background()
	x := long(t, 1)
	view := x.Reshape(512, -1).T()
	eval(t, view)
	eval(t, array.Donate(x).Neg())
	if v, err := array.Item[float32](ctx, view.At(0, 2).At(0, 3)); err != nil || v != 3*512+2 {
		t.Errorf("%v, %v", v, err)
	}
}

func TestDonationOfOneOutputOfMany(t *testing.T) {
	ctx := context.Background()
	f := transform.Compile(func(xs ...*array.Array) []*array.Array {
		return []*array.Array{xs[0].AddScalar(1), xs[0].AddScalar(2), xs[0].AddScalar(3)}
	})
	ys := f(long(t, 1))
	eval(t, ys...)
	z := array.Donate(ys[1]).Neg()
	eval(t, z)
	for i, want := range []float32{1, 0, 3} {
		v, err := array.Values[float32](ctx, ys[i])
		if want == 0 {
			if !errors.Is(err, array.ErrDonated) {
				t.Errorf("the donated output: %v", err)
			}
			continue
		}
		if err != nil || v[0] != want {
			t.Errorf("output %d: %v", i, err)
		}
	}
}

func TestDonationUnderTransforms(t *testing.T) {
	ctx := context.Background()
	f := func(x *array.Array) *array.Array { return array.Donate(x.AddScalar(0)).MulScalar(3).Sum() }
	if v, err := array.Values[float32](ctx, transform.Grad(f)(array.From([]float32{1, 2}))); err != nil || !slices.Equal(v, []float32{3, 3}) {
		t.Errorf("gradient %v, %v", v, err)
	}
	g := transform.VMap(func(xs ...*array.Array) []*array.Array { return []*array.Array{array.Donate(xs[0]).Neg()} }, []int{0}, []int{0})
	if v, err := array.Values[float32](ctx, g(array.From([]float32{1, 2}))[0]); err != nil || !slices.Equal(v, []float32{-1, -2}) {
		t.Errorf("batched %v, %v", v, err)
	}
}

// A compiled function goes on with the elements that an array had when it captured it,
// though the array is donated afterwards.
func TestDonationOfACapturedArray(t *testing.T) {
	ctx := context.Background()
	w, zero := long(t, 1), array.Zeros(dtype.Float32, mebi/4)
	f := transform.Compile(func(xs ...*array.Array) []*array.Array { return []*array.Array{xs[0].Add(w).Abs()} })
	eval(t, f(zero)...)
	z := array.Donate(w).AddScalar(100)
	eval(t, z)
	for _, what := range []string{"while the result is there", "when it is gone"} {
		if v, err := array.Values[float32](ctx, f(zero)[0]); err != nil || v[5] != 5 {
			t.Errorf("%s: %v, %v", what, v[5], err)
		}
		if v, err := array.Values[float32](ctx, z); err != nil || v[5] != 105 {
			t.Errorf("the result: %v, %v", v[5], err)
		}
		z = array.Full(105, dtype.Float32, 6)
		array.ClearCache()
		eval(t, long(t, 1).Neg())
	}
}
