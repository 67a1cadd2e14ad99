package array

import (
	"fmt"
	"math"
	"slices"

	"github.com/lockstep-go/lockstep/internal/layout"
)

// ConvOptions say how a filter walks. Each list has one number for every
// spatial axis, or one for all of them.
type ConvOptions struct {
	Stride   []int // steps between places of the filter; 1 if empty
	Padding  []int // zeros put before and after each axis; 0 if empty
	Dilation []int // distance between the elements that a filter reads; 1 if empty
	Groups   int   // channels are cut into so many groups with filters of their own; 1 if zero
}

// Conv1d slides filters w [out, k, in/groups] over x [batch, length, in]: shape
// [batch, places, out]. Nothing is flipped: it is a cross-correlation, as in MLX.
// The type is the promoted one, which must be inexact. An error if the shapes do
// not fit or the filter is longer than the padded input.
//
// What the filters read is laid out as a matrix first, k times as large as x.
func Conv1d(x, w *Array, o ConvOptions) *Array { return convolve("conv1d", x, w, 1, o) }

// Conv2d slides filters w [out, kh, kw, in/groups] over x [batch, height, width,
// in]: shape [batch, rows, columns, out]. The rest is as for Conv1d.
func Conv2d(x, w *Array, o ConvOptions) *Array { return convolve("conv2d", x, w, 2, o) }

func convolve(op string, x, w *Array, spatial int, o ConvOptions) *Array {
	if x.Err() != nil || w.Err() != nil {
		return mistake(op, nil, x, w)
	}
	c, err := newConvolution(x, w, spatial, o)
	if err != nil {
		return mistake(op, fmt.Errorf("%v with filters %v: %w", x.spec(), w.spec(), err), x, w)
	}
	t := promoted(x, w)
	windows := c.windows(x.AsType(t).Pad(0, c.padding()...))
	z := windows.MatMul(c.filters(w.AsType(t)))
	return z.MoveAxis(0, 1).Reshape(slices.Concat([]int{x.Dim(0)}, c.places, []int{w.Dim(0)})...)
}

// convolution is what is known of a convolution before it is computed.
type convolution struct {
	stride, pad, dilation []int
	kernel                []int // lengths of the filter
	places                []int // how often it fits along each axis
	groups, in, out       int   // groups, and channels of each
}

func newConvolution(x, w *Array, spatial int, o ConvOptions) (c convolution, err error) {
	if x.NDim() != spatial+2 || w.NDim() != spatial+2 {
		return c, fmt.Errorf("both must have %d axes", spatial+2)
	}
	if t := promoted(x, w); !t.IsInexact() {
		return c, fmt.Errorf("%v is not a type of real or complex numbers", t)
	}
	c.kernel = w.Shape()[1 : spatial+1]
	c.groups = max(1, o.Groups)
	c.in, c.out = w.Dim(-1), w.Dim(0)/c.groups
	if x.Dim(-1) != c.in*c.groups || w.Dim(0) != c.out*c.groups {
		return c, fmt.Errorf("channels do not fit in %d groups", c.groups)
	}
	if c.stride, err = perAxis("stride", o.Stride, spatial, 1); err != nil {
		return c, err
	}
	if c.pad, err = perAxis("padding", o.Padding, spatial, 0); err != nil {
		return c, err
	}
	if c.dilation, err = perAxis("dilation", o.Dilation, spatial, 1); err != nil {
		return c, err
	}
	for i, k := range c.kernel {
		if reach := float64(c.dilation[i]) * float64(k-1); k == 0 || reach >= float64(x.Dim(i+1)+2*c.pad[i]) {
			return c, fmt.Errorf("the filter does not fit along axis %d", i+1)
		}
		room := x.Dim(i+1) + 2*c.pad[i] - c.dilation[i]*(k-1) - 1
		c.places = append(c.places, room/c.stride[i]+1)
	}
	return c, nil
}

// perAxis repeats a single number and checks that none is below least, which is
// also what an empty list means.
func perAxis(what string, given []int, spatial, least int) ([]int, error) {
	switch len(given) {
	case 0:
		given = []int{least}
		fallthrough
	case 1:
		given = slices.Repeat(given, spatial)
	}
	if len(given) != spatial || slices.Min(given) < least || slices.Max(given) > math.MaxInt32 {
		return nil, fmt.Errorf("%s %v: want %d numbers from %d up", what, given, spatial, least)
	}
	return given, nil
}

func (c convolution) padding() [][2]int {
	widths := make([][2]int, len(c.pad)+2)
	for i, p := range c.pad {
		widths[i+1] = [2]int{p, p}
	}
	return widths
}

// windows lays out what the filters read: [groups, batch·places, taps·in].
func (c convolution) windows(x *Array) *Array {
	taps := make([]*Array, layout.Size(c.kernel))
	for i := range taps {
		taps[i] = c.tap(x, i)
	}
	all := Stack(taps, -2) // [batch, places..., taps, groups·in]
	rows := x.Dim(0) * layout.Size(c.places)
	return all.Reshape(rows, len(taps), c.groups, c.in).MoveAxis(2, 0).Reshape(c.groups, rows, len(taps)*c.in)
}

// tap is what element i of the filters, in row order, reads at every place.
func (c convolution) tap(x *Array, i int) *Array {
	starts, stops, steps := make([]int, x.NDim()), x.Shape(), slices.Repeat([]int{1}, x.NDim())
	for axis := len(c.kernel) - 1; axis >= 0; axis-- {
		starts[axis+1] = i % c.kernel[axis] * c.dilation[axis]
		i /= c.kernel[axis]
		steps[axis+1] = c.stride[axis]
		stops[axis+1] = starts[axis+1] + (c.places[axis]-1)*c.stride[axis] + 1
	}
	return x.Slice(starts, stops, steps)
}

// filters are matrices [groups, taps·in, out].
func (c convolution) filters(w *Array) *Array {
	return w.Reshape(c.groups, c.out, layout.Size(c.kernel)*c.in).SwapAxes(-1, -2)
}
