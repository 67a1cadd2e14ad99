package array

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// twoOperands are the operations that may take the short way.
var twoOperands = map[string]func(x, y *Array) *Array{
	"add": (*Array).Add, "subtract": (*Array).Sub, "multiply": (*Array).Mul, "divide": (*Array).Div,
	"floor_divide": (*Array).FloorDiv, "remainder": (*Array).Mod, "power": (*Array).Pow,
	"maximum": (*Array).Maximum, "minimum": (*Array).Minimum, "logaddexp": (*Array).LogAddExp, "arctan2": (*Array).Atan2,
	"equal": (*Array).Equal, "less": (*Array).Less, "greater_equal": (*Array).GreaterEqual,
	"bitwise_and": (*Array).BitAnd, "bitwise_or": (*Array).BitOr, "bitwise_xor": (*Array).BitXor,
	"left_shift": (*Array).ShiftLeft, "right_shift": (*Array).ShiftRight, "logical_and": (*Array).LogicalAnd,
}

// operands are computed arrays with zeros and negative numbers among theirs.
func operands(t *testing.T, d dtype.Type, n int) (x, y *Array) {
	t.Helper()
	x = Arange(-3, float64(n)-3, 1, dtype.Float32).MulScalar(0.75).AsType(d)
	y = Arange(-3, float64(n)-3, 1, dtype.Float32).Mod(Scalar(float32(5))).AddScalar(-1).AsType(d)
	if err := Eval(t.Context(), x, y); err != nil {
		t.Fatal(err)
	}
	return x, y
}

// upTo is the first n elements.
func (x *Array) upTo(n int) *Array { return x.Slice([]int{0}, []int{n}, []int{1}) }

// ranQuickly reports whether the node of x could be run the short way, and then has been.
func ranQuickly(x *Array) bool {
	var r room
	if !x.node().claimIdle() {
		return false
	}
	ran := x.node().runQuickly(&r)
	if !ran {
		x.node().settle(0)
	}
	return ran
}

func bytesOf(t *testing.T, x *Array) []byte {
	t.Helper()
	b, err := Bytes(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What lies in a longer array is computed the long way.
func TestTheShortWayGivesTheSameBits(t *testing.T) {
	const n, long = 45, 5000
	for name, f := range twoOperands {
		for _, d := range dtype.All() {
			t.Run(fmt.Sprint(name, " ", d), func(t *testing.T) {
				x, y := operands(t, d, n)
				z := f(x, y)
				if z.Err() != nil {
					return // not defined for this type
				}
				want := bytesOf(t, f(x.Tile(long/n), y.Tile(long/n)).upTo(n))
				quick := z.DType() == d && ranQuickly(z)
				if got := bytesOf(t, z); !bytes.Equal(got, want) {
					t.Errorf("short way %v: got %v, want %v", quick, got, want)
				}
				if z.DType() == d && quick == buffer.Pooled(n*d.Size()) {
					t.Errorf("taken: %v", quick)
				}
			})
		}
	}
}

func TestTheShortWayIsForEqualSmallArraysInRowOrder(t *testing.T) {
	x, y := operands(t, dtype.Float32, 6)
	square := x.Reshape(2, 3)
	turned := y.Reshape(3, 2).T()
	columns := square.Slice([]int{0, 0}, []int{2, 2}, []int{1, 1})
	large := Zeros(dtype.Float32, 1<<16).AddScalar(1)
	empty := Zeros(dtype.Float32, 0).AddScalar(1)
	if err := Eval(t.Context(), square, turned, columns, large, empty); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		z     *Array
		quick bool
	}{
		"rows":               {x.Add(y), !buffer.Pooled(24)},
		"a part of a row":    {x.Slice([]int{2}, []int{6}, []int{1}).Add(y.Slice([]int{2}, []int{6}, []int{1})), false}, // not computed yet
		"turned":             {square.Add(turned), false},
		"columns":            {columns.Add(columns), false},
		"another shape":      {square.Add(x.upTo(3)), false},
		"another type":       {x.Add(y.AsType(dtype.Float64)), false},
		"another type's":     {x.Less(y), false},
		"a repeated number":  {x.AddScalar(2), false},
		"large":              {large.Add(large), false},
		"nothing":            {empty.Add(empty), false},
		"an operand missing": {x.Neg().Add(y), false},
	} {
		if got := ranQuickly(c.z); got != c.quick {
			t.Errorf("%s: short way taken %v, want %v", name, got, c.quick)
		}
	}
}

func TestMistakesOnTheShortWay(t *testing.T) {
	x, y := operands(t, dtype.Float32, 4)
	mistake := Fail("test", errors.New("mistake"))
	if z := mistake.Add(x); z.Err() == nil {
		t.Error("a mistake was lost")
	}
	z := x.Add(y)
	eval := func(xs ...*Array) error { return Eval(t.Context(), xs...) }
	gone := Donate(x)
	if err := eval(gone); err != nil {
		t.Fatal(err)
	}
	if err := eval(z); !errors.Is(err, ErrDonated) {
		t.Errorf("reading what was donated: error is %v", err)
	}
	twice := gone.Mul(gone)
	if err := eval(twice); err != nil {
		t.Fatal(err)
	}
	if _, ok := gone.view(); ok {
		t.Error("a temporary array is there though what reads it has run")
	}
	if _, err := Values[float32](t.Context(), twice); err != nil {
		t.Error(err)
	}
}

func TestTheShortWayEndsWithItsContext(t *testing.T) {
	x, y := operands(t, dtype.Float32, 4)
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	cancel(reason)
	z := x
	for range 3 * atOnce {
		z = z.Add(y)
	}
	if err := Eval(ctx, z); !errors.Is(err, reason) {
		t.Errorf("error is %v", err)
	}
	if err := Eval(t.Context(), z); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestEvaluationsShareTheShortWay(t *testing.T) {
	x, y := operands(t, dtype.Int32, 8)
	for range 50 {
		z, want := x, x
		var all []*Array
		for range 4 * atOnce {
			z = z.Add(y)
			all = append(all, z)
		}
		var wait sync.WaitGroup
		for i := range 4 {
			wait.Go(func() {
				if err := Eval(t.Context(), all[len(all)-1-i]); err != nil {
					t.Error(err)
				}
				Sorted(all...)
			})
		}
		wait.Wait()
		want = want.Add(y.MulScalar(4 * atOnce))
		if got := bytesOf(t, z); !bytes.Equal(got, bytesOf(t, want)) {
			t.Fatalf("got %v", got)
		}
		for _, x := range all[:len(all)-4] {
			if x.node().pair[0] != nil {
				t.Fatal("a computed node keeps its history")
			}
		}
	}
}

// TestNodesAreSmall since the collector goes through all of them.
func TestNodesAreSmall(t *testing.T) {
	if size := reflect.TypeFor[node]().Size(); size > 64 {
		t.Errorf("a node has %d bytes", size)
	}
	x := Arange(0, 4, 1, dtype.Float32)
	a, b := x.Add(x), x.Mul(x)
	if c := a.Add(a).Add(a); c.kind != a.kind || b.kind == a.kind || b.Add(b).kind != a.kind {
		t.Error("nodes of one operation and shape do not share what they have alike, or others do")
	}
}

// TestComputedNodesLetGoOfTheirPrimitives, which may hold much, unless it is one that is
// always there.
func TestComputedNodesLetGoOfTheirPrimitives(t *testing.T) {
	for _, x := range []*Array{Arange(0, 4, 1, dtype.Float32).Reshape(2, 2), Arange(0, 4, 1, dtype.Float32).Sum()} {
		bytesOf(t, x)
		if x.kind.prim != nil || x.pair[0] != nil {
			t.Error("a computed node keeps its history")
		}
	}
}

// TestOutputsBelongToOneNode though each is an Array.
func TestOutputsBelongToOneNode(t *testing.T) {
	parts := Split(Arange(0, 6, 1, dtype.Float32), 3, 0)
	for i, x := range parts {
		if x.Index() != i%x.node().outputsCount() || x.NDim() != 1 || x.Dim(0) != 2 {
			t.Errorf("output %d is number %d, of shape %v", i, x.Index(), x.Shape())
		}
	}
}

func TestSmallValuesShareLittleRoom(t *testing.T) {
	var r room
	seen := map[*byte]bool{}
	for _, size := range []int{1, 8, 3, 256, 257, 4000, 256, 255, 1, 256, 256, 256, 256, 256, 256, 256} {
		v := r.view(size)
		if len(v.Storage) != size || cap(v.Storage) != size {
			t.Fatalf("%d bytes for %d", cap(v.Storage), size)
		}
		for i := range v.Storage {
			if seen[&v.Storage[i]] {
				t.Fatal("two values in one place")
			}
			seen[&v.Storage[i]] = true
		}
		if !buffer.Aligned(v.Storage, dtype.Float64) {
			t.Error("not aligned")
		}
	}
}
