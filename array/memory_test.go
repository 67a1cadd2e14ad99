package array_test

import (
	"context"
	"runtime"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
)

const mebi = 1 << 20

// long is an evaluated array of n MiB.
func long(t *testing.T, n int) *array.Array {
	t.Helper()
	x := array.Arange(0, float64(n*mebi/4), 1, dtype.Float32)
	if err := array.Eval(context.Background(), x); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestMemoryFollowsWhatArraysNeed(t *testing.T) {
	array.ClearCache()
	before := array.Memory().Active
	x := long(t, 8)
	if got := array.Memory().Active - before; got != 8*mebi {
		t.Errorf("%d bytes more in use for an array of 8 MiB", got)
	}
	runtime.KeepAlive(x)
	array.ClearCache()
	if got := array.Memory(); got.Active != before || got.Cached > 2*mebi {
		t.Errorf("%+v after the array was gone and the cache cleared; %d in use before", got, before)
	}
}

func TestViewsKeepTheirStorage(t *testing.T) {
	ctx := context.Background()
	row := long(t, 8).Reshape(8, -1).Slice([]int{5, 0}, []int{6, mebi / 4}, []int{1, 1}).T()
	if err := array.Eval(ctx, row); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		array.ClearCache()
		long(t, 8) // would take the storage if it were free
	}
	got, err := array.Values[float32](ctx, row)
	if err != nil || len(got) != mebi/4 {
		t.Fatalf("%d values, %v", len(got), err)
	}
	for i, v := range got {
		if v != float32(5*mebi/4+i) {
			t.Fatalf("element %d is %v", i, v)
		}
	}
}

func TestValuesAreCopies(t *testing.T) {
	ctx := context.Background()
	x := long(t, 1)
	values, _ := array.Values[float32](ctx, x)
	bytes, _ := array.Bytes(ctx, x)
	kept := slices.Clone(bytes)
	x = nil
	for range 3 {
		array.ClearCache()
		long(t, 1).Neg().Eval(ctx)
	}
	for i, v := range values {
		if v != float32(i) {
			t.Fatalf("element %d has become %v", i, v)
		}
	}
	if !slices.Equal(kept, bytes) {
		t.Error("bytes have changed")
	}
}

func TestPeakMemory(t *testing.T) {
	array.ClearCache()
	before := array.Memory().Active
	long(t, 16)
	array.ClearCache()
	if got := array.Memory().Peak - before; got < 16*mebi {
		t.Errorf("peak of %d bytes above %d, after an array of 16 MiB", got, before)
	}
	array.ResetPeakMemory()
	if got := array.Memory(); got.Peak != got.Active {
		t.Errorf("%+v after the reset", got)
	}
}

func TestCacheLimit(t *testing.T) {
	array.ClearCache()
	defer array.SetCacheLimit(array.SetCacheLimit(10 * mebi))
	for range 4 {
		long(t, 8)
	}
	runtime.GC()
	if got := array.Memory().Cached; got > 10*mebi {
		t.Errorf("%d bytes are kept, the limit is 10 MiB", got)
	}
	if before := array.SetCacheLimit(0); before != 10*mebi {
		t.Errorf("the limit was %d", before)
	}
	if got := array.Memory().Cached; got > 6*mebi {
		t.Errorf("%d bytes are kept, the limit is 0", got)
	}
}

// The sum of a long chain of large arrays needs few of them at once.
func TestLongLoopsDoNotGrow(t *testing.T) {
	ctx := context.Background()
	array.ClearCache()
	before := array.Memory().Active
	array.ResetPeakMemory()
	x := long(t, 4)
	for range 300 {
		x = x.AddScalar(1)
		if err := x.Eval(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if got := array.Memory().Peak - before; got > 300*mebi {
		t.Errorf("peak of %d MiB in a loop over 4 MiB", got/mebi)
	}
	if v, err := array.Values[float32](ctx, x); err != nil || v[7] != 307 {
		t.Errorf("%v, %v", v[7], err)
	}
}
