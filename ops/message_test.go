package ops_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/conform"
	"github.com/lockstep-go/lockstep/ops"
)

func TestLargeMessagesBothWaysAtOnce(t *testing.T) {
	conform.Row(t, "S4x")
	world(t, 2, func(r rank) {
		other := 1 - r.r
		x := array.Full(float64(r.r+1), dtype.Float32, large(2)/4)
		sent, got := ops.Send(x, other, r.g), ops.RecvLike(x, other, r.g)
		if err := array.Eval(r.ctx, sent, got); err != nil {
			r.Error(err)
		}
		same(r, "received", array.Stack([]*array.Array{got.Max(), got.Min()}, 0), []float32{float32(other + 1), float32(other + 1)}, 2)
	})
}

func TestTheResultOfSendIsItsArgument(t *testing.T) {
	conform.Row(t, "S5")
	world(t, 2, func(r rank) {
		x := array.From([]float64{1, math.Inf(1), -3})
		if r.r == 0 {
			same(r, "twice", ops.Send(x, 1, r.g).MulScalar(2), []float64{2, math.Inf(1), -6}, 3)
			return
		}
		same(r, "received", ops.RecvLike(x, 0, r.g), []float64{1, math.Inf(1), -3}, 3)
	})
}

func TestASendThatNobodyEvaluatesIsNotSent(t *testing.T) {
	conform.Row(t, "S6")
	patientWorld(t, 2, impatience, func(r rank) {
		if r.r == 0 {
			ops.Send(array.Scalar(1.0), 1, r.g)
		} else {
			says(r, "received", ops.Recv(0, r.g, dtype.Float64).Eval(r.ctx), "recv from rank 0", "timeout after 1s")
		}
		r.meet()
	})
}

func TestBytesThatAreNoArrayAreAnErrorAndTheNextArrives(t *testing.T) {
	conform.Row(t, "S15")
	world(t, 2, func(r rank) {
		x := array.From([]float32{1, 2})
		if r.r == 0 {
			if err := r.g.Communicator().Send(r.ctx, 1, 0, []byte("GET / HTTP/1.1\r\nhost: lockstep\r\n\r\n")); err != nil {
				r.Error(err)
			}
			if err := ops.Send(x, 1, r.g).Eval(r.ctx); err != nil {
				r.Error(err)
			}
			return
		}
		says(r, "garbage", ops.RecvLike(x, 0, r.g).Eval(r.ctx), "rank 0", "no array header")
		same(r, "next", ops.RecvLike(x, 0, r.g), []float32{1, 2}, 2)
	})
}

func TestRecvLikeTakesShapeAndTypeAlone(t *testing.T) {
	conform.Row(t, "S17")
	world(t, 2, func(r rank) {
		if r.r == 0 {
			if err := array.Eval(r.ctx, ops.Send(array.From([]float64{5, 6}), 1, r.g), ops.Send(array.From([]float64{7, 8}), 1, r.g)); err != nil {
				r.Error(err)
			}
			return
		}
		wrong := array.From([]float64{1, 2}).Take(array.From([]int32{0, 9}), 0) // cannot be evaluated
		same(r, "received", ops.RecvLike(wrong, 0, r.g), []float64{5, 6}, 2)
		value, grad := valueAndGrad(func(x *array.Array) *array.Array { return ops.RecvLike(x, 0, r.g).Mul(x).Sum() }, array.From([]float64{1, 10}))
		same(r, "value", value, []float64{87})
		same(r, "gradient", grad, []float64{7, 8}, 2)
		mistake := array.Ones(dtype.Int8, 2).Add(array.Ones(dtype.Int8, 3))
		if got := ops.RecvLike(mistake, 0, r.g); !errors.Is(got.Err(), mistake.Err()) {
			r.Errorf("like a mistake: %v", got.Err())
		}
	})
}

func TestTransformsOfMessagesAreErrorsThatNameThem(t *testing.T) {
	conform.Row(t, "S18")
	world(t, 2, func(r rank) {
		x := array.Scalar(1.0)
		send := func(x *array.Array) *array.Array { return ops.Send(x, 1-r.r, r.g) }
		for name, err := range map[string]error{
			"vjp of send": transform.Grad(send)(x).Err(),
			"jvp of send": along(send, x, x).Err(),
		} {
			if !errors.Is(err, array.ErrNoRule) || !strings.Contains(err.Error(), name) {
				r.Errorf("%s: error is %v", name, err)
			}
		}
		// No argument leads to a receive; who asks its rules is told.
		p := ops.Recv(1-r.r, r.g, dtype.Float64).Node().Primitive()
		_, vjp := p.VJP(nil, nil, nil, nil)
		_, jvp := p.JVP(nil, nil, nil, nil)
		_, _, vmap := p.VMap(nil, nil)
		for _, err := range []error{vjp, jvp, vmap} {
			if p.Name() != "recv" || !errors.Is(err, array.ErrNoRule) {
				r.Errorf("%s: error is %v", p.Name(), err)
			}
		}
	})
}

func TestVMapOfSendIsOneMessage(t *testing.T) {
	conform.Row(t, "S19")
	world(t, 2, func(r rank) {
		x := array.From([]float64{1, 2, 3, 4, 5, 6}, 2, 3)
		if r.r == 0 {
			f := func(x *array.Array) *array.Array { return ops.Send(x.MulScalar(10), 1, r.g) }
			same(r, "sent", vmapped(f, 1, 0)(x), []float64{10, 40, 20, 50, 30, 60}, 3, 2)
			return
		}
		same(r, "received", ops.RecvLike(x.T(), 0, r.g), []float64{10, 40, 20, 50, 30, 60}, 3, 2)
	})
}

// A receive that no example leads to happens once, for all of them.
func TestAReceiveUnderVMapIsSharedByTheExamples(t *testing.T) {
	world(t, 2, func(r rank) {
		if r.r == 0 {
			if err := ops.Send(array.Scalar(100.0), 1, r.g).Eval(r.ctx); err != nil {
				r.Error(err)
			}
			return
		}
		f := func(x *array.Array) *array.Array { return x.Add(ops.Recv(0, r.g, dtype.Float64)) }
		same(r, "sums", vmapped(f, 0, 0)(array.From([]float64{1, 2, 3})), []float64{101, 102, 103}, 3)
	})
}

func TestAChainOverAllRanksInOneEvaluation(t *testing.T) {
	conform.Row(t, "S20")
	sizes(t, []int{2, 3, 4, 8}, func(r rank) {
		n := r.g.Size()
		x := array.Scalar(100.0)
		if r.r > 0 {
			x = ops.RecvLike(x, r.r-1, r.g).AddScalar(1)
		}
		if r.r < n-1 {
			x = ops.Send(x, r.r+1, r.g)
		}
		same(r, "passed on", x, []float64{100 + float64(r.r)})
	})
}

// Evaluated one by one in another order than recorded, messages would be taken for each
// other: the one that comes too early says so, and nothing is sent or taken.
func TestMessagesOutOfOrderAreAnError(t *testing.T) {
	conform.Row(t, "S21")
	world(t, 2, func(r rank) {
		if r.r == 0 {
			first, second := ops.Send(array.Scalar(1.0), 1, r.g), ops.Send(array.Scalar(2.0), 1, r.g)
			third := ops.Send(array.Scalar(3.0), 1, r.g)
			says(r, "second", second.Eval(r.ctx), "send #2 to rank 1: number 1 was recorded before")
			same(r, "first", first, []float64{1})
			same(r, "third", third, []float64{3})
			return
		}
		one, two, three := ops.Recv(0, r.g, dtype.Float64), ops.Recv(0, r.g, dtype.Float64), ops.Recv(0, r.g, dtype.Float64)
		says(r, "third", three.Eval(r.ctx), "recv #3 from rank 0: number 1 was recorded before")
		says(r, "second", two.Eval(r.ctx), "recv #2 from rank 0: number 1 was recorded before")
		same(r, "first", one, []float64{1})
		same(r, "what was sent last", ops.Recv(0, r.g, dtype.Float64), []float64{3})
		same(r, "local work", array.Scalar(1.0).AddScalar(1), []float64{2})
	})
}

// A message waits neither for a collective nor for another message.
func TestMessagesPassCollectivesThatWait(t *testing.T) {
	world(t, 2, func(r rank) {
		if r.r == 0 {
			sum := ops.AllSum(array.Scalar(1.0), r.g)
			got := ops.Recv(1, r.g, dtype.Float64)
			same(r, "both", sum.Add(got), []float64{9})
			return
		}
		if err := ops.Send(array.Scalar(7.0), 0, r.g).Eval(r.ctx); err != nil { // before rank 0's sum can be
			r.Error(err)
		}
		same(r, "sum", ops.AllSum(array.Scalar(1.0), r.g), []float64{2})
	})
}

// A receive whose evaluation was given up leaves its message to the next one.
func TestAMessageGivenUpIsTheNextOnes(t *testing.T) {
	world(t, 2, func(r rank) {
		if r.r == 0 {
			wrong := array.From([]float64{1, 2}).Take(array.From([]int32{9}), 0)
			if err := ops.Send(wrong, 1, r.g).Eval(r.ctx); err == nil {
				r.Error("an index out of range was sent")
			}
			if err := array.Eval(r.ctx, ops.Send(array.Scalar(1.0), 1, r.g), ops.Send(array.Scalar(2.0), 1, r.g)); err != nil {
				r.Error(err)
			}
			return
		}
		ctx, cancel := context.WithCancelCause(r.ctx)
		cancel(errors.New("not needed any more"))
		given := ops.Recv(0, r.g, dtype.Float64)
		says(r, "given up", given.Eval(ctx), "not needed any more")
		same(r, "the next", ops.Recv(0, r.g, dtype.Float64), []float64{1})
		mistake := array.Ones(dtype.Float64, 2).Add(array.Ones(dtype.Float64, 3))
		says(r, "beside a mistake", array.Eval(r.ctx, ops.Recv(0, r.g, dtype.Float64), mistake), "add at message_test.go")
		same(r, "the one after", ops.Recv(0, r.g, dtype.Float64), []float64{2})
	})
}
