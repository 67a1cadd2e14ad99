//go:build !world

package ops_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/ops"
)

// stage is a collective, and the local work before it, in a random program.
type stage struct {
	model   int
	seed    float64
	wrapped string
}

// program is a function from every rank's array to one number: stages, and a weighted sum.
type program struct {
	n      int
	stages []stage
	rows   int  // of the argument, on every rank
	batch  bool // there are two examples, mapped over axis
	axis   int
}

func (p program) String() string {
	text := fmt.Sprintf("%d ranks, %d rows, batch %v over axis %d", p.n, p.rows, p.batch, p.axis)
	for _, s := range p.stages {
		text += fmt.Sprintf(", %s %s", s.wrapped, models[s.model].name)
	}
	return text
}

func drawProgram(t *rapid.T) program {
	p := program{
		n: rapid.IntRange(1, 4).Draw(t, "ranks"), batch: rapid.Bool().Draw(t, "batch"), axis: rapid.IntRange(0, 2).Draw(t, "axis"),
	}
	p.rows = p.n * rapid.IntRange(1, 2).Draw(t, "rows")
	rows := p.rows
	for range rapid.IntRange(1, 4).Draw(t, "stages") {
		s := stage{
			model: rapid.IntRange(0, len(models)-1).Draw(t, "collective"), seed: rapid.Float64Range(0, 6).Draw(t, "seed"),
			wrapped: rapid.SampledFrom([]string{"plain", "compiled", "checkpoint", "compiled checkpoint"}).Draw(t, "wrapped"),
		}
		switch m := models[s.model]; {
		case m.divides && rows%p.n != 0, m.longer && rows > 16:
			continue
		case m.longer:
			rows *= p.n
		case m.name == "sum_scatter":
			rows /= p.n
		}
		p.stages = append(p.stages, s)
	}
	return p
}

// before is what a rank does to x before the collective, different on every rank.
func (s stage) before(x *array.Array, weights *array.Array) *array.Array {
	return x.Mul(weights).Sin().Add(x.MulScalar(0.3))
}

// onRank is the program of one rank. A replicated value goes through SumGradients before
// each rank does its own with it.
func (p program) onRank(r rank) func(x *array.Array) *array.Array {
	one := func(x *array.Array) *array.Array {
		shared := false
		for _, s := range p.stages {
			m, first := models[s.model], shared
			x = wrappings[s.wrapped](func(x *array.Array) *array.Array {
				if first {
					x = ops.SumGradients(x, r.g)
				}
				return m.apply(s.before(x, numbers(s.seed, r.r, x.Shape()...)), r.g)
			})(x)
			shared = m.shared
		}
		if shared {
			return x.Mul(numbers(7, 0, x.Shape()...)).Sum()
		}
		return ops.AllSum(x.Mul(numbers(7, r.r, x.Shape()...)).Sum(), r.g)
	}
	if !p.batch {
		return one
	}
	return func(x *array.Array) *array.Array { return vmapped(one, p.axis, 0)(x).Sum() }
}

// stacked is the program of all ranks in one process, on arrays of all ranks along axis 0.
func (p program) stacked(xs *array.Array) *array.Array {
	one := func(xs *array.Array) *array.Array {
		shared := false
		for _, s := range p.stages {
			xs = models[s.model].stacked(s.before(xs, stackedNumbers(s.seed, p.n, xs.Shape()[1:]...)))
			shared = models[s.model].shared
		}
		if shared {
			return xs.At(0, 0).Mul(numbers(7, 0, xs.Shape()[1:]...)).Sum()
		}
		return xs.Mul(stackedNumbers(7, p.n, xs.Shape()[1:]...)).Sum()
	}
	if !p.batch {
		return one(xs)
	}
	return overAxis(one, xs, p.axis+1, 0).Sum()
}

func (p program) shape() []int {
	shape := []int{p.rows, 2}
	if p.batch {
		shape = append(shape[:p.axis], append([]int{2}, shape[p.axis:]...)...)
	}
	return shape
}

// Random programs with several collectives, each alone or together compiled, recomputed and
// batched: values and first derivatives are those of the same program in one process, and
// so are derivatives of gradients.
func TestRandomProgramsOfCollectives(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawProgram(rt)
		together := rapid.SampledFrom([]string{"plain", "compiled", "checkpoint", "compiled checkpoint"}).Draw(rt, "together")
		xs, vs := stackedNumbers(1, p.n, p.shape()...), stackedNumbers(2, p.n, p.shape()...)
		slope := transform.Grad(p.stacked)
		value, tangent, gradient, second := p.stacked(xs), along(p.stacked, xs, vs), slope(xs), along(slope, xs, vs)
		if err := array.Eval(t.Context(), value, tangent, gradient, second); err != nil {
			rt.Fatal(err)
		}
		world(t, p.n, func(r rank) {
			f := wrappings[together](p.onRank(r))
			x, v := xs.At(0, r.r), vs.At(0, r.r)
			what := fmt.Sprintf("%s %v: ", together, p)
			near(r, what+"value", f(x), value, 1e-9)
			near(r, what+"gradient", transform.Grad(f)(x), gradient.At(0, r.r), 1e-9)
			near(r, what+"tangent", along(f, x, v), tangent, 1e-9)
			near(r, what+"gradient's tangent", along(transform.Grad(f), x, v), second.At(0, r.r), 1e-8)
		})
		if t.Failed() {
			rt.Fatal("see above")
		}
	})
}

// However a graph's collectives are spread over evaluations, as long as it is the same on all
// ranks: together, one after the other, asynchronously, in any order of the arguments.
func TestRandomOrdersOfEvaluation(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 4).Draw(rt, "ranks")
		count := rapid.IntRange(1, 12).Draw(rt, "collectives")
		kinds := rapid.SliceOfN(rapid.IntRange(0, 2), count, count).Draw(rt, "kinds")
		cuts := rapid.SliceOfN(rapid.IntRange(0, 3), count, count).Draw(rt, "evaluations")
		orders := make([][]int, n)
		for r := range orders {
			orders[r] = rapid.Permutation(upTo(count)).Draw(rt, "order")
		}
		world(t, n, func(r rank) {
			other, err := r.g.Split(r.ctx, 0, 0)
			if err != nil {
				r.Error(err)
				return
			}
			groups := []*group.Group{r.g, other, r.g}
			xs := make([]*array.Array, count)
			for i := range xs {
				x := array.Scalar(float64(i + 1))
				if i > 0 && kinds[i] == 2 {
					x = x.Add(xs[i-1])
				}
				xs[i] = ops.AllSum(x, groups[kinds[i]])
			}
			for part := range 4 { // each evaluation has the same collectives on every rank
				var mine []*array.Array
				for _, i := range orders[r.r] {
					if cuts[i] == part {
						mine = append(mine, xs[i])
					}
				}
				if part%2 == 0 {
					array.AsyncEval(r.ctx, mine...)
				} else if err := array.Eval(r.ctx, mine...); err != nil {
					r.Error(err)
				}
			}
			want := 0.0
			for i, x := range xs {
				if i == 0 || kinds[i] != 2 {
					want = 0
				}
				want = float64(n) * (float64(i+1) + want)
				same(r, fmt.Sprintf("number %d", i), x, []float64{want})
			}
			if err := array.Synchronize(r.ctx); err != nil {
				r.Error(err)
			}
		})
		if t.Failed() {
			rt.Fatal("see above")
		}
	})
}

func upTo(n int) (numbers []int) {
	for i := range n {
		numbers = append(numbers, i)
	}
	return numbers
}
