package random

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
)

// distribution fills contiguous elements. Its values are comparable.
type distribution interface {
	name() string
	fill(k Key, out array.View)
}

// draw is a primitive without inputs, which is why no rule is ever asked for.
type draw struct {
	array.NoRules
	of   distribution
	key  Key
	spec array.Spec
}

// drawn returns the lazy draw, or an array with err if there is one.
func drawn(of distribution, k Key, t dtype.Type, shape []int, err error) *array.Array {
	if err != nil {
		return array.Fail(of.name(), err)
	}
	return array.Apply1(draw{of: of, key: k, spec: array.Spec{Shape: slices.Clone(shape), DType: t}})
}

func (p draw) Name() string { return p.of.name() }

// Equal reports whether o draws the same numbers.
func (p draw) Equal(o array.Primitive) bool {
	q, ok := o.(draw)
	return ok && p.of == q.of && p.key == q.key && p.spec.Equal(q.spec)
}

// most is how many elements there can be: two words each have counters of their own.
const most = math.MaxInt32

func (p draw) OutputSpecs([]array.Spec) ([]array.Spec, error) {
	n := 1
	for _, d := range p.spec.Shape {
		if d < 0 {
			return nil, fmt.Errorf("shape %v has a negative length", p.spec.Shape)
		}
		if d > 0 && n > most/d {
			return nil, fmt.Errorf("shape %v has more than %d elements", p.spec.Shape, most)
		}
		n *= max(1, d)
	}
	return []array.Spec{p.spec}, nil
}

func (p draw) Eval(_ context.Context, _, out []array.View) error {
	p.of.fill(p.key, out[0])
	return nil
}

// Bits draws unsigned integers of type t all of whose bits are random.
func Bits(k Key, t dtype.Type, shape ...int) *array.Array {
	var err error
	if !t.IsUnsigned() {
		err = fmt.Errorf("%v is not an unsigned type", t)
	}
	return drawn(rawBits{}, k, t, shape, err)
}

type rawBits struct{}

func (rawBits) name() string { return "bits" }

func (rawBits) fill(k Key, out array.View) {
	b := out.Bytes()
	for _, w := range k.words((len(b) + 3) / 4) {
		if len(b) < 4 {
			copy(b, binary.LittleEndian.AppendUint32(nil, w))
			return
		}
		binary.LittleEndian.PutUint32(b, w)
		b = b[4:]
	}
}

// Bernoulli draws bool that are true with probability p, to 32 bits. An error if
// p is not from 0 to 1.
func Bernoulli(k Key, p float64, shape ...int) *array.Array {
	var err error
	if !(p >= 0 && p <= 1) {
		err = fmt.Errorf("probability %v is not from 0 to 1", p)
	}
	return drawn(bernoulli{uint64(math.Round(p * (1 << 32)))}, k, dtype.Bool, shape, err)
}

type bernoulli struct{ below uint64 }

func (bernoulli) name() string { return "bernoulli" }

func (p bernoulli) fill(k Key, out array.View) {
	y := array.Elements[bool](out)
	for i, w := range k.words(len(y)) {
		y[i] = uint64(w) < p.below
	}
}

// store rounds x to the floating-point type of out.
func store(out array.View, x []float64) {
	switch out.DType {
	case dtype.Float16:
		y := array.Elements[dtype.F16](out)
		for i, v := range x {
			y[i] = dtype.F16From(v)
		}
	case dtype.BFloat16:
		y := array.Elements[dtype.BF16](out)
		for i, v := range x {
			y[i] = dtype.BF16From(v)
		}
	case dtype.Float32:
		y := array.Elements[float32](out)
		for i, v := range x {
			y[i] = float32(v)
		}
	case dtype.Float64:
		copy(array.Elements[float64](out), x)
	}
}
