package kernel

import (
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

type realNumber interface{ integer | float }

type accumulator interface{ int64 | uint64 | float64 }

// folders has the loops of each reduction by element type. Half types and sums of
// complex elements are brought to float32 before.
var folders = map[Reduction]map[dtype.Type]fold{
	Sum:  byType(sums[uint8, uint64], sums[uint16, uint64], sums[uint32, uint64], sums[uint64, uint64], sums[int8, int64], sums[int16, int64], sums[int32, int64], sums[int64, int64], floatSums[float32], floatSums[float64]),
	Mean: byType(means[uint8], means[uint16], means[uint32], means[uint64], means[int8], means[int16], means[int32], means[int64], floatMeans[float32], floatMeans[float64]),
	Prod: with(byType(prods[uint8, uint64], prods[uint16, uint64], prods[uint32, uint64], prods[uint64, uint64], prods[int8, int64], prods[int16, int64], prods[int32, int64], prods[int64, int64], prods[float32, float64], prods[float64, float64]), erase(complexProds)),
	Max:  with(byType(maxs[uint8], maxs[uint16], maxs[uint32], maxs[uint64], maxs[int8], maxs[int16], maxs[int32], maxs[int64], floatMaxs[float32], floatMaxs[float64]), erase(picks(before))),
	Min:  with(byType(mins[uint8], mins[uint16], mins[uint32], mins[uint64], mins[int8], mins[int16], mins[int32], mins[int64], floatMins[float32], floatMins[float64]), erase(picks(after))),
	All:  {dtype.Bool: erase(folder[uint8, uint8]{row: allRow, columns: minColumns[uint8], store: storeSame[uint8]})},
	Any:  {dtype.Bool: erase(folder[uint8, uint8]{row: anyRow, columns: maxColumns[uint8], store: storeSame[uint8]})},
}

// byType takes the loops in the order of the real types, uint8 also for bool.
func byType(loops ...func() fold) map[dtype.Type]fold {
	types := []dtype.Type{
		dtype.Uint8, dtype.Uint16, dtype.Uint32, dtype.Uint64,
		dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64, dtype.Float32, dtype.Float64,
	}
	table := map[dtype.Type]fold{dtype.Bool: loops[0]()}
	for i, t := range types {
		table[t] = loops[i]()
	}
	return table
}

func with(table map[dtype.Type]fold, complexes fold) map[dtype.Type]fold {
	table[dtype.Complex64] = complexes
	return table
}

func sums[T realNumber, A accumulator]() fold {
	return erase(folder[T, A]{row: sumRow[T, A], columns: sumColumns[T, A], store: storeAs[A]})
}

func means[T realNumber]() fold {
	return erase(folder[T, float64]{row: sumRow[T, float64], columns: sumColumns[T, float64], store: storeMean})
}

// Those of floats are computed by the active level.
func floatSums[T float]() fold {
	return erase(folder[T, float64]{row: sumFloats[T], columns: sumFloatColumns[T], store: storeAs[float64]})
}

func floatMeans[T float]() fold {
	return erase(folder[T, float64]{row: sumFloats[T], columns: sumFloatColumns[T], store: storeMean})
}

func floatMaxs[T float]() fold {
	return erase(folder[T, T]{row: maxFloats[T], columns: maxFloatColumns[T], store: storeSame[T], inPlace: buffer.As[T]})
}

func floatMins[T float]() fold {
	return erase(folder[T, T]{row: minFloats[T], columns: minFloatColumns[T], store: storeSame[T], inPlace: buffer.As[T]})
}

func prods[T realNumber, A accumulator]() fold {
	return erase(folder[T, A]{row: prodRow[T, A], columns: prodColumns[T, A], store: storeAs[A]})
}

func maxs[T realNumber]() fold {
	return erase(folder[T, T]{row: maxRow[T], columns: maxColumns[T], store: storeSame[T]})
}

func mins[T realNumber]() fold {
	return erase(folder[T, T]{row: minRow[T], columns: minColumns[T], store: storeSame[T]})
}

func prodRow[T realNumber, A accumulator](x []T) A {
	p := A(1)
	for _, v := range x {
		p *= A(v)
	}
	return p
}

func prodColumns[T realNumber, A accumulator](acc []A, x []T, at, n, stride int) {
	for j := range acc {
		acc[j] = 1
	}
	for range n {
		for j, v := range x[at:][:len(acc)] {
			acc[j] *= A(v)
		}
		at += stride
	}
}

// Extrema are found by one comparison for each element. That cannot tell zeros of
// different signs apart, so where the result is zero the slower built-in max or
// min, which can, is asked again.

func maxRow[T realNumber](x []T) T {
	m := x[0]
	if m != m {
		return m
	}
	for _, v := range x {
		if !(v <= m) {
			m = v
			if v != v {
				return v
			}
		}
	}
	if m == 0 {
		for _, v := range x {
			m = max(m, v)
		}
	}
	return m
}

func minRow[T realNumber](x []T) T {
	m := x[0]
	if m != m {
		return m
	}
	for _, v := range x {
		if !(v >= m) {
			m = v
			if v != v {
				return v
			}
		}
	}
	if m == 0 {
		for _, v := range x {
			m = min(m, v)
		}
	}
	return m
}

func maxColumns[T realNumber](acc []T, x []T, at, n, stride int) {
	copy(acc, x[at:])
	for i := 1; i < n; i++ {
		row := x[at+i*stride:][:len(acc)]
		for j, v := range row {
			if v > acc[j] || v != v {
				acc[j] = v
			}
		}
	}
	for j, m := range acc {
		for i := 0; i < n && m == 0; i++ {
			acc[j] = max(acc[j], x[at+j+i*stride])
		}
	}
}

func minColumns[T realNumber](acc []T, x []T, at, n, stride int) {
	copy(acc, x[at:])
	for i := 1; i < n; i++ {
		row := x[at+i*stride:][:len(acc)]
		for j, v := range row {
			if v < acc[j] || v != v {
				acc[j] = v
			}
		}
	}
	for j, m := range acc {
		for i := 0; i < n && m == 0; i++ {
			acc[j] = min(acc[j], x[at+j+i*stride])
		}
	}
}

func allRow(x []uint8) uint8 {
	if len(x) == 0 {
		return 1
	}
	return minRow(x)
}

func anyRow(x []uint8) uint8 {
	if len(x) == 0 {
		return 0
	}
	return maxRow(x)
}

// before and after order complex numbers by real part, then imaginary part. A
// number with a NaN is before and after every other.
func before(a, b complex64) bool {
	return b != b || real(a) < real(b) || real(a) == real(b) && imag(a) < imag(b)
}

func after(a, b complex64) bool {
	return b != b || real(a) > real(b) || real(a) == real(b) && imag(a) > imag(b)
}

// picks replaces an element when a later one is better.
func picks(worse func(a, b complex64) bool) folder[complex64, complex64] {
	return folder[complex64, complex64]{
		row: func(x []complex64) complex64 {
			m := x[0]
			for _, v := range x[1:] {
				if worse(m, v) && m == m {
					m = v
				}
			}
			return m
		},
		columns: func(acc, x []complex64, at, n, stride int) {
			copy(acc, x[at:])
			for range n - 1 {
				at += stride
				for j, v := range x[at : at+len(acc)] {
					if worse(acc[j], v) && acc[j] == acc[j] {
						acc[j] = v
					}
				}
			}
		},
		store: storeSame[complex64],
	}
}

var complexProds = folder[complex64, complex128]{
	row: func(x []complex64) complex128 {
		p := complex128(1)
		for _, v := range x {
			p *= complex128(v)
		}
		return p
	},
	columns: func(acc []complex128, x []complex64, at, n, stride int) {
		for j := range acc {
			acc[j] = 1
		}
		for range n {
			for j, v := range x[at : at+len(acc)] {
				acc[j] *= complex128(v)
			}
			at += stride
		}
	},
	store: func(out []byte, _ dtype.Type, at int, acc []complex128, _ int) {
		y := buffer.As[complex64](out)[at:]
		for j, v := range acc {
			y[j] = complex64(v)
		}
	},
}

func storeSame[T dtype.Element](out []byte, _ dtype.Type, at int, acc []T, _ int) {
	copy(buffer.As[T](out)[at:], acc)
}

func storeMean(out []byte, to dtype.Type, at int, acc []float64, n int) {
	for j := range acc {
		acc[j] /= float64(n)
	}
	storeAs(out, to, at, acc, n)
}

// storeAs rounds, or wraps, to the type of the result.
func storeAs[A accumulator](out []byte, to dtype.Type, at int, acc []A, _ int) {
	switch to {
	case dtype.Uint32:
		storeEach(buffer.As[uint32](out)[at:], acc)
	case dtype.Uint64:
		storeEach(buffer.As[uint64](out)[at:], acc)
	case dtype.Int32:
		storeEach(buffer.As[int32](out)[at:], acc)
	case dtype.Int64:
		storeEach(buffer.As[int64](out)[at:], acc)
	case dtype.Float32:
		if acc, ok := any(acc).([]float64); ok {
			narrowFloats(buffer.As[float32](out)[at:], acc)
			return
		}
		storeEach(buffer.As[float32](out)[at:], acc)
	case dtype.Float64:
		if acc, ok := any(acc).([]float64); ok {
			copy(buffer.As[float64](out)[at:], acc)
			return
		}
		storeEach(buffer.As[float64](out)[at:], acc)
	case dtype.Float16:
		for j, v := range acc {
			buffer.As[dtype.F16](out)[at+j] = dtype.F16From(float64(v))
		}
	case dtype.BFloat16:
		for j, v := range acc {
			buffer.As[dtype.BF16](out)[at+j] = dtype.BF16From(float64(v))
		}
	}
}

func storeEach[D realNumber, A accumulator](y []D, acc []A) {
	for j, v := range acc {
		y[j] = D(v)
	}
}
