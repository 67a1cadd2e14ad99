//go:build !world

package ops_test

import (
	"runtime"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/internal/conform"
	"github.com/lockstep-go/lockstep/ops"
)

func TestSixteenRanksOnOneProcessor(t *testing.T) {
	conform.Row(t, "O25")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	world(t, 16, func(r rank) {
		other, err := r.g.Split(r.ctx, r.r%2, 0)
		if err != nil {
			r.Error(err)
			return
		}
		x := array.Scalar(1.0)
		for range 5 {
			x = ops.AllMean(ops.AllSum(x, other), r.g)
		}
		same(r, "product", x, []float64{8 * 8 * 8 * 8 * 8})
		// The two groups interleaved: even ranks begin with one, odd ranks with the other.
		a, b := ops.AllSum(array.Scalar(1.0), r.g), ops.AllMax(array.Scalar(float64(r.r)), other)
		pair := []*array.Array{a, b}
		if r.r%2 == 1 {
			pair = []*array.Array{b, a}
		}
		if err := array.Eval(r.ctx, pair...); err != nil {
			r.Error(err)
		}
		same(r, "sum over all", a, []float64{16})
		same(r, "largest of the half", b, []float64{float64(14 + r.r%2)})
	})
}
