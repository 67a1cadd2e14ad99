package ops_test

import (
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/internal/conform"
)

func TestValuesOfCollectives(t *testing.T) {
	each(t, []int{1, 2, 3, 4, 8}, func(r rank, m model) {
		n := r.g.Size()
		for _, shape := range [][]int{{2 * n}, {n, 3}, {n, 2, 2}, {0, 3}, {n, 0}} {
			want := m.stacked(stackedNumbers(1, n, shape...)).At(0, r.r)
			near(r, "value", m.apply(numbers(1, r.r, shape...), r.g), want, 1e-14)
		}
	})
}

func TestDerivativesOfCollectivesAgreeWithDifferences(t *testing.T) {
	each(t, []int{1, 2, 3}, func(r rank, m model) {
		n := r.g.Size()
		x, v := numbers(1, r.r, n, 2), numbers(2, r.r, n, 2)
		for name, wrap := range inOrder(wrappings) {
			loss := wrap(m.scalarLoss(r))
			gradient := transform.Grad(loss)(x)
			mine := gradient.Mul(v).Flatten()
			if err := mine.Eval(r.ctx); err != nil {
				r.Errorf("%s: gradient on rank %d: %v", name, r.r, err)
				return
			}
			for p := range n { // the numbers of one rank after the other
				for i := range 2 * n {
					step := array.Zeros(v.DType(), v.Shape()...)
					if p == r.r {
						step = array.Where(array.From(oneHot(2*n, i), n, 2), v, step)
					}
					slope := difference(loss, x, step)
					if p == r.r {
						near(r, name+": gradient", mine.At(0, i), slope, 1e-7)
					} else if err := slope.Eval(r.ctx); err != nil {
						r.Error(err)
					}
				}
			}
			near(r, name+": tangent", along(loss, x, v), difference(loss, x, v), 1e-7)
			near(r, name+": gradient along v", along(transform.Grad(loss), x, v), difference(transform.Grad(loss), x, v), 1e-6)
		}
	})
}

func oneHot(n, i int) []bool {
	hot := make([]bool, n)
	hot[i] = true
	return hot
}

// overAxis cuts x into its examples along an axis, applies f to each, and stacks.
func overAxis(f func(x *array.Array) *array.Array, x *array.Array, in, out int) *array.Array {
	ys := make([]*array.Array, x.Dim(in))
	for i := range ys {
		ys[i] = f(x.At(in, i))
	}
	return array.Stack(ys, out)
}

func vmapped(f func(x *array.Array) *array.Array, in, out int) func(x *array.Array) *array.Array {
	return only(transform.VMap(many(f), []int{in}, []int{out}))
}

func TestVMapOfCollectivesIsALoopOverExamples(t *testing.T) {
	conform.Row(t, "O16", "O17")
	each(t, []int{1, 2, 3}, func(r rank, m model) {
		n := r.g.Size()
		f := func(x *array.Array) *array.Array { return m.apply(x, r.g) }
		for in := range 3 {
			shape := []int{n, 2}
			shape = append(shape[:in], append([]int{3}, shape[in:]...)...)
			x, v := numbers(1, r.r, shape...), numbers(2, r.r, shape...)
			for out := range 3 {
				near(r, "value", vmapped(f, in, out)(x), overAxis(f, x, in, out), 0)
				for name, wrap := range inOrder(wrappings) {
					near(r, name+" of vmap", wrap(vmapped(f, in, out))(x), overAxis(f, x, in, out), 0)
					near(r, "vmap of "+name, vmapped(wrap(f), in, out)(x), overAxis(f, x, in, out), 0)
				}
				slope := transform.Grad(m.scalarLoss(r))
				near(r, "vmap of gradient", vmapped(slope, in, out)(x), overAxis(slope, x, in, out), 1e-14)
			}
			whole := func(x *array.Array) *array.Array { return vmapped(m.scalarLoss(r), in, 0)(x).Sum() }
			loop := func(x *array.Array) *array.Array { return overAxis(m.scalarLoss(r), x, in, 0).Sum() }
			near(r, "gradient of vmap", transform.Grad(whole)(x), transform.Grad(loop)(x), 1e-14)
			near(r, "tangent of vmap", along(whole, x, v), along(loop, x, v), 1e-14)
			near(r, "tangent of gradient of vmap", along(transform.Grad(whole), x, v), along(transform.Grad(loop), x, v), 1e-13)
			again := func(g func(x *array.Array) *array.Array) func(x *array.Array) *array.Array {
				return transform.Grad(func(x *array.Array) *array.Array { return transform.Grad(g)(x).Mul(v).Sum() })
			}
			near(r, "second gradient of vmap", again(whole)(x), again(loop)(x), 1e-13)
		}
	})
}

func TestVMapOfVMapOfCollectives(t *testing.T) {
	each(t, []int{2, 3}, func(r rank, m model) {
		n := r.g.Size()
		f := func(x *array.Array) *array.Array { return m.apply(x, r.g) }
		for _, c := range []struct {
			shape        []int
			outer, inner int // of what the outer has left
		}{{[]int{2, 3, n}, 0, 0}, {[]int{n, 2, 3}, 1, 1}, {[]int{3, n, 2}, 2, 0}, {[]int{n, 3, 2}, 2, 1}} {
			x := numbers(1, r.r, c.shape...)
			inner := func(x *array.Array) *array.Array { return overAxis(f, x, c.inner, 1) }
			near(r, "value", vmapped(vmapped(f, c.inner, 1), c.outer, 0)(x), overAxis(inner, x, c.outer, 0), 0)
		}
	})
}

// The gradient of a gradient is the same however the function is wrapped.
func TestSecondGradientsOfWrappedCollectives(t *testing.T) {
	each(t, []int{2, 4}, func(r rank, m model) {
		n := r.g.Size()
		x, v := numbers(1, r.r, n, 2), numbers(2, r.r, n, 2)
		second := func(f func(x *array.Array) *array.Array) *array.Array {
			return transform.Grad(func(x *array.Array) *array.Array { return transform.Grad(f)(x).Mul(v).Sum() })(x)
		}
		for name, wrap := range inOrder(wrappings) {
			near(r, name, second(wrap(m.scalarLoss(r))), second(m.scalarLoss(r)), 1e-14)
		}
	})
}
