package grouptest

import (
	"encoding/binary"
	"math"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

// expect reduces one input per rank, element by element, straight from the rules
// in group's package documentation and apart from the code that backends use.
func expect(op group.Op, t dtype.Type, inputs [][]byte) []byte {
	if len(inputs) == 1 {
		return append([]byte(nil), inputs[0]...)
	}
	var out []byte
	for lo := 0; lo < len(inputs[0]); lo += t.Size() {
		var elements [][]byte
		for _, in := range inputs {
			elements = append(elements, in[lo:lo+t.Size()])
		}
		out = append(out, expectOne(op, t, elements)...)
	}
	return out
}

func expectOne(op group.Op, t dtype.Type, elements [][]byte) []byte {
	switch {
	case t.IsComplex():
		return expectComplex(op, elements)
	case t.IsFloat():
		xs := make([]float64, len(elements))
		for i, e := range elements {
			xs[i] = decodeFloat(t, e)
		}
		return encodeFloat(t, fold(op, xs))
	case t.IsBool():
		return expectBool(op, elements)
	}
	return expectInteger(op, t, elements)
}

func expectBool(op group.Op, elements [][]byte) []byte {
	trues := 0
	for _, e := range elements {
		trues += int(e[0])
	}
	if trues == len(elements) || trues > 0 && op != group.Min {
		return []byte{1}
	}
	return []byte{0}
}

// expectInteger works on 64 bits; what is cut off does not matter to the rest.
func expectInteger(op group.Op, t dtype.Type, elements [][]byte) []byte {
	value := func(e []byte) uint64 {
		var b [8]byte
		copy(b[:], e)
		x, unused := binary.LittleEndian.Uint64(b[:]), 64-8*len(e)
		if t.IsUnsigned() {
			return x
		}
		return uint64(int64(x<<unused) >> unused)
	}
	less := func(a, b uint64) bool {
		if t.IsUnsigned() {
			return a < b
		}
		return int64(a) < int64(b)
	}
	acc := value(elements[0])
	for _, e := range elements[1:] {
		x := value(e)
		switch {
		case op == group.Sum:
			acc += x
		case op == group.Max && less(acc, x), op == group.Min && less(x, acc):
			acc = x
		}
	}
	return binary.LittleEndian.AppendUint64(nil, acc)[:t.Size()]
}

func expectComplex(op group.Op, elements [][]byte) []byte {
	re, im := make([]float64, len(elements)), make([]float64, len(elements))
	for i, e := range elements {
		re[i], im[i] = decodeFloat(dtype.Float32, e[:4]), decodeFloat(dtype.Float32, e[4:])
	}
	r, i := fold(op, re), fold(op, im)
	if op == group.Max || op == group.Min {
		if r != r || i != i {
			r, i = math.NaN(), math.NaN()
		} else {
			i = fold(op, whereEqual(re, r, im))
		}
	}
	return append(encodeFloat(dtype.Float32, r), encodeFloat(dtype.Float32, i)...)
}

// whereEqual picks the ys whose x is x0.
func whereEqual(xs []float64, x0 float64, ys []float64) []float64 {
	var picked []float64
	for i, x := range xs {
		if x == x0 {
			picked = append(picked, ys[i])
		}
	}
	return picked
}

// fold is the reduction of numbers before the one rounding.
func fold(op group.Op, xs []float64) float64 {
	acc := xs[0]
	for _, x := range xs[1:] {
		switch {
		case op == group.Sum || op == group.Mean:
			acc += x
		case acc != acc || x != x:
			acc = math.NaN()
		case op == group.Max && (x > acc || x == acc && !math.Signbit(x)),
			op == group.Min && (x < acc || x == acc && math.Signbit(x)):
			acc = x
		}
	}
	if op == group.Mean {
		acc /= float64(len(xs))
	}
	return acc
}

func decodeFloat(t dtype.Type, e []byte) float64 {
	switch t {
	case dtype.Float16:
		return dtype.F16(binary.LittleEndian.Uint16(e)).Float64()
	case dtype.BFloat16:
		return dtype.BF16(binary.LittleEndian.Uint16(e)).Float64()
	case dtype.Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(e)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(e))
}

// encodeFloat rounds x once; NaN becomes the canonical quiet one.
func encodeFloat(t dtype.Type, x float64) []byte {
	nan := x != x
	switch {
	case t == dtype.Float16:
		return binary.LittleEndian.AppendUint16(nil, uint16(dtype.F16From(x)))
	case t == dtype.BFloat16:
		return binary.LittleEndian.AppendUint16(nil, uint16(dtype.BF16From(x)))
	case t == dtype.Float32 && nan:
		return []byte{0, 0, 0xc0, 0x7f}
	case t == dtype.Float32:
		return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(x)))
	case nan:
		return []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f}
	}
	return binary.LittleEndian.AppendUint64(nil, math.Float64bits(x))
}
