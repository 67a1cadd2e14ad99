package buffer_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

func TestMake(t *testing.T) {
	for _, n := range []int{0, 1, 7, 63, 64, 65, 1000} {
		b := buffer.Make(n)
		if b == nil || len(b) != n || cap(b) != n || !bytes.Equal(b, make([]byte, n)) {
			t.Errorf("Make(%d) has length %d, capacity %d, content % x", n, len(b), cap(b), b)
		}
		for _, typ := range dtype.All() {
			if !buffer.Aligned(b, typ) {
				t.Errorf("Make(%d) is not aligned for %v", n, typ)
			}
		}
	}
}

func TestAligned(t *testing.T) {
	cases := []struct {
		t     dtype.Type
		every int // bytes from one aligned address to the next
	}{
		{dtype.Bool, 1}, {dtype.Uint8, 1}, {dtype.Int16, 2}, {dtype.Float16, 2},
		{dtype.Float32, 4}, {dtype.Complex64, 4}, {dtype.Float64, 8}, {dtype.Int64, 8},
	}
	b := buffer.Make(80)
	for _, c := range cases {
		t.Run(c.t.String(), func(t *testing.T) {
			for offset := range 64 {
				if got, want := buffer.Aligned(b[offset:], c.t), offset%c.every == 0; got != want {
					t.Errorf("at offset %d: %v, want %v", offset, got, want)
				}
			}
			if !buffer.Aligned(b[1:1], c.t) || !buffer.Aligned(nil, c.t) {
				t.Error("nothing is not aligned")
			}
		})
	}
}

func TestViewsShareMemory(t *testing.T) {
	b := buffer.Make(8)
	x := buffer.As[uint32](b)
	x[1] = 0x04030201
	if want := []byte{0, 0, 0, 0, 1, 2, 3, 4}; !bytes.Equal(b, want) {
		t.Errorf("bytes % x, want % x", b, want)
	}
	y := []dtype.F16{0x3c00, 0x7bff}
	view := buffer.Bytes(y)
	if want := []byte{0, 0x3c, 0xff, 0x7b}; !bytes.Equal(view, want) {
		t.Errorf("bytes % x, want % x", view, want)
	}
	view[1] = 0x40
	if y[0] != 0x4000 {
		t.Errorf("element %#x, want 0x4000", y[0])
	}
}

func TestViewsOfEveryType(t *testing.T) {
	roundTrip(t, []bool{true, false, true})
	roundTrip(t, []uint8{1, 2, 255})
	roundTrip(t, []int8{-1, 2, -128})
	roundTrip(t, []uint64{1, 1 << 63})
	roundTrip(t, []int32{-1, 5})
	roundTrip(t, []dtype.BF16{0x3f80})
	roundTrip(t, []float32{1.5, -2})
	roundTrip(t, []float64{1e300, -0.1})
	roundTrip(t, []complex64{1 + 2i, -3i})
	roundTrip(t, []int16{})
}

func roundTrip[T dtype.Element](t *testing.T, x []T) {
	t.Helper()
	b := buffer.Bytes(x)
	if want := len(x) * dtype.Of[T]().Size(); len(b) != want {
		t.Errorf("%v has %d bytes, want %d", x, len(b), want)
	}
	if got := buffer.As[T](b); !slices.Equal(got, x) {
		t.Errorf("got %v, want %v", got, x)
	}
}
