package random

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
)

// The vectors are those that the generator's authors publish with it.
func TestThreefryKnownAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		key          Key
		x, y         uint32
		wantX, wantY uint32
	}{
		"zeros":        {Key{0, 0}, 0, 0, 0x6b200159, 0x99ba4efe},
		"ones":         {Key{0xffffffff, 0xffffffff}, 0xffffffff, 0xffffffff, 0x1cb996fc, 0xbb002be7},
		"digits of pi": {Key{0x13198a2e, 0x03707344}, 0x243f6a88, 0x85a308d3, 0xc4923a9c, 0x483df7a0},
	} {
		if x, y := threefry(c.key, c.x, c.y); x != c.wantX || y != c.wantY {
			t.Errorf("%s: %08x %08x, want %08x %08x", name, x, y, c.wantX, c.wantY)
		}
	}
}

func values[T dtype.Element](t *testing.T, x *array.Array) []T {
	t.Helper()
	v, err := array.Values[T](context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// These are what MLX and JAX give.
func TestKeysAndBitsAgreeWithMLX(t *testing.T) {
	for name, c := range map[string]struct{ got, want []uint32 }{
		"one word":    {values[uint32](t, Bits(NewKey(0), dtype.Uint32, 1)), []uint32{1797259609}},
		"another key": {values[uint32](t, Bits(NewKey(1), dtype.Uint32, 1)), []uint32{507451445}},
		"three words": {values[uint32](t, Bits(NewKey(0), dtype.Uint32, 3, 1)), []uint32{4146024105, 1351547692, 2718843009}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	if got, want := NewKey(0).Split(2), []Key{{4146024105, 967050713}, {2718843009, 1272950319}}; !slices.Equal(got, want) {
		t.Errorf("split: %v, want %v", got, want)
	}
	for n, want := range map[int][]uint16{
		5: {20137, 63263, 64300, 20622, 16513},
		7: {20137, 63263, 1497, 14756, 16513, 41486, 44591},
		8: {20137, 63263, 1497, 14756, 16513, 41486, 44591, 19423},
	} {
		if got := values[uint16](t, Bits(NewKey(0), dtype.Uint16, n)); !slices.Equal(got, want) {
			t.Errorf("%d words of 16 bits: %v, want %v", n, got, want)
		}
	}
	short, long := values[uint8](t, Bits(NewKey(3), dtype.Uint8, 7)), values[uint64](t, Bits(NewKey(3), dtype.Uint64, 1))
	for i := range 7 {
		if short[i] != byte(long[0]>>(8*i)) {
			t.Errorf("byte %d is %x of %x", i, short[i], long[0])
		}
	}
}

func TestKeysDiffer(t *testing.T) {
	k := NewKey(5)
	seen := map[Key]bool{k: true}
	for i := range uint64(100) {
		seen[k.Fold(i)] = true
	}
	for _, s := range k.Split(100) {
		seen[s] = true
	}
	if len(seen) != 201 {
		t.Errorf("%d keys of 201 differ", len(seen))
	}
	if len(k.Split(-1)) != 0 {
		t.Error("a negative number of keys")
	}
}

const many = 20000

func moments(x []float64) (mean, variance float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / float64(len(x))
	}
	return mean, variance
}

func TestDistributionsHaveTheirMoments(t *testing.T) {
	const euler = 0.57721566490153286
	// The truncated normal's moments follow from the density at its limits.
	density := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
	mass := math.Erf(1/math.Sqrt2)/2 + math.Erf(2/math.Sqrt2)/2
	cutMean := (density(-1) - density(2)) / mass
	cutVariance := 1 - (density(-1)+2*density(2))/mass - cutMean*cutMean
	k := NewKey(11)
	for name, c := range map[string]struct {
		draw           func(t dtype.Type) *array.Array
		mean, variance float64
		low, high      float64
	}{
		"uniform":   {func(t dtype.Type) *array.Array { return Uniform(k, -1, 3, t, many) }, 1, 16.0 / 12, -1, math.Nextafter(3, 0)},
		"normal":    {func(t dtype.Type) *array.Array { return Normal(k, t, many/2, 2) }, 0, 1, -7, 7},
		"truncated": {func(t dtype.Type) *array.Array { return TruncatedNormal(k, -1, 2, t, many) }, cutMean, cutVariance, -1, 2},
		"laplace":   {func(t dtype.Type) *array.Array { return Laplace(k, t, many) }, 0, 2, -25, 25},
		"gumbel":    {func(t dtype.Type) *array.Array { return Gumbel(k, t, many) }, euler, math.Pi * math.Pi / 6, -4, 30},
	} {
		for _, kind := range []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64} {
			x := values[float64](t, c.draw(kind).AsType(dtype.Float64))
			mean, variance := moments(x)
			if math.Abs(mean-c.mean) > 0.04 || math.Abs(variance/c.variance-1) > 0.05 {
				t.Errorf("%s of %v: mean %v, want %v; variance %v, want %v", name, kind, mean, c.mean, variance, c.variance)
			}
			if slices.Min(x) < c.low || slices.Max(x) > c.high {
				t.Errorf("%s of %v: from %v to %v", name, kind, slices.Min(x), slices.Max(x))
			}
		}
	}
}

func TestUniformStaysBelowItsLimit(t *testing.T) {
	for _, kind := range []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64} {
		for _, high := range []float64{1, 3, 1.0001, 0, -0.5} {
			x := values[float64](t, Uniform(NewKey(1), -2, high, kind, 5000).AsType(dtype.Float64))
			if top := slices.Max(x); top >= high || top < high-0.05 {
				t.Errorf("%v below %v reaches %v", kind, high, top)
			}
		}
	}
}

func TestUniformIsScaledBits(t *testing.T) {
	k := NewKey(9)
	bits := values[uint32](t, Bits(k, dtype.Uint32, 1000))
	for i, u := range values[float32](t, Uniform(k, -2, 2, dtype.Float32, 1000)) {
		if want := float32(float64(bits[i]>>8)/(1<<22) - 2); u != want {
			t.Fatalf("number %d is %v, want %v", i, u, want)
		}
	}
}

func TestQuantilesInTheTail(t *testing.T) {
	for z := -37.0; z < 0; z += 0.7 {
		if got := quantile(math.Erfc(-z / math.Sqrt2)); math.Abs(got-z) > 1e-9*math.Abs(z) {
			t.Errorf("quantile of %v is %v", z, got)
		}
	}
	x := values[float64](t, TruncatedNormal(NewKey(2), 6, math.Inf(1), dtype.Float64, 2000))
	mean, _ := moments(x)
	if want := 6 + 0.1584; math.Abs(mean-want) > 0.02 || slices.Min(x) < 6 {
		t.Errorf("beyond 6 deviations: mean %v, want %v", mean, want)
	}
}

func TestChoices(t *testing.T) {
	k := NewKey(4)
	heads := 0
	for _, v := range values[bool](t, Bernoulli(k, 0.3, many)) {
		if v {
			heads++
		}
	}
	if math.Abs(float64(heads)/many-0.3) > 0.02 {
		t.Errorf("%d of %d with probability 0.3", heads, many)
	}
	if all := values[bool](t, Bernoulli(k, 1, 1000)); slices.Contains(all, false) {
		t.Error("probability 1 gave false")
	}
	if none := values[bool](t, Bernoulli(k, 0, 1000)); slices.Contains(none, true) {
		t.Error("probability 0 gave true")
	}
	var counts [5]int
	for _, v := range values[int8](t, RandInt(k, -2, 3, dtype.Int8, many)) {
		counts[v+2]++
	}
	for v, n := range counts {
		if math.Abs(float64(n)/many-0.2) > 0.02 {
			t.Errorf("%d comes %d times of %d", v-2, n, many)
		}
	}
	order := values[uint32](t, Permutation(k, 1000))
	if slices.IsSorted(order) {
		t.Error("the permutation changes nothing")
	}
	slices.Sort(order)
	for i, v := range order {
		if int(v) != i {
			t.Fatalf("the permutation lacks %d", i)
		}
	}
	shares := []float64{0.1, 0.6, 0.3}
	logits := array.From([]float64{math.Log(0.1), math.Log(0.6), math.Log(0.3)}).BroadcastTo(many, 3)
	var drawn [3]int
	for _, v := range values[uint32](t, Categorical(k, logits, 1)) {
		drawn[v]++
	}
	for i, n := range drawn {
		if math.Abs(float64(n)/many-shares[i]) > 0.02 {
			t.Errorf("place %d comes %d times of %d, want a share of %v", i, n, many, shares[i])
		}
	}
}

func TestShuffleKeepsWhatIsThere(t *testing.T) {
	got := values[float64](t, Shuffle(NewKey(3), array.Arange(0, 60, 1, dtype.Float64).Reshape(20, 3), 0))
	var first []float64
	for row := range slices.Chunk(got, 3) {
		if row[1] != row[0]+1 || row[2] != row[0]+2 {
			t.Fatalf("a row is now %v", row)
		}
		first = append(first, row[0])
	}
	if slices.IsSorted(first) {
		t.Error("nothing moved")
	}
}

func TestMistakes(t *testing.T) {
	k := NewKey(0)
	for name, x := range map[string]*array.Array{
		"bits of a signed type":         Bits(k, dtype.Int32, 3),
		"uniform integers":              Uniform(k, 0, 1, dtype.Int32, 3),
		"uniform without a range":       Uniform(k, 1, 1, dtype.Float32, 3),
		"uniform up to NaN":             Uniform(k, 0, math.NaN(), dtype.Float32, 3),
		"normal bool":                   Normal(k, dtype.Bool, 3),
		"a negative length":             Normal(k, dtype.Float32, -3),
		"a shape beyond all memory":     Normal(k, dtype.Float32, 1<<40, 1<<40),
		"truncated where nothing is":    TruncatedNormal(k, 30, 31, dtype.Float32, 3),
		"a probability above one":       Bernoulli(k, 1.5, 3),
		"a probability that is NaN":     Bernoulli(k, math.NaN(), 3),
		"integers without a range":      RandInt(k, 3, 3, dtype.Int32, 3),
		"integers too large for a type": RandInt(k, 0, 257, dtype.Uint8, 3),
		"negative unsigned integers":    RandInt(k, -1, 3, dtype.Uint64, 3),
		"a negative permutation":        Permutation(k, -1),
		"categorical along no axis":     Categorical(k, array.Zeros(dtype.Float32, 3), 1),
	} {
		if x.Err() == nil {
			t.Errorf("%s has no error", name)
		}
	}
	if n := len(values[float32](t, Normal(k, dtype.Float32, 0, 3))); n != 0 {
		t.Errorf("an empty draw has %d numbers", n)
	}
}

func TestEqualDraws(t *testing.T) {
	k := NewKey(1)
	same := draw{of: uniform{0, 1}, key: k, spec: array.Spec{Shape: []int{2}, DType: dtype.Float32}}
	other := same
	other.key = NewKey(2)
	if !same.Equal(same) || same.Equal(other) {
		t.Error("draws are compared wrongly")
	}
	a, b := values[float32](t, Normal(k, dtype.Float32, 50)), values[float32](t, Normal(k, dtype.Float32, 50))
	if !slices.Equal(a, b) {
		t.Error("one key gave different numbers")
	}
}
