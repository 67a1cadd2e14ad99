package array_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/arraytest"
	"github.com/lockstep-go/lockstep/dtype"
)

// walk is a convolution over two axes; one over one axis has a second of length 1.
type walk struct {
	x, w                      []int // [batch, h, w, in] and [out, kh, kw, in/groups]
	stride, padding, dilation [2]int
	groups                    int
}

func (c walk) places(axis int) int {
	return (c.x[axis+1]+2*c.padding[axis]-c.dilation[axis]*(c.w[axis+1]-1)-1)/c.stride[axis] + 1
}

// naive adds up products index by index.
func (c walk) naive(xs ...[]float64) [][]float64 {
	var want []float64
	perGroup := c.w[0] / c.groups
	for n := range c.x[0] {
		for i := range c.places(0) {
			for j := range c.places(1) {
				for o := range c.w[0] {
					want = append(want, c.at(xs, n, i, j, o, o/perGroup*c.w[3]))
				}
			}
		}
	}
	return [][]float64{want}
}

func (c walk) at(xs [][]float64, n, i, j, o, firstChannel int) (sum float64) {
	for a := range c.w[1] {
		for b := range c.w[2] {
			row := i*c.stride[0] + a*c.dilation[0] - c.padding[0]
			col := j*c.stride[1] + b*c.dilation[1] - c.padding[1]
			if row < 0 || row >= c.x[1] || col < 0 || col >= c.x[2] {
				continue
			}
			for k := range c.w[3] {
				x := xs[0][((n*c.x[1]+row)*c.x[2]+col)*c.x[3]+firstChannel+k]
				sum += x * xs[1][((o*c.w[1]+a)*c.w[2]+b)*c.w[3]+k]
			}
		}
	}
	return sum
}

func TestConvConforms(t *testing.T) {
	one := [2]int{1, 1}
	cases := []struct {
		name string
		walk
	}{
		{"plain", walk{[]int{2, 3, 4, 1}, []int{2, 2, 3, 1}, one, [2]int{}, one, 1}},
		{"padded", walk{[]int{1, 2, 3, 2}, []int{1, 3, 2, 2}, one, [2]int{1, 2}, one, 1}},
		{"in strides", walk{[]int{1, 5, 4, 1}, []int{1, 2, 1, 1}, [2]int{2, 3}, [2]int{1, 0}, one, 1}},
		{"dilated", walk{[]int{1, 4, 5, 1}, []int{1, 2, 2, 1}, one, [2]int{}, [2]int{3, 2}, 1}},
		{"in groups", walk{[]int{1, 2, 2, 4}, []int{4, 1, 2, 2}, one, [2]int{}, one, 2}},
		{"one group for each channel", walk{[]int{1, 2, 2, 2}, []int{4, 2, 1, 1}, one, [2]int{}, one, 2}},
		{"no examples", walk{[]int{0, 2, 2, 1}, []int{1, 2, 2, 1}, one, [2]int{}, one, 1}},
	}
	for _, c := range cases {
		x, w := small(c.x...).AsType(dtype.Float64), small(c.w...).AsType(dtype.Float64)
		o := array.ConvOptions{Stride: c.stride[:], Padding: c.padding[:], Dilation: c.dilation[:], Groups: c.groups}
		arraytest.Check(t, arraytest.Case{
			Name:   c.name,
			F:      arraytest.Two(func(x, w *array.Array) *array.Array { return array.Conv2d(x, w, o) }),
			Inputs: []*array.Array{x, w},
			Want:   c.naive,
		})
	}
	line := walk{[]int{2, 1, 5, 2}, []int{3, 1, 2, 2}, [2]int{1, 2}, [2]int{0, 1}, [2]int{1, 2}, 1}
	arraytest.Check(t, arraytest.Case{
		Name: "over one axis",
		F: arraytest.Two(func(x, w *array.Array) *array.Array {
			return array.Conv1d(x, w, array.ConvOptions{Stride: []int{2}, Padding: []int{1}, Dilation: []int{2}})
		}),
		Inputs: []*array.Array{small(2, 5, 2).AsType(dtype.Float64), small(3, 2, 2).AsType(dtype.Float64)},
		Want:   line.naive,
	})
}

func TestConvShapes(t *testing.T) {
	z := array.Conv2d(small(2, 8, 9, 3), small(4, 3, 3, 3), array.ConvOptions{Padding: []int{1}, Stride: []int{2}})
	if want := []int{2, 4, 5, 4}; !slices.Equal(z.Shape(), want) {
		t.Fatalf("shape %v, want %v", z.Shape(), want)
	}
}

func TestConvRefuses(t *testing.T) {
	x, w := small(1, 5, 2), small(3, 2, 2)
	cases := []struct {
		x, w *array.Array
		o    array.ConvOptions
		want string
	}{
		{small(5, 2), w, array.ConvOptions{}, "both must have 3 axes"},
		{x, small(3, 2, 1), array.ConvOptions{}, "channels do not fit in 1 groups"},
		{x, w, array.ConvOptions{Groups: 3}, "channels do not fit in 3 groups"},
		{x, small(3, 6, 2), array.ConvOptions{}, "the filter does not fit along axis 1"},
		{x, w, array.ConvOptions{Stride: []int{-1}}, "stride [-1]: want 1 numbers from 1 up"},
		{x, w, array.ConvOptions{Padding: []int{1, 1}}, "padding [1 1]: want 1 numbers from 0 up"},
		{x.AsType(dtype.Int32), w.AsType(dtype.Int32), array.ConvOptions{}, "int32 is not a type of real or complex numbers"},
	}
	for _, c := range cases {
		t.Run(c.want, func(t *testing.T) {
			err := array.Conv1d(c.x, c.w, c.o).Err()
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "conv1d at conv_test.go:") {
				t.Fatalf("error %v, want %q", err, c.want)
			}
		})
	}
}
