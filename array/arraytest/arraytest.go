// Package arraytest judges operations on arrays: what they compute, their
// derivatives, batching and compilation.
//
//	arraytest.Check(t, arraytest.Case{
//		Name:   "square",
//		F:      arraytest.One((*array.Array).Square),
//		Inputs: []*array.Array{array.From([]float64{1, -2, 3})},
//		Want:   arraytest.Each(func(x ...float64) float64 { return x[0] * x[0] }),
//	})
//
// Each check is a subtest, named after the rule that it guards. Elements are
// compared as float64 numbers in row order, complex ones as two numbers each.
package arraytest

import (
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
)

// Case is one operation with inputs to judge it by. Choose few elements, since
// every one is moved a little to measure derivatives, and none where the
// operation has a kink or a jump.
type Case struct {
	Name string
	F    transform.Func
	// Inputs of type float64 stand for every type in Types; those of other types,
	// such as indices and conditions, are passed on as they are.
	Inputs []*array.Array
	// Want computes the elements of every result from those of the inputs in
	// another way than F. Nil: values are not checked.
	Want func(xs ...[]float64) [][]float64
	// Types to check values in beside float64. Nil means float16, bfloat16 and
	// float32.
	Types []dtype.Type
	// Without names checks that are left out, each with the reason, and with them
	// those that build on them. The names are those of the subtests.
	Without map[string]string
}

// One makes a Func of an operation of one array.
func One(f func(x *array.Array) *array.Array) transform.Func {
	return func(xs ...*array.Array) []*array.Array { return []*array.Array{f(xs[0])} }
}

// Two makes a Func of an operation of two arrays.
func Two(f func(x, y *array.Array) *array.Array) transform.Func {
	return func(xs ...*array.Array) []*array.Array { return []*array.Array{f(xs[0], xs[1])} }
}

// Many makes a Func of an operation with one result.
func Many(f func(xs ...*array.Array) *array.Array) transform.Func {
	return func(xs ...*array.Array) []*array.Array { return []*array.Array{f(xs...)} }
}

// Each makes a Want of a function that gives one element of the only result
// from one element of every input. An input of one element serves for all.
func Each(f func(x ...float64) float64) func(xs ...[]float64) [][]float64 {
	return func(xs ...[]float64) [][]float64 {
		size := 1
		for _, x := range xs {
			if len(x) != 1 {
				size = len(x)
			}
		}
		want := make([]float64, size)
		at := make([]float64, len(xs))
		for i := range want {
			for k, x := range xs {
				at[k] = x[i%len(x)]
			}
			want[i] = f(at...)
		}
		return [][]float64{want}
	}
}

// Check runs every check on the case as a subtest of t:
//
//   - "values": the results are those that Want computes, in every type.
//   - "layouts": inputs that are transposed, spread out, reversed or repeated in
//     memory change nothing.
//   - "mistakes": the first error among the inputs is the error of every result.
//   - "gradient": the vjp is what central differences in float64 measure.
//   - "tangent": the jvp belongs to the same matrix as the vjp.
//   - "batching": vmap over any axis of any input is a loop over the examples.
//   - "compiling": the compiled function gives the same, also with other elements.
//   - "second derivative", "tangent of the gradient", "batching of the gradient"
//     and "compiling of the gradient": the same of the vjp as a function of the
//     inputs.
//   - "gradient of the compiled": the vjp of the compiled and of the recomputed
//     function is that of the function itself.
func Check(t *testing.T, c Case) {
	t.Helper()
	t.Run(c.Name, func(t *testing.T) {
		for _, check := range c.checks() {
			t.Run(check.name, func(t *testing.T) { check.run(t) })
		}
	})
}

// Checks lists the names of the checks that Check runs on the case.
func (c Case) Checks() (names []string) {
	for _, check := range c.checks() {
		names = append(names, check.name)
	}
	return names
}

// tester is what a check needs of *testing.T, so that the checks can be tested.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// check is one rule; it makes sense only where those of builtOn hold.
type check struct {
	name    string
	run     func(t tester)
	builtOn []string
}

// checks are those that the case does not go without.
func (c Case) checks() []check {
	f := function{c.F, inFloat64(c.Inputs)}
	all := []check{
		{"values", c.checkValues, nil},
		{"layouts", c.checkLayouts, nil},
		{"mistakes", c.checkMistakes, nil},
		{"batching", f.checkBatching, nil},
		{"compiling", f.checkCompiled, nil},
	}
	if f.differentiable() {
		g := f.pullback()
		all = append(all,
			check{"gradient", f.checkGradient, nil},
			check{"tangent", f.checkTangent, []string{"gradient"}},
			check{"second derivative", g.checkGradient, []string{"gradient"}},
			check{"tangent of the gradient", g.checkTangent, []string{"gradient", "tangent"}},
			check{"batching of the gradient", g.checkBatching, []string{"gradient", "batching"}},
			check{"compiling of the gradient", g.checkCompiled, []string{"gradient", "compiling"}},
			check{"gradient of the compiled", f.checkRederived, []string{"gradient", "compiling"}})
	}
	return slices.DeleteFunc(all, func(k check) bool {
		return slices.ContainsFunc(append(k.builtOn, k.name), func(name string) bool { return c.Without[name] != "" })
	})
}
