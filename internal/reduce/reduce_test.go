package reduce_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/reduce"
)

var allOps = []reduce.Op{reduce.Sum, reduce.Mean, reduce.Max, reduce.Min}

// TestTable holds the values that the rules were written for.
func TestTable(t *testing.T) {
	nan32, nan64 := float64(math.Float32frombits(0x7fc00000)), math.NaN()
	inf, zero := math.Inf(1), math.Copysign(0, -1)
	cases := []struct {
		name  string
		t     dtype.Type
		ranks [][]float64 // complex numbers as pairs
		want  map[reduce.Op][]float64
	}{
		{"two ranks", dtype.Float32, [][]float64{{1, 2}, {3, 4}}, map[reduce.Op][]float64{
			reduce.Sum: {4, 6}, reduce.Mean: {2, 3}, reduce.Max: {3, 4}, reduce.Min: {1, 2}}},
		{"bool", dtype.Bool, [][]float64{{0, 1, 0, 1}, {0, 0, 1, 1}}, map[reduce.Op][]float64{
			reduce.Sum: {0, 1, 1, 1}, reduce.Max: {0, 1, 1, 1}, reduce.Min: {0, 0, 0, 1}}},
		{"int8 wraps once", dtype.Int8, [][]float64{{100}, {100}}, map[reduce.Op][]float64{reduce.Sum: {-56}}},
		{"int8 wraps twice", dtype.Int8, [][]float64{{100}, {100}, {100}, {100}}, map[reduce.Op][]float64{reduce.Sum: {-112}}},
		{"uint8 wraps", dtype.Uint8, [][]float64{{200}, {100}}, map[reduce.Op][]float64{reduce.Sum: {44}}},
		{"uint64 compares unsigned", dtype.Uint64, [][]float64{{1 << 63}, {1}}, map[reduce.Op][]float64{
			reduce.Max: {1 << 63}, reduce.Min: {1}}},
		{"complex by imaginary part", dtype.Complex64, [][]float64{{1, 5}, {1, 2}}, map[reduce.Op][]float64{
			reduce.Sum: {2, 7}, reduce.Mean: {1, 3.5}, reduce.Max: {1, 5}, reduce.Min: {1, 2}}},
		{"complex by real part first", dtype.Complex64, [][]float64{{2, 0}, {1, 9}}, map[reduce.Op][]float64{
			reduce.Max: {2, 0}, reduce.Min: {1, 9}}},
		{"complex signed zeros are equal, then settled", dtype.Complex64, [][]float64{{zero, 5}, {0, 3}, {0, 5}}, map[reduce.Op][]float64{
			reduce.Max: {0, 5}, reduce.Min: {0, 3}}},
		{"complex NaN in one part poisons the order", dtype.Complex64, [][]float64{{1, 2}, {3, nan32}, {5, 6}}, map[reduce.Op][]float64{
			reduce.Sum: {9, nan32}, reduce.Max: {nan32, nan32}, reduce.Min: {nan32, nan32}}},
		{"half adds beyond its precision", dtype.Float16, [][]float64{{2048}, {1}, {1}, {1}}, map[reduce.Op][]float64{reduce.Sum: {2052}}},
		{"half passes its range in between", dtype.Float16, [][]float64{{60000}, {60000}, {-60000}}, map[reduce.Op][]float64{reduce.Sum: {60000}}},
		{"bfloat16 adds beyond its precision", dtype.BFloat16, [][]float64{{256}, {1}, {1}, {1}}, map[reduce.Op][]float64{reduce.Sum: {260}}},
		{"float32 cancels", dtype.Float32, [][]float64{{1e8}, {1}, {-1e8}}, map[reduce.Op][]float64{reduce.Sum: {1}}},
		{"float64 in rank order", dtype.Float64, [][]float64{{1e16}, {1}, {-1e16}}, map[reduce.Op][]float64{reduce.Sum: {0}}},
		{"mean of large halves", dtype.Float16, [][]float64{{40000}, {40000}, {40000}, {40000}}, map[reduce.Op][]float64{
			reduce.Sum: {inf}, reduce.Mean: {40000}}},
		{"mean of the smallest half", dtype.Float16, [][]float64{{0x1p-24}, {0x1p-24}, {0x1p-24}}, map[reduce.Op][]float64{reduce.Mean: {0x1p-24}}},
		{"minimum with one NaN", dtype.Float32, [][]float64{{1}, {nan32}, {3}, {4}}, map[reduce.Op][]float64{
			reduce.Sum: {nan32}, reduce.Mean: {nan32}, reduce.Max: {nan32}, reduce.Min: {nan32}}},
		{"all negative zeros", dtype.Float64, [][]float64{{zero}, {zero}, {zero}}, map[reduce.Op][]float64{
			reduce.Sum: {zero}, reduce.Mean: {zero}, reduce.Max: {zero}, reduce.Min: {zero}}},
		{"two negative zeros of float32", dtype.Float32, [][]float64{{zero}, {zero}}, map[reduce.Op][]float64{reduce.Sum: {zero}}},
		{"zeros, negative first", dtype.Float32, [][]float64{{zero}, {0}}, map[reduce.Op][]float64{
			reduce.Sum: {0}, reduce.Max: {0}, reduce.Min: {zero}}},
		{"zeros, positive first", dtype.BFloat16, [][]float64{{0}, {zero}}, map[reduce.Op][]float64{
			reduce.Sum: {0}, reduce.Max: {0}, reduce.Min: {zero}}},
		{"opposite infinities", dtype.Float64, [][]float64{{inf}, {-inf}}, map[reduce.Op][]float64{
			reduce.Sum: {nan64}, reduce.Mean: {nan64}, reduce.Max: {inf}, reduce.Min: {-inf}}},
		{"opposite infinities of float32", dtype.Float32, [][]float64{{inf}, {-inf}}, map[reduce.Op][]float64{reduce.Sum: {nan32}}},
	}
	for _, c := range cases {
		for op, want := range c.want {
			t.Run(fmt.Sprint(c.name, " ", op), func(t *testing.T) {
				var parts [][]byte
				for _, xs := range c.ranks {
					parts = append(parts, encode(c.t, xs))
				}
				got := make([]byte, len(parts[0]))
				reduce.Into(op, c.t, got, parts)
				if w := encode(c.t, want); !bytes.Equal(got, w) {
					t.Errorf("got % x, want % x", got, w)
				}
			})
		}
	}
}

// encode writes values that the type can hold exactly, NaN as the canonical one.
func encode(t dtype.Type, xs []float64) []byte {
	var b []byte
	for _, x := range xs {
		b = append(b, encodeOne(t, x)...)
	}
	return b
}

func encodeOne(t dtype.Type, x float64) []byte {
	bits := make([]byte, 8)
	switch t {
	case dtype.Float16:
		binary.LittleEndian.PutUint16(bits, uint16(pack(x, 5, 10)))
	case dtype.BFloat16:
		binary.LittleEndian.PutUint16(bits, uint16(pack(x, 8, 7)))
	case dtype.Float32, dtype.Complex64:
		binary.LittleEndian.PutUint32(bits, uint32(pack(x, 8, 23)))
		return bits[:4]
	case dtype.Float64:
		binary.LittleEndian.PutUint64(bits, pack(x, 11, 52))
	case dtype.Uint64:
		binary.LittleEndian.PutUint64(bits, uint64(x))
	default:
		binary.LittleEndian.PutUint64(bits, uint64(int64(x)))
	}
	return bits[:t.Size()]
}

// pack rounds x to nearest even into a format with the given numbers of exponent
// and fraction bits.
func pack(x float64, exponent, fraction int) uint64 {
	bias := 1<<(exponent-1) - 1
	top := uint64(1<<exponent - 1)
	if x != x {
		return top<<fraction | 1<<(fraction-1)
	}
	var sign uint64
	if math.Signbit(x) {
		sign, x = 1<<(exponent+fraction), -x
	}
	if math.IsInf(x, 0) {
		return sign | top<<fraction
	}
	if x == 0 {
		return sign
	}
	e := max(math.Ilogb(x), 1-bias)
	significand := uint64(math.RoundToEven(math.Ldexp(x, fraction-e)))
	if significand < 1<<fraction {
		return sign | significand
	}
	bits := significand + uint64(e+bias-1)<<fraction
	return sign | min(bits, top<<fraction)
}

// unpack is the value of the bits that pack makes.
func unpack(bits uint64, exponent, fraction int) float64 {
	bias := 1<<(exponent-1) - 1
	sign := 1.0
	if bits>>(exponent+fraction) != 0 {
		sign = -1
	}
	e := int(bits>>fraction) & (1<<exponent - 1)
	f := float64(bits & (1<<fraction - 1))
	switch {
	case e == 1<<exponent-1 && f != 0:
		return math.NaN()
	case e == 1<<exponent-1:
		return math.Inf(int(sign))
	case e == 0:
		return math.Copysign(math.Ldexp(f, 1-bias-fraction), sign)
	}
	return sign * math.Ldexp(f+math.Ldexp(1, fraction), e-bias-fraction)
}

// shapes of the floating-point formats: exponent and fraction bits.
var shapes = map[dtype.Type][2]int{
	dtype.Float16: {5, 10}, dtype.BFloat16: {8, 7}, dtype.Float32: {8, 23}, dtype.Float64: {11, 52},
}

// reference reduces one element, held as bits, with big numbers.
func reference(op reduce.Op, t dtype.Type, xs []uint64) uint64 {
	switch {
	case len(xs) == 1:
		return xs[0]
	case t == dtype.Bool:
		return referenceBool(op, xs)
	case t.IsInteger():
		return referenceInteger(op, t, xs)
	case t.IsComplex():
		return referenceComplex(op, xs)
	}
	shape := shapes[t]
	values := make([]float64, len(xs))
	for i, x := range xs {
		values[i] = unpack(x, shape[0], shape[1])
	}
	return pack(referenceFloat(op, values), shape[0], shape[1])
}

func referenceBool(op reduce.Op, xs []uint64) uint64 {
	trues := 0
	for _, x := range xs {
		trues += int(x)
	}
	if trues == len(xs) || trues > 0 && op != reduce.Min {
		return 1
	}
	return 0
}

func referenceInteger(op reduce.Op, t dtype.Type, xs []uint64) uint64 {
	modulus := new(big.Int).Lsh(big.NewInt(1), uint(8*t.Size()))
	half := new(big.Int).Rsh(modulus, 1)
	acc := new(big.Int)
	for i, x := range xs {
		v := new(big.Int).SetUint64(x)
		if !t.IsUnsigned() && v.Cmp(half) >= 0 {
			v.Sub(v, modulus)
		}
		switch {
		case op == reduce.Sum:
			acc.Add(acc, v)
		case i == 0 || op == reduce.Max && v.Cmp(acc) > 0 || op == reduce.Min && v.Cmp(acc) < 0:
			acc.Set(v)
		}
	}
	return acc.Mod(acc, modulus).Uint64()
}

func referenceComplex(op reduce.Op, xs []uint64) uint64 {
	var re, im []float64
	for _, x := range xs {
		re = append(re, float64(math.Float32frombits(uint32(x))))
		im = append(im, float64(math.Float32frombits(uint32(x>>32))))
	}
	join := func(re, im float64) uint64 { return pack(re, 8, 23) | pack(im, 8, 23)<<32 }
	if op == reduce.Sum || op == reduce.Mean {
		return join(referenceFloat(op, re), referenceFloat(op, im))
	}
	r := referenceFloat(op, re)
	var tied []float64
	for i := range re {
		if re[i] == r {
			tied = append(tied, im[i])
		}
	}
	if r != r || referenceFloat(op, im) != referenceFloat(op, im) {
		return join(math.NaN(), math.NaN())
	}
	return join(r, referenceFloat(op, tied))
}

// referenceFloat uses 53-bit big floats, whose rules for infinities and NaN are
// written out here.
func referenceFloat(op reduce.Op, xs []float64) float64 {
	acc := new(big.Float).SetPrec(53)
	for i, x := range xs {
		if x != x {
			return x
		}
		v := new(big.Float).SetFloat64(x)
		switch {
		case i == 0:
			acc.Set(v)
		case op == reduce.Max || op == reduce.Min:
			c := v.Cmp(acc)
			if c == 0 && v.Signbit() != acc.Signbit() {
				c = 1
				if v.Signbit() {
					c = -1
				}
			}
			if op == reduce.Max && c > 0 || op == reduce.Min && c < 0 {
				acc.Set(v)
			}
		case acc.IsInf() && v.IsInf() && acc.Signbit() != v.Signbit():
			return math.NaN()
		default:
			acc.Add(acc, v)
		}
	}
	if op == reduce.Mean && !acc.IsInf() {
		acc.Quo(acc, big.NewFloat(float64(len(xs))))
	}
	f, _ := acc.Float64()
	return f
}

// random fills b with elements of t: mostly ordinary values of mixed size, some
// random bit patterns, which include NaN, infinities and the smallest numbers.
func random(r *rand.Rand, t dtype.Type, b []byte) {
	for lo := 0; lo < len(b); lo += t.Size() {
		bits := make([]byte, 8)
		binary.LittleEndian.PutUint64(bits, r.Uint64())
		ordinary := r.IntN(8) > 0
		switch {
		case t == dtype.Bool:
			bits[0] &= 1
		case t.IsComplex() && ordinary:
			copy(bits, encode(t, []float64{float64(r.IntN(3)), math.Trunc(r.NormFloat64() * 100)}))
		case t.IsFloat() && t != dtype.Float64 && ordinary:
			copy(bits, encode(t, []float64{math.Ldexp(r.NormFloat64(), r.IntN(20)-10)}))
		case t == dtype.Float64:
			copy(bits, encode(t, []float64{math.Ldexp(r.NormFloat64(), r.IntN(20)-10)}))
		}
		copy(b[lo:lo+t.Size()], bits)
	}
}

func TestAgainstReference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, typ := range dtype.All() {
		for _, op := range allOps {
			if reduce.Check(op, typ) != nil {
				continue
			}
			t.Run(fmt.Sprint(typ, " ", op), func(t *testing.T) {
				for _, elems := range []int{0, 1, 7, 512, 1000} {
					for ranks := 1; ranks <= 8; ranks++ {
						compare(t, r, op, typ, elems, ranks)
					}
				}
			})
		}
	}
}

func compare(t *testing.T, r *rand.Rand, op reduce.Op, typ dtype.Type, elems, ranks int) {
	t.Helper()
	size := typ.Size()
	parts := make([][]byte, ranks)
	for i := range parts {
		offset := r.IntN(2) * r.IntN(size+1)
		parts[i] = make([]byte, elems*size+offset)[offset:]
		random(r, typ, parts[i])
	}
	want := make([]byte, elems*size)
	for i := range elems {
		var xs []uint64
		for _, p := range parts {
			xs = append(xs, element(p, i, size))
		}
		var bits [8]byte
		binary.LittleEndian.PutUint64(bits[:], reference(op, typ, xs))
		copy(want[i*size:], bits[:size])
	}
	dst := make([]byte, elems*size+1)[r.IntN(2):]
	dst = dst[:elems*size]
	if alias := r.IntN(2 * ranks); alias < ranks {
		dst = parts[alias]
	}
	reduce.Into(op, typ, dst, parts)
	for i := range elems {
		if got, want := element(dst, i, size), element(want, i, size); got != want {
			t.Fatalf("%d ranks, %d elements: element %d is %#x, want %#x", ranks, elems, i, got, want)
		}
	}
}

func element(b []byte, i, size int) uint64 {
	var bits [8]byte
	copy(bits[:], b[i*size:(i+1)*size])
	return binary.LittleEndian.Uint64(bits[:])
}

func TestPartsAreOnlyRead(t *testing.T) {
	for _, typ := range dtype.All() {
		for _, op := range allOps {
			if reduce.Check(op, typ) != nil {
				continue
			}
			parts := [][]byte{make([]byte, 600*typ.Size()), make([]byte, 600*typ.Size()), make([]byte, 600*typ.Size())}
			r := rand.New(rand.NewPCG(3, 4))
			var before [][]byte
			for _, p := range parts {
				random(r, typ, p)
				before = append(before, bytes.Clone(p))
			}
			reduce.Into(op, typ, make([]byte, len(parts[0])), parts)
			for i := range parts {
				if !bytes.Equal(parts[i], before[i]) {
					t.Errorf("%v of %v changed part %d", op, typ, i)
				}
			}
		}
	}
}

func TestOnePartKeepsItsBytes(t *testing.T) {
	signalling := []byte{0x01, 0x00, 0xa0, 0xff}
	for _, op := range allOps {
		got := make([]byte, 4)
		reduce.Into(op, dtype.Float32, got, [][]byte{signalling})
		if !bytes.Equal(got, signalling) {
			t.Errorf("%v: got % x, want % x", op, got, signalling)
		}
	}
}

func TestEveryNaNIsCanonical(t *testing.T) {
	quiet := map[dtype.Type][]byte{
		dtype.Float16:   {0x00, 0x7e},
		dtype.BFloat16:  {0xc0, 0x7f},
		dtype.Float32:   {0, 0, 0xc0, 0x7f},
		dtype.Float64:   {0, 0, 0, 0, 0, 0, 0xf8, 0x7f},
		dtype.Complex64: {0, 0, 0xc0, 0x7f, 0, 0, 0xc0, 0x7f},
	}
	for _, typ := range dtype.All() {
		if !typ.IsInexact() {
			continue
		}
		odd := bytes.Repeat([]byte{0xff}, typ.Size())
		plain := make([]byte, typ.Size())
		for _, op := range allOps {
			for ranks := 2; ranks <= 3; ranks++ {
				for bad := range ranks {
					parts := make([][]byte, ranks)
					for i := range parts {
						parts[i] = plain
					}
					parts[bad] = odd
					got := make([]byte, typ.Size())
					reduce.Into(op, typ, got, parts)
					if !bytes.Equal(got, quiet[typ]) {
						t.Errorf("%v of %v, NaN on rank %d of %d: % x, want % x", op, typ, bad, ranks, got, quiet[typ])
					}
				}
			}
		}
	}
}

func TestCheck(t *testing.T) {
	cases := []struct {
		name string
		op   reduce.Op
		t    dtype.Type
		says []string // nothing: no error
	}{
		{"sum of bool", reduce.Sum, dtype.Bool, nil},
		{"mean of complex64", reduce.Mean, dtype.Complex64, nil},
		{"mean of int32", reduce.Mean, dtype.Int32, []string{"mean", "int32", "float16", "complex64"}},
		{"mean of bool", reduce.Mean, dtype.Bool, []string{"mean", "bool"}},
		{"unknown op", 9, dtype.Float32, []string{"op(9)", "sum, mean, max, min"}},
		{"no type", reduce.Sum, dtype.Invalid, []string{"sum", "invalid", "float32"}},
		{"unknown type", reduce.Max, 200, []string{"max", "dtype(200)"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := reduce.Check(c.op, c.t)
			if (err != nil) != (c.says != nil) {
				t.Fatalf("error %v, want one: %v", err, c.says != nil)
			}
			for _, word := range c.says {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not say %q", err, word)
				}
			}
		})
	}
}

func BenchmarkInto(b *testing.B) {
	for _, typ := range []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64, dtype.Int32, dtype.Complex64} {
		for _, ranks := range []int{2, 4} {
			b.Run(fmt.Sprintf("%v/ranks=%d", typ, ranks), func(b *testing.B) {
				parts := make([][]byte, ranks)
				for i := range parts {
					parts[i] = make([]byte, 1<<20)
				}
				b.SetBytes(int64(ranks) << 20)
				for b.Loop() {
					reduce.Into(reduce.Sum, typ, parts[0], parts)
				}
			})
		}
	}
}
