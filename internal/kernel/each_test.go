package kernel

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// stored copies x to aligned storage.
func stored[T dtype.Element](x ...T) []byte {
	b := buffer.Make(len(buffer.Bytes(x)))
	copy(b, buffer.Bytes(x))
	return b
}

// run1 runs a loop over one contiguous operand.
func run1[D, S dtype.Element](f Loop, x ...S) []D {
	y := buffer.Make(len(x) * len(stored(*new(D))))
	f(y, [][]byte{stored(x...)})
	return buffer.As[D](y)
}

// run2 runs a loop over two contiguous operands.
func run2[D, S dtype.Element](f Loop, x, y []S) []D {
	z := buffer.Make(len(x) * len(stored(*new(D))))
	f(z, [][]byte{stored(x...), stored(y...)})
	return buffer.As[D](z)
}

func TestEachWalksAnyStrides(t *testing.T) {
	storage := make([]int32, 4096)
	for i := range storage {
		storage[i] = int32(i * i % 1009)
	}
	cases := []struct {
		name    string
		shape   []int
		strides [2][]int
		offsets [2]int
	}{
		{"contiguous", []int{3, 700}, [2][]int{{700, 1}, {700, 1}}, [2]int{0, 5}},
		{"one transposed", []int{30, 40}, [2][]int{{1, 30}, {40, 1}}, [2]int{0, 0}},
		{"both transposed", []int{30, 40}, [2][]int{{1, 30}, {1, 30}}, [2]int{7, 0}},
		{"a row repeated", []int{5, 600}, [2][]int{{600, 1}, {0, 1}}, [2]int{0, 3}},
		{"a column repeated", []int{5, 600}, [2][]int{{600, 1}, {1, 0}}, [2]int{0, 3}},
		{"a number repeated", []int{2, 3, 400}, [2][]int{{1200, 400, 1}, {0, 0, 0}}, [2]int{0, 9}},
		{"backwards", []int{1500}, [2][]int{{-1}, {1}}, [2]int{1499, 0}},
		{"every second backwards", []int{2, 600}, [2][]int{{600, 1}, {1, -2}}, [2]int{0, 2000}},
		{"a number", nil, [2][]int{nil, nil}, [2]int{11, 12}},
		{"axes of length one", []int{1, 4, 1}, [2][]int{{99, 2, 99}, {0, 3, 0}}, [2]int{0, 0}},
		{"nothing", []int{4, 0}, [2][]int{{1, 1}, {1, 1}}, [2]int{0, 0}},
	}
	subtract, _ := Binary(Sub, dtype.Int32)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var want []int32
			var visit func(axis, i, j int)
			visit = func(axis, i, j int) {
				if axis == len(c.shape) {
					want = append(want, storage[i]-storage[j])
					return
				}
				for range c.shape[axis] {
					visit(axis+1, i, j)
					i += c.strides[0][axis]
					j += c.strides[1][axis]
				}
			}
			visit(0, c.offsets[0], c.offsets[1])
			out := buffer.Make(4 * len(want))
			operands := make([]Operand, 2)
			for k := range operands {
				operands[k] = Operand{buffer.Bytes(storage), 4, c.strides[k], c.offsets[k]}
			}
			Each(subtract, out, 4, c.shape, operands)
			if !slices.Equal(buffer.As[int32](out), want) {
				t.Fatal("other elements than index by index")
			}
		})
	}
}

func TestEachGathersElementsOfAnySize(t *testing.T) {
	for size := 1; size <= 8; size *= 2 {
		t.Run(fmt.Sprintf("%d bytes", size), func(t *testing.T) {
			storage := buffer.Make(9 * size)
			for i := range storage {
				storage[i] = byte(i)
			}
			out := buffer.Make(9 * size)
			copied := func(out []byte, in [][]byte) { copy(out, in[0]) }
			Each(copied, out, size, []int{3, 3}, []Operand{{storage, size, []int{1, 3}, 0}})
			for i := range 9 {
				from := i%3*3 + i/3
				if !slices.Equal(out[i*size:(i+1)*size], storage[from*size:(from+1)*size]) {
					t.Fatalf("element %d is not element %d", i, from)
				}
			}
		})
	}
}
