package ops_test

import (
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/ops"
)

// The package comment's two ways to bring gradients of shared parameters together, on a
// batch of eight rows that ranks share out. Each is held against the gradient that one
// process takes over the whole batch; the other way would be off by the number of ranks.

func features(x, w *array.Array) *array.Array { return x.MatMul(w).Tanh() }

// contrast compares every row's features with every other's.
func contrast(f *array.Array) *array.Array { return f.MatMul(f.T()).LogSoftmax(1).Mean() }

func TestGradientsOfOneReplicatedLossAreSummed(t *testing.T) {
	sizes(t, worlds, func(r rank) {
		x, w := numbers(1, 0, 8, 3), numbers(2, 0, 3, 2)
		mine := array.Split(x, r.g.Size(), 0)[r.r]
		whole := func(w *array.Array) *array.Array { return contrast(features(x, w)) }
		loss := func(w *array.Array) *array.Array { return contrast(ops.AllGather(features(mine, w), r.g)) }
		near(r, "loss", loss(w), whole(w), 1e-12)
		near(r, "summed gradient", ops.AllSum(transform.Grad(loss)(w), r.g), transform.Grad(whole)(w), 1e-12)
		shared := func(w *array.Array) *array.Array { return loss(ops.SumGradients(w, r.g)) }
		near(r, "gradient through SumGradients", transform.Grad(shared)(w), transform.Grad(whole)(w), 1e-12)
	})
}

func TestGradientsOfTheLossesOfRanksAreAveraged(t *testing.T) {
	sizes(t, worlds, func(r rank) {
		x, y, w := numbers(1, 0, 8, 3), numbers(3, 0, 8, 2), numbers(2, 0, 3, 2)
		of := func(x, y *array.Array) func(w *array.Array) *array.Array {
			return func(w *array.Array) *array.Array { return features(x, w).Sub(y).Square().Mean() }
		}
		n := r.g.Size()
		loss, whole := of(array.Split(x, n, 0)[r.r], array.Split(y, n, 0)[r.r]), of(x, y)
		near(r, "mean loss", ops.AllMean(loss(w), r.g), whole(w), 1e-12)
		near(r, "mean gradient", ops.AllMean(transform.Grad(loss)(w), r.g), transform.Grad(whole)(w), 1e-12)
	})
}

// What all ranks hold alike and each uses in its own way goes through SumGradients: the
// gradient of what came before is then whole on every rank.
func TestSumGradientsStandsBeforeWorkOfItsOwn(t *testing.T) {
	sizes(t, worlds, func(r rank) {
		n := r.g.Size()
		x := numbers(1, r.r, 3)
		loss := func(x *array.Array) *array.Array {
			mean := ops.SumGradients(ops.AllMean(x, r.g), r.g) // the same everywhere …
			return ops.AllSum(x.Sub(mean).Square().Sum(), r.g) // … and used with each rank's own
		}
		variance := func(xs *array.Array) *array.Array { return xs.Sub(xs.MeanKeep(0)).Square().Sum() }
		all := stackedNumbers(1, n, 3)
		near(r, "value", loss(x), variance(all), 1e-12)
		near(r, "gradient", transform.Grad(loss)(x), transform.Grad(variance)(all).At(0, r.r), 1e-12)
	})
}
