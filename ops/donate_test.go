package ops_test

import (
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/conform"
	"github.com/lockstep-go/lockstep/ops"
)

// What is done to a sum over ranks needs no second room beside the sum: its storage is
// written over inside a compiled function, or where it is donated. The operand keeps its value.
func TestReductionsAreWrittenOver(t *testing.T) {
	conform.Row(t, "R27")
	const elems = 1 << 20
	sizes(t, []int{2}, func(r rank) {
		x := array.Arange(0, elems, 1, dtype.Float32)
		if err := array.Eval(r.ctx, x); err != nil {
			r.Fatal(err)
		}
		doubled := transform.Compile(func(xs ...*array.Array) []*array.Array {
			return []*array.Array{ops.AllSum(xs[0], r.g).MulScalar(2)}
		})
		peak := func(f func() *array.Array) int64 {
			r.meet()
			array.ClearCache()
			r.meet()
			array.ResetPeakMemory()
			before := array.Memory().Active
			r.meet()
			y := f()
			if err := array.Eval(r.ctx, y); err != nil {
				r.Fatal(err)
			}
			r.meet()
			return array.Memory().Peak - before
		}
		n := float32(r.g.Size())
		check := func(what string, x *array.Array, factor float32) {
			v, err := array.Values[float32](r.ctx, x)
			if err != nil || v[3] != 3*factor || v[elems-1] != (elems-1)*factor {
				r.Errorf("%s: %v", what, err)
			}
		}
		sum := peak(func() *array.Array { return ops.AllSum(x, r.g) })
		for what, f := range inOrder(map[string]func() *array.Array{
			"compiled": func() *array.Array { return doubled(x)[0] },
			"donated":  func() *array.Array { return array.Donate(ops.AllSum(x, r.g)).MulScalar(2) },
		}) {
			var y *array.Array
			if got := peak(func() *array.Array { y = f(); return y }); got > sum+1024 { // numbers of a few bytes
				r.Errorf("%s: %d bytes at once, the sum alone takes %d", what, got, sum)
			}
			check(what, y, 2*n)
			y = nil
		}
		check("the operand", x, 1)
		given := array.Donate(x.AddScalar(0))
		if got := peak(func() *array.Array { return ops.AllSum(given, r.g) }); got > sum+1024 {
			r.Errorf("a donated operand: %d bytes at once beside it, %d in the sum's own storage", got, sum)
		}
	})
}

// What one compiled function returns as a view of its own values, and another captures, is
// there for every call of the other.
func TestCapturedViewsOfCompiledValues(t *testing.T) {
	sizes(t, []int{2}, func(r rank) {
		x := array.Arange(0, 5000, 1, dtype.Float32).Reshape(50, 100)
		f := transform.Compile(func(xs ...*array.Array) []*array.Array {
			y := xs[0].MulScalar(2)
			return []*array.Array{ops.AllSum(y, r.g), y.T()}
		})
		ys := f(x)
		h := transform.Compile(func(xs ...*array.Array) []*array.Array {
			return []*array.Array{xs[0].Add(ys[1]).Abs()}
		})
		zeros := array.Zeros(dtype.Float32, 100, 50)
		for range 3 {
			if err := array.Eval(r.ctx, h(zeros)[0], ys[0], ys[1]); err != nil {
				r.Fatal(err)
			}
			v, err := array.Values[float32](r.ctx, h(zeros)[0])
			if err != nil || v[3] != 600 || v[51] != 202 {
				r.Fatalf("%v, %v", v[:min(len(v), 52)], err)
			}
		}
	})
}
