package kernel

import (
	"cmp"
	"slices"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// ArgSort writes, for contiguous rows of n elements of type t, the places of the
// elements in ascending order, equal ones in the order of the row. NaN come last;
// complex numbers are ordered by real part, then imaginary part.
func ArgSort(t dtype.Type, y []uint32, x []byte, n int) {
	switch t {
	case dtype.Bool, dtype.Uint8:
		argSort(y, buffer.As[uint8](x), n, ascending[uint8])
	case dtype.Uint16:
		argSort(y, buffer.As[uint16](x), n, ascending[uint16])
	case dtype.Uint32:
		argSort(y, buffer.As[uint32](x), n, ascending[uint32])
	case dtype.Uint64:
		argSort(y, buffer.As[uint64](x), n, ascending[uint64])
	case dtype.Int8:
		argSort(y, buffer.As[int8](x), n, ascending[int8])
	case dtype.Int16:
		argSort(y, buffer.As[int16](x), n, ascending[int16])
	case dtype.Int32:
		argSort(y, buffer.As[int32](x), n, ascending[int32])
	case dtype.Int64:
		argSort(y, buffer.As[int64](x), n, ascending[int64])
	case dtype.Float32:
		argSort(y, buffer.As[float32](x), n, ascending[float32])
	case dtype.Float64:
		argSort(y, buffer.As[float64](x), n, ascending[float64])
	case dtype.Complex64:
		argSort(y, buffer.As[complex64](x), n, ascendingComplex)
	default:
		wide := make([]float32, len(x)/2)
		Widen(t, wide, x)
		argSort(y, wide, n, ascending[float32])
	}
}

// placed is an element and where it was.
type placed[T dtype.Element] struct {
	value T
	at    uint32
}

func argSort[T dtype.Element](y []uint32, x []T, n int, compare func(a, b T) int) {
	if len(x) == 0 {
		return
	}
	row := make([]placed[T], n)
	for i := 0; i < len(x); i += n {
		for j, v := range x[i : i+n] {
			row[j] = placed[T]{v, uint32(j)}
		}
		slices.SortFunc(row, func(a, b placed[T]) int {
			if c := compare(a.value, b.value); c != 0 {
				return c
			}
			return cmp.Compare(a.at, b.at)
		})
		for j, p := range row {
			y[i+j] = p.at
		}
	}
}

func ascending[T realNumber](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b || a != a && b != b:
		return 0
	case a != a:
		return 1
	}
	return -1
}

func ascendingComplex(a, b complex64) int {
	switch {
	case a != a || b != b:
		return ascending(nanRank(a), nanRank(b))
	case real(a) != real(b):
		return ascending(real(a), real(b))
	}
	return ascending(imag(a), imag(b))
}

func nanRank(z complex64) uint8 {
	if z != z {
		return 1
	}
	return 0
}
