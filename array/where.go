package array

import (
	"context"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

// Where takes elements from x where cond is not zero and from y elsewhere. All
// three broadcast to one shape; the type is that of x and y promoted. The
// gradient goes to the side that was taken.
func Where(cond, x, y *Array) *Array {
	t := promoted(x, y)
	in := alike(t, x, y)
	if !t.Valid() {
		return Apply1(where{}, cond, x, y)
	}
	return Apply1(where{}, sameShape(cond.AsType(dtype.Bool), in[0], in[1])...)
}

// Clip limits x to the range from low to high, which broadcast. NaN stays.
// Where a limit is reached or passed the gradient goes to the limit.
func (x *Array) Clip(low, high *Array) *Array { return x.Maximum(low).Minimum(high) }

// where chooses between its second and third input by its first, a bool.
type where struct{}

func (where) Name() string  { return "where" }
func (where) ReadsStrided() {}

// Equal reports whether o is the same operation.
func (where) Equal(o Primitive) bool { return o == where{} }

func (where) OutputSpecs(in []Spec) ([]Spec, error) {
	if err := checkAlike(in); err != nil {
		return nil, err
	}
	return in[1:2], nil
}

func (where) Eval(_ context.Context, in, out []View) error {
	computeEach(kernel.Select(out[0].DType.Size()), in, out[0])
	return nil
}

func (where) loop(in []Spec) kernel.Loop { return kernel.Select(in[1].DType.Size()) }

// Overwrites lists what is chosen from.
func (where) Overwrites(int) []int { return []int{1, 2} }

func (where) VJP(in, _, dy []*Array, argnums []int) ([]*Array, error) {
	dx := make([]*Array, len(argnums))
	for i, arg := range argnums {
		dx[i] = side(in[0], dy[0], arg)
	}
	return dx, nil
}

func (where) JVP(in, out, dx []*Array, argnums []int) ([]*Array, error) {
	tangents := []*Array{nil, ZerosLike(out[0]), ZerosLike(out[0])}
	for i, arg := range argnums {
		tangents[arg] = dx[i]
	}
	return []*Array{Where(in[0], tangents[1], tangents[2])}, nil
}

func (p where) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	return mapAlike(p, in, axes)
}

// side is d where the input arg of a where was taken, and zero elsewhere.
func side(cond, d *Array, arg int) *Array {
	if arg == 1 {
		return Where(cond, d, ZerosLike(d))
	}
	return Where(cond, ZerosLike(d), d)
}
