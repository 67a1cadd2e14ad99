package arraytest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
)

// cube is the third power, with one part of it wrong.
type cube struct{ wrong string }

func (cube) Name() string                                      { return "cube" }
func (cube) OutputSpecs(in []array.Spec) ([]array.Spec, error) { return in, nil }
func (cube) ReadsStrided()                                     {}

func (p cube) Eval(_ context.Context, in, out []array.View) error {
	if p.wrong != "layouts" {
		in[0] = in[0].Contiguous()
	}
	if out[0].DType != dtype.Float64 {
		return fmt.Errorf("is only for float64, not %v", out[0].DType)
	}
	x := array.StorageOf[float64](in[0])[in[0].Offset:]
	for i := range array.Elements[float64](out[0]) {
		array.Elements[float64](out[0])[i] = x[i%len(x)] * x[i%len(x)] * x[i%len(x)]
	}
	return nil
}

func (p cube) slope(x *array.Array, rule string) *array.Array {
	slope := x.Square().MulScalar(3)
	switch p.wrong {
	case rule:
		return slope.MulScalar(1.01)
	case "second derivative":
		return x.StopGradient().Square().MulScalar(3)
	}
	return slope
}

func (p cube) VJP(in, _, dy []*array.Array, _ []int) ([]*array.Array, error) {
	return []*array.Array{dy[0].Mul(p.slope(in[0], "gradient"))}, nil
}

func (p cube) JVP(in, _, dx []*array.Array, _ []int) ([]*array.Array, error) {
	return []*array.Array{dx[0].Mul(p.slope(in[0], "tangent"))}, nil
}

func (p cube) VMap(in []*array.Array, axes []int) ([]*array.Array, []int, error) {
	if p.wrong == "batching" {
		return array.Apply(p, in[0]), []int{0}, nil
	}
	return array.Apply(p, in[0]), axes, nil
}

// recorder is a tester that remembers whether a check has failed.
type recorder struct{ failed bool }

func (r *recorder) Helper()                           {}
func (r *recorder) Errorf(string, ...any)             { r.failed = true }
func (r *recorder) Fatalf(format string, args ...any) { panic(fatal(fmt.Sprintf(format, args...))) }

type fatal string

// failing lists the checks that a case does not pass.
func failing(c Case) (names []string) {
	for _, check := range c.checks() {
		if !passes(check) {
			names = append(names, check.name)
		}
	}
	return names
}

func passes(c check) (ok bool) {
	defer func() {
		if r := recover(); r != nil {
			_ = r.(fatal) // other panics are mistakes of the suite
			ok = false
		}
	}()
	r := &recorder{}
	c.run(r)
	return !r.failed
}

func cubeWith(wrong string) Case {
	return Case{
		Name:   "cube",
		F:      One(func(x *array.Array) *array.Array { return array.Apply1(cube{wrong}, x) }),
		Inputs: []*array.Array{array.From([]float64{1, -2, 3, 0.5, -1.5, 4}, 2, 3)},
		Want:   Each(func(x ...float64) float64 { return math.Pow(x[0], 3) }),
		Types:  []dtype.Type{},
	}
}

func TestARightOperationPasses(t *testing.T) {
	Check(t, cubeWith("nothing"))
	if names := failing(cubeWith("nothing")); names != nil {
		t.Fatalf("fails %q", names)
	}
}

func TestEachMistakeIsFound(t *testing.T) {
	cases := []struct {
		name string
		c    Case
		want string
	}{
		{"a wrong value", func() Case { c := cubeWith(""); c.Want = Each(func(x ...float64) float64 { return x[0] }); return c }(), "values"},
		{"a type without a kernel", func() Case { c := cubeWith(""); c.Types = []dtype.Type{dtype.Float32}; return c }(), "values"},
		{"a wrong number of results", func() Case { c := cubeWith(""); c.Want = func(...[]float64) [][]float64 { return nil }; return c }(), "values"},
		{"strides not heeded", cubeWith("layouts"), "layouts"},
		{"a wrong vjp", cubeWith("gradient"), "gradient"},
		{"a wrong jvp", cubeWith("tangent"), "tangent"},
		{"a rule that does not nest", cubeWith("second derivative"), "second derivative"},
		{"a wrong batch axis", cubeWith("batching"), "batching"},
		{"an error that is lost", Case{
			Inputs: []*array.Array{array.Scalar(1.0)},
			F: One(func(x *array.Array) *array.Array {
				if x.Err() != nil {
					return array.Scalar(0.0)
				}
				return x
			}),
		}, "mistakes"},
		{"something that is read while it is recorded", func() Case {
			c, calls := cubeWith(""), 0.0
			cubed := c.F
			c.F = func(xs ...*array.Array) []*array.Array {
				calls++
				return []*array.Array{cubed(xs...)[0].AddScalar(calls)}
			}
			return c
		}(), "compiling"},
		{"a later error instead of the first", Case{
			Inputs: []*array.Array{array.Scalar(1.0), array.Scalar(2.0)},
			F:      Two(func(x, y *array.Array) *array.Array { return y.Add(x) }),
		}, "mistakes"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if names := failing(c.c); !slices.Contains(names, c.want) {
				t.Fatalf("fails %q, want %q among them", names, c.want)
			}
		})
	}
}

func TestAReasonLeavesACheckOut(t *testing.T) {
	c := cubeWith("gradient")
	c.Without = map[string]string{"gradient": "known to be wrong", "batching": ""}
	names := c.Checks()
	if want := []string{"values", "layouts", "mistakes", "batching", "compiling"}; !slices.Equal(names, want) {
		t.Fatalf("left are %q, want %q", names, want)
	}
}

func TestNumbersOfComplexElements(t *testing.T) {
	z := array.From([]complex64{1 + 2i, 3 - 4i})
	parts, err := Elements(context.Background(), z)
	if err != nil || !slices.Equal(parts, []float64{1, 2, 3, -4}) {
		t.Fatalf("parts %v (%v)", parts, err)
	}
	back, err := array.Values[complex64](context.Background(), shaped(parts, z.Spec()))
	if err != nil || !slices.Equal(back, []complex64{1 + 2i, 3 - 4i}) {
		t.Fatalf("back as %v (%v)", back, err)
	}
}
