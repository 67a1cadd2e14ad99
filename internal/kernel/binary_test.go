package kernel

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// bigInteger is what an operation on integers means, without any limit of size.
var bigInteger = map[Op]func(x, y *big.Int) *big.Int{
	Add:     func(x, y *big.Int) *big.Int { return new(big.Int).Add(x, y) },
	Sub:     func(x, y *big.Int) *big.Int { return new(big.Int).Sub(x, y) },
	Mul:     func(x, y *big.Int) *big.Int { return new(big.Int).Mul(x, y) },
	BitAnd:  func(x, y *big.Int) *big.Int { return new(big.Int).And(x, y) },
	BitOr:   func(x, y *big.Int) *big.Int { return new(big.Int).Or(x, y) },
	BitXor:  func(x, y *big.Int) *big.Int { return new(big.Int).Xor(x, y) },
	Maximum: func(x, y *big.Int) *big.Int { return bigger(x, y) },
	Minimum: func(x, y *big.Int) *big.Int {
		return new(big.Int).Neg(bigger(new(big.Int).Neg(x), new(big.Int).Neg(y)))
	},
	FloorDiv: func(x, y *big.Int) *big.Int {
		if y.Sign() == 0 {
			return new(big.Int)
		}
		q, r := new(big.Int).QuoRem(x, y, new(big.Int))
		if r.Sign()*y.Sign() < 0 {
			q.Sub(q, big.NewInt(1))
		}
		return q
	},
	Mod: func(x, y *big.Int) *big.Int {
		if y.Sign() == 0 {
			return new(big.Int)
		}
		r := new(big.Int).Rem(x, y)
		if r.Sign()*y.Sign() < 0 {
			r.Add(r, y)
		}
		return r
	},
}

func bigger(x, y *big.Int) *big.Int {
	if x.Cmp(y) > 0 {
		return x
	}
	return y
}

func TestIntegersWrapAsBigNumbersCutToTheirBits(t *testing.T) {
	t.Run("uint8", func(t *testing.T) { judgeIntegers(t, dtype.Uint8, uint8(0), 1, 7, 128, 254, 255) })
	t.Run("uint16", func(t *testing.T) { judgeIntegers(t, dtype.Uint16, uint16(0), 1, 7, 1<<15, math.MaxUint16) })
	t.Run("uint32", func(t *testing.T) { judgeIntegers(t, dtype.Uint32, uint32(0), 1, 7, 1<<31, math.MaxUint32) })
	t.Run("uint64", func(t *testing.T) { judgeIntegers(t, dtype.Uint64, uint64(0), 1, 7, 1<<63, math.MaxUint64) })
	t.Run("int8", func(t *testing.T) { judgeIntegers(t, dtype.Int8, int8(0), 1, -1, 7, -5, math.MaxInt8, math.MinInt8) })
	t.Run("int16", func(t *testing.T) {
		judgeIntegers(t, dtype.Int16, int16(0), 1, -1, 7, -5, math.MaxInt16, math.MinInt16)
	})
	t.Run("int32", func(t *testing.T) {
		judgeIntegers(t, dtype.Int32, int32(0), 1, -1, 7, -5, math.MaxInt32, math.MinInt32)
	})
	t.Run("int64", func(t *testing.T) {
		judgeIntegers(t, dtype.Int64, int64(0), 1, -1, 7, -5, math.MaxInt64, math.MinInt64)
	})
}

func judgeIntegers[T integer](t *testing.T, kind dtype.Type, values ...T) {
	var x, y []T
	for _, a := range values {
		for _, b := range values {
			x, y = append(x, a), append(y, b)
		}
	}
	for op, meaning := range bigInteger {
		f, result := Binary(op, kind)
		if result != kind {
			t.Errorf("%s gives %v", op, result)
		}
		for i, got := range run2[T](f, x, y) {
			if want := cut[T](meaning(bigOf(x[i]), bigOf(y[i]))); got != want {
				t.Errorf("%s of %v and %v is %v, want %v", op, x[i], y[i], got, want)
			}
		}
	}
}

func bigOf[T integer](x T) *big.Int {
	if x < 0 {
		return big.NewInt(int64(x))
	}
	return new(big.Int).SetUint64(uint64(x))
}

// cut keeps the low bits of x.
func cut[T integer](x *big.Int) T {
	low := new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64))
	return T(low.Uint64())
}

func TestIntegerPowers(t *testing.T) {
	f, _ := Binary(Pow, dtype.Int8)
	got := run2[int8](f, []int8{2, 3, -3, 2, 0, 0, 1, -1, -1, 2, 5, -128}, []int8{6, 4, 3, 7, 0, -1, -5, -4, -3, -1, -128, 1})
	want := []int8{64, 81, -27, -128, 1, 0, 1, 1, -1, 0, 0, -128}
	if !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	g, _ := Binary(Pow, dtype.Uint64)
	if got := run2[uint64](g, []uint64{3, 2, 1}, []uint64{40, 64, math.MaxUint64}); !slices.Equal(got, []uint64{12157665459056928801, 0, 1}) {
		t.Fatalf("got %v", got)
	}
}

func TestShiftsByAnyCount(t *testing.T) {
	counts := []int8{0, 1, 7, 8, 100, -1}
	left, _ := Binary(ShiftLeft, dtype.Int8)
	right, _ := Binary(ShiftRight, dtype.Int8)
	x := slices.Repeat([]int8{-75}, len(counts))
	if got, want := run2[int8](left, x, counts), []int8{-75, 106, -128, 0, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("left: %v, want %v", got, want)
	}
	if got, want := run2[int8](right, x, counts), []int8{-75, -38, -1, -1, -1, -1}; !slices.Equal(got, want) {
		t.Errorf("right: %v, want %v", got, want)
	}
}

func TestBoolCountsAsOneBit(t *testing.T) {
	x, y := []bool{false, false, true, true}, []bool{false, true, false, true}
	cases := map[Op][]bool{
		Add: {false, true, true, true}, Mul: {false, false, false, true}, Sub: {false, true, true, false},
		Maximum: {false, true, true, true}, Minimum: {false, false, false, true},
		BitAnd: {false, false, false, true}, BitOr: {false, true, true, true}, BitXor: {false, true, true, false},
		LogicalAnd: {false, false, false, true}, LogicalOr: {false, true, true, true},
		Less: {false, true, false, false}, Equal: {true, false, false, true},
	}
	for op, want := range cases {
		f, _ := Binary(op, dtype.Bool)
		if got := run2[bool](f, x, y); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", op, got, want)
		}
	}
}

func TestExtremesOfFloats(t *testing.T) {
	nan, inf, minus := math.NaN(), math.Inf(1), math.Copysign(0, -1)
	cases := []struct {
		name       string
		op         Op
		x, y, want float64
	}{
		{"NaN beats all in a maximum", Maximum, nan, inf, nan},
		{"from either side", Maximum, inf, nan, nan},
		{"NaN beats all in a minimum", Minimum, -inf, nan, nan},
		{"plus zero is the larger zero", Maximum, minus, 0, 0},
		{"minus zero is the smaller zero", Minimum, 0, minus, minus},
		{"a remainder has the sign of the divisor", Mod, -5, 3, 1},
		{"also of a negative one", Mod, 5, -3, -1},
		{"also when it is zero", Mod, 6, -3, minus},
		{"a remainder by infinity", Mod, -5, inf, inf},
		{"a remainder by zero", Mod, 5, 0, nan},
		{"floor of a quotient", FloorDiv, -7, 2, -4},
		{"log of two sums of nothing", LogAddExp, -inf, -inf, -inf},
		{"log of nothing and one", LogAddExp, -inf, 0, 0},
		{"log of a great and a small one", LogAddExp, 1000, -1000, 1000},
		{"log of infinities", LogAddExp, inf, inf, inf},
		{"log of what is not a number", LogAddExp, nan, 1, nan},
		{"angle of the negative axis", Atan2, 0, -1, math.Pi},
		{"from below", Atan2, minus, -1, -math.Pi},
		{"anything to the zeroth", Pow, nan, 0, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f, _ := Binary(c.op, dtype.Float64)
			got := run2[float64](f, []float64{c.x}, []float64{c.y})[0]
			if !sameNumber(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			g, _ := Binary(c.op, dtype.Float16)
			half := run2[dtype.F16](g, []dtype.F16{dtype.F16From(c.x)}, []dtype.F16{dtype.F16From(c.y)})[0]
			if want := dtype.F16From(c.want); !sameNumber(half.Float64(), want.Float64()) {
				t.Errorf("in float16: got %v, want %v", half, want)
			}
		})
	}
}

// sameNumber tells zeros apart and takes all NaN as one.
func sameNumber(x, y float64) bool {
	return x == y && math.Signbit(x) == math.Signbit(y) || x != x && y != y
}

// A sum, product, quotient or root that is rounded to float32 and then to a
// half type is the same as one that is rounded once.
func TestHalvesAreRoundedOnce(t *testing.T) {
	exact := map[Op]func(x, y float64) float64{
		Add: func(x, y float64) float64 { return x + y },
		Mul: func(x, y float64) float64 { return x * y },
		Div: func(x, y float64) float64 { return x / y },
	}
	for op, f := range exact {
		loop, _ := Binary(op, dtype.Float16)
		x, y := make([]dtype.F16, 1<<16), make([]dtype.F16, 1<<16)
		for i := range x {
			x[i], y[i] = dtype.F16(i), dtype.F16(i*40503)
		}
		for i, got := range run2[dtype.F16](loop, x, y) {
			if want := dtype.F16From(f(x[i].Float64(), y[i].Float64())); got != want {
				t.Fatalf("%s of %v and %v is %v, want %v", op, x[i], y[i], got, want)
			}
		}
	}
}

func TestComplexOrder(t *testing.T) {
	nan := complex(float32(math.NaN()), 0)
	x := []complex64{1 + 2i, 1 + 2i, 2, nan, 1}
	y := []complex64{1 + 3i, 1 + 2i, 1 + 9i, 1, nan}
	cases := map[Op][]bool{
		Less: {true, false, false, false, false}, LessEqual: {true, true, false, false, false},
		Greater: {false, false, true, false, false}, GreaterEqual: {false, true, true, false, false},
		Equal: {false, true, false, false, false}, NotEqual: {true, false, true, true, true},
	}
	for op, want := range cases {
		f, _ := Binary(op, dtype.Complex64)
		if got := run2[bool](f, x, y); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", op, got, want)
		}
	}
	for op, want := range map[Op][]complex64{Maximum: {1 + 3i, 1 + 2i, 2}, Minimum: {1 + 2i, 1 + 2i, 1 + 9i}} {
		f, _ := Binary(op, dtype.Complex64)
		got := run2[complex64](f, x, y)
		if !slices.Equal(got[:3], want) || got[3] == got[3] || got[4] == got[4] {
			t.Errorf("%s: %v, want %v and two NaN", op, got, want)
		}
	}
}

func TestSelectOfEverySize(t *testing.T) {
	yes := stored(true, false, true)
	for size := 1; size <= 8; size *= 2 {
		x, y := buffer.Make(3*size), buffer.Make(3*size)
		for i := range x {
			x[i], y[i] = 1, 2
		}
		out := buffer.Make(3 * size)
		Select(size)(out, [][]byte{yes, x, y})
		want := slices.Concat(x[:size], y[:size], x[:size])
		if !slices.Equal(out, want) {
			t.Errorf("%d bytes: %v", size, out)
		}
	}
}
