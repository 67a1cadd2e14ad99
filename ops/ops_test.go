package ops_test

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
	"github.com/lockstep-go/lockstep/internal/conform"
	"github.com/lockstep-go/lockstep/ops"
)

func TestReductionsOfTwoRanks(t *testing.T) {
	conform.Row(t, "R1", "R28")
	world(t, 2, func(r rank) {
		x := array.From(by(r, []float32{1, 2}, []float32{3, 4}))
		same(r, "sum", ops.AllSum(x, r.g), []float32{4, 6}, 2)
		same(r, "mean", ops.AllMean(x, r.g), []float32{2, 3}, 2)
		same(r, "max", ops.AllMax(x, r.g), []float32{3, 4}, 2)
		same(r, "min", ops.AllMin(x, r.g), []float32{1, 2}, 2)
		same(r, "the argument afterwards", x, by(r, []float32{1, 2}, []float32{3, 4}), 2)
	})
}

func TestReductionOfScalarsAndEmptyArrays(t *testing.T) {
	conform.Row(t, "R3", "R18")
	sizes(t, []int{2, 3, 8}, func(r rank) {
		n := r.g.Size()
		same(r, "scalar", ops.AllSum(array.Scalar(int32(3)), r.g), []int32{int32(3 * n)})
		same(r, "empty", ops.AllSum(array.Zeros(dtype.Float64, 0, 3), r.g), []float64{}, 0, 3)
		same(r, "seven elements", ops.AllSum(array.Ones(dtype.Uint8, 7), r.g), []uint8(strings.Repeat(string(rune(n)), 7)), 7)
		same(r, "bool", ops.AllSum(array.From([]bool{r.r == 0, false}), r.g), []bool{true, false}, 2)
	})
}

func TestReductionOfViews(t *testing.T) {
	conform.Row(t, "R19", "R20")
	world(t, 2, func(r rank) {
		scale := float32(math.Pow10(r.r))
		x := array.From([]float32{scale, 2 * scale, 3 * scale, 4 * scale}, 2, 2)
		same(r, "transposed", ops.AllSum(x.T(), r.g), []float32{11, 33, 22, 44}, 2, 2)
		same(r, "broadcast", ops.AllSum(array.Scalar(scale).BroadcastTo(3), r.g), []float32{11, 11, 11}, 3)
		same(r, "reversed", ops.AllSum(x.Flatten().SliceAxisStep(0, 3, -5, -2), r.g), []float32{44, 22}, 2)
		same(r, "source", x, []float32{scale, 2 * scale, 3 * scale, 4 * scale}, 2, 2)
	})
}

func TestMeanOfIntegersIsFloat32(t *testing.T) {
	sizes(t, []int{1, 2}, func(r rank) {
		x := array.From([]int32{3 + int32(r.r), 5 + int32(r.r)})
		want := []float32{3, 5}
		if r.g.Size() == 2 {
			want = []float32{3.5, 5.5}
		}
		same(r, "mean", ops.AllMean(x, r.g), want, 2)
	})
}

func TestGroupOfOneReturnsTheArgument(t *testing.T) {
	conform.Row(t, "R25", "A8", "C5", "O21")
	x := array.From([]float32{1, 2})
	for name, y := range map[string]*array.Array{
		"all_sum":       ops.AllSum(x, group.Single()),
		"all_mean":      ops.AllMean(x, group.Single()),
		"all_max":       ops.AllMax(x, nil),
		"all_min":       ops.AllMin(x, nil),
		"all_gather":    ops.AllGather(x, nil),
		"sum_scatter":   ops.SumScatter(x, nil),
		"sum_gradients": ops.SumGradients(x, nil),
	} {
		if y != x {
			t.Errorf("%s returns another array", name)
		}
	}
}

func TestGather(t *testing.T) {
	conform.Row(t, "A2", "A3", "A5")
	world(t, 2, func(r rank) {
		same(r, "matrix", ops.AllGather(array.From(by(r, []int8{1, 2}, []int8{3, 4}), 1, 2), r.g), []int8{1, 2, 3, 4}, 2, 2)
		same(r, "scalar", ops.AllGather(array.Scalar(by(r, 5.0, 7.0)), r.g), []float64{5, 7}, 2)
		same(r, "no rows", ops.AllGather(array.Zeros(dtype.Bool, 0, 3), r.g), []bool{}, 0, 3)
		same(r, "no columns", ops.AllGather(array.Zeros(dtype.Bool, 2, 0), r.g), []bool{}, 4, 0)
	})
}

func TestSumScatter(t *testing.T) {
	conform.Row(t, "C1", "C3", "C4", "C11")
	world(t, 2, func(r rank) {
		x := array.From(by(r, []float32{1, 2, 3, 4}, []float32{10, 20, 30, 40}))
		y := ops.SumScatter(x, r.g)
		same(r, "slice", y, by(r, []float32{11, 22}, []float32{33, 44}), 2)
		same(r, "gathered again", ops.AllGather(y, r.g), []float32{11, 22, 33, 44}, 4)
		for name, bad := range map[string]struct {
			x    *array.Array
			want string
		}{
			"scalar": {array.Scalar(float32(1)), "axis 0 is needed"},
			"odd":    {array.Zeros(dtype.Float32, 3, 2), "shape [3 2] does not divide into 2"},
		} {
			if err := ops.SumScatter(bad.x, r.g).Err(); err == nil || !strings.Contains(err.Error(), bad.want) {
				r.Errorf("%s: error is %v", name, err)
			}
		}
	})
}

func TestMessages(t *testing.T) {
	conform.Row(t, "S1", "S2")
	world(t, 2, func(r rank) {
		x, y := array.Ones(dtype.Float32, 10), array.Ones(dtype.Float32, 5, 5).AddScalar(2)
		for round := range 10 {
			if round%2 == r.r {
				if err := array.Eval(r.ctx, y, ops.Send(x.MulScalar(2), 1-r.r, r.g)); err != nil {
					r.Error(err)
				}
			} else {
				x = ops.RecvLike(x, 1-r.r, r.g)
			}
			if err := array.Eval(r.ctx, x, y); err != nil {
				r.Error(err)
			}
		}
		same(r, "after ten rounds", array.Stack([]*array.Array{x.Max(), x.Min()}, 0), by(r, []float32{1024, 1024}, []float32{512, 512}), 2)
		same(r, "the work beside", array.Stack([]*array.Array{y.Max(), y.Min()}, 0), []float32{3, 3}, 2)
	})
}

func TestEveryRankReceivesThenSendsInOneEvaluation(t *testing.T) {
	conform.Row(t, "S22")
	sizes(t, []int{2, 3, 4, 5, 8}, func(r rank) {
		n := r.g.Size()
		x := array.Full(float64(r.r), dtype.Float32, large(n)/4)
		got := ops.RecvLike(x, (r.r+n-1)%n, r.g)
		sent := ops.Send(x, (r.r+1)%n, r.g)
		if err := array.Eval(r.ctx, got, sent); err != nil {
			r.Error(err)
		}
		same(r, "from the left", got.Max(), []float32{float32((r.r + n - 1) % n)})
		same(r, "what was sent", sent.Sub(x).Abs().Max(), []float32{0})
	})
}

func TestMessagesKeepTheOrderOfTheirRecords(t *testing.T) {
	conform.Row(t, "S21")
	world(t, 2, func(r rank) {
		if r.r == 0 {
			a, b := ops.Send(array.Scalar(1.0), 1, r.g), ops.Send(array.Scalar(2.0), 1, r.g)
			if err := array.Eval(r.ctx, b, a); err != nil {
				r.Error(err)
			}
			return
		}
		a, b := ops.Recv(0, r.g, dtype.Float64), ops.Recv(0, r.g, dtype.Float64)
		same(r, "difference", b.Sub(a), []float64{1})
	})
}

func TestMismatchedMessageIsDroppedAndTheNextArrives(t *testing.T) {
	conform.Row(t, "S10", "S11", "S12")
	for name, want := range inOrder(map[string]array.Spec{
		"other type":  {Shape: []int{2, 3}, DType: dtype.Int32},
		"other shape": {Shape: []int{3, 2}, DType: dtype.Float32},
		"longer":      {Shape: []int{7}, DType: dtype.Float32},
	}) {
		t.Run(name, func(t *testing.T) {
			world(t, 2, func(r rank) {
				x := array.From([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
				if r.r == 0 {
					if err := array.Eval(r.ctx, ops.Send(x, 1, r.g), ops.Send(x.MulScalar(2), 1, r.g)); err != nil {
						r.Error(err)
					}
					return
				}
				err := ops.Recv(0, r.g, want.DType, want.Shape...).Eval(r.ctx)
				if err == nil || !strings.Contains(err.Error(), "rank 0") || !strings.Contains(err.Error(), "float32[2 3]") ||
					!strings.Contains(err.Error(), want.String()) {
					r.Errorf("error is %v", err)
				}
				same(r, "next message", ops.RecvLike(x, 0, r.g), []float32{2, 4, 6, 8, 10, 12}, 2, 3)
			})
		})
	}
}

func TestCloseTellsOfSendsThatNobodyEvaluated(t *testing.T) {
	for name, c := range map[string]struct {
		use  func(ctx context.Context, g *group.Group) error
		says string
	}{
		"one sent, two forgotten": {func(ctx context.Context, g *group.Group) error {
			sent := ops.Send(array.Scalar(1.0), 1, g)
			ops.Send(array.Scalar(2.0), 1, g)
			ops.Send(array.Scalar(3.0), 1, g)
			return array.Eval(ctx, sent)
		}, `never evaluated" rank=0 size=2 backend=custom to=1 tag=0 number=2`},
		"all sent": {func(ctx context.Context, g *group.Group) error {
			return array.Eval(ctx, ops.Send(array.Scalar(1.0), 1, g), ops.Send(array.Scalar(2.0), 1, g))
		}, ""},
		"not sent because of a mistake": {func(ctx context.Context, g *group.Group) error {
			wrong := array.Ones(dtype.Float32, 2).Add(array.Ones(dtype.Float32, 3))
			if array.Eval(ctx, ops.Send(array.Scalar(1.0), 1, g), wrong) == nil {
				return errors.New("a mistake was evaluated")
			}
			return nil
		}, ""},
		"a receive that nobody evaluated": {func(_ context.Context, g *group.Group) error {
			ops.Recv(1, g, dtype.Float32)
			return nil
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			comms := grouptest.NewWorld(2)
			defer comms[1].Close()
			var log strings.Builder
			g := group.NewWith(comms[0], group.Config{Timeout: 10 * time.Second, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			if err := c.use(t.Context(), g); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := g.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if says := strings.Count(log.String(), "WARN"); (c.says == "") != (says == 0) || says > 1 || !strings.Contains(log.String(), c.says) {
				t.Errorf("log is %q, want %q once", log.String(), c.says)
			}
		})
	}
}

func TestWrongPeersAreFoundWhenBuilt(t *testing.T) {
	conform.Row(t, "S7", "S8", "S9")
	world(t, 2, func(r rank) {
		x := array.Scalar(1.0)
		for name, c := range map[string]struct {
			x    *array.Array
			want string
		}{
			"beyond":      {ops.Send(x, 2, r.g), "invalid destination 2 in a group of size 2"},
			"negative":    {ops.Recv(-1, r.g, dtype.Bool), "invalid source -1 in a group of size 2"},
			"itself":      {ops.Send(x, r.r, r.g), "not another one"},
			"alone":       {ops.RecvLike(x, 0, group.Single()), "a group of one has no other rank"},
			"type":        {ops.Recv(1-r.r, r.g, dtype.Invalid), "invalid element type"},
			"shape":       {ops.Recv(1-r.r, r.g, dtype.Bool, -1), "negative length"},
			"not a group": {ops.AllSum(x, outside(r)), "not in the group"},
		} {
			if err := c.x.Err(); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "ops_test.go:") {
				r.Errorf("%s: error is %v", name, err)
			}
		}
	})
}

func outside(r rank) *group.Group {
	g, err := r.g.Split(r.ctx, group.NoColor, 0)
	if err != nil {
		r.Error(err)
	}
	return g
}

func TestOneCommunicationHoweverOftenRead(t *testing.T) {
	conform.Row(t, "R26")
	world(t, 2, func(r rank) {
		x := array.Scalar(by(r, 1.0, 2.0))
		y := ops.AllSum(x, r.g)
		same(r, "sum", y.Add(y).Add(y), []float64{9})
		same(r, "sum again", y, []float64{3})
		if n := r.g.Stats().Collectives; n != 1 {
			r.Errorf("%d collectives ran", n)
		}
	})
}

func TestCollectivesRunInRecordOrderWhateverIsReadFirst(t *testing.T) {
	conform.Row(t, "O1", "O3")
	world(t, 2, func(r rank) {
		var xs []*array.Array
		for i := range 30 {
			xs = append(xs, ops.AllSum(array.Scalar(float64(i)), r.g))
		}
		a, b := ops.AllSum(array.Scalar(100.0), r.g), ops.AllSum(array.Scalar(1000.0), r.g)
		pair := by(r, []*array.Array{a, b}, []*array.Array{b, a})
		if err := array.Eval(r.ctx, pair...); err != nil {
			r.Error(err)
		}
		same(r, "first", a, []float64{200})
		same(r, "second", b, []float64{2000})
		chain, tree := xs[0], array.Stack(xs, 0).Sum()
		for _, x := range xs[1:] {
			chain = x.Add(chain)
		}
		same(r, "many", by(r, chain, tree), []float64{870})
	})
}

func TestTwoGroupsInterleavedEitherWay(t *testing.T) {
	world(t, 2, func(r rank) {
		other, err := r.g.Split(r.ctx, 0, 0)
		if err != nil {
			r.Error(err)
			return
		}
		order := by(r, []*group.Group{r.g, other}, []*group.Group{other, r.g})
		first, second := ops.AllSum(array.Scalar(1.0), order[0]), ops.AllSum(array.Scalar(1.0), order[1])
		if err := array.Eval(r.ctx, first, second); err != nil {
			r.Error(err)
		}
	})
}

func TestRanksThatDisagreeAllLearnWhatEachCalled(t *testing.T) {
	conform.Row(t, "R22", "R23", "R24", "A7")
	cases := map[string]struct {
		call  func(r rank) *array.Array
		words []string
	}{
		"other operation": {func(r rank) *array.Array {
			x := array.Ones(dtype.Float32, 4)
			return by(r, ops.AllSum, ops.AllMax, ops.AllSum)(x, r.g)
		}, []string{"all_sum #1", "all_max #1"}},
		"other shape": {func(r rank) *array.Array {
			return ops.AllSum(array.Ones(dtype.Float32, by(r, 4, 4, 8)), r.g)
		}, []string{"float32[4]", "float32[8]", "rank 2"}},
		"other type": {func(r rank) *array.Array {
			return ops.AllSum(array.Ones(by(r, dtype.Float32, dtype.Int32, dtype.Int32), 4), r.g)
		}, []string{"float32[4]", "int32[4]", "rank 0"}},
		"a gather": {func(r rank) *array.Array {
			x := array.Ones(dtype.Float32, 2)
			return by(r, ops.AllGather, ops.AllSum, ops.AllSum)(x, r.g)
		}, []string{"all_gather #1", "all_sum #1"}},
		"another record": {func(r rank) *array.Array {
			a, b := ops.AllSum(array.Scalar(1.0), r.g), ops.AllSum(array.Scalar(2.0), r.g)
			return by(r, a, b, a)
		}, []string{"all_sum #1", "all_sum #2"}},
	}
	for name, c := range inOrder(cases) {
		t.Run(name, func(t *testing.T) {
			world(t, 3, func(r rank) {
				err := c.call(r).Eval(r.ctx)
				if !errors.Is(err, group.ErrMismatch) {
					r.Errorf("rank %d: error is %v", r.r, err)
					return
				}
				for _, word := range c.words {
					if !strings.Contains(err.Error(), word) {
						r.Errorf("rank %d: %q is not in %q", r.r, word, err)
					}
				}
			})
		})
	}
}

func TestPeersLearnOfAMistakeAtOnce(t *testing.T) {
	conform.Row(t, "O26", "O24")
	world(t, 3, func(r rank) {
		x := array.Ones(dtype.Float32, 2)
		if r.r == 2 {
			x = x.Add(array.Ones(dtype.Float32, 3))
		}
		start := time.Now()
		err := ops.AllSum(x, r.g).Eval(r.ctx)
		if err == nil || !strings.Contains(err.Error(), "add at ops_test.go:") {
			r.Errorf("rank %d: error is %v", r.r, err)
		}
		if r.r != 2 && !strings.Contains(err.Error(), "rank 2: gave up all_sum") {
			r.Errorf("rank %d is not told who: %v", r.r, err)
		}
		if waited := time.Since(start); waited > 5*time.Second {
			r.Errorf("rank %d waited %v", r.r, waited)
		}
		if err := ops.AllSum(array.Scalar(1.0), r.g).Eval(r.ctx); err == nil {
			r.Errorf("rank %d: the group still works", r.r)
		}
		same(r, "local work", array.Scalar(1.0).AddScalar(1), []float64{2})
	})
}
