package array

// Depends returns x, to be evaluated only after the arrays given as after: it
// ties a send, whose result nobody reads, to a value that is evaluated.
//
//	y = array.Depends(y, ops.Send(x, 1, g)) // evaluating y sends x
//
// A mistake in any of them is carried by the result. Gradients and tangents pass
// through x alone; after is constant to every derivative. Under vmap all of them
// are batched.
func Depends(x *Array, after ...*Array) *Array {
	if len(after) == 0 {
		return x
	}
	return Apply1(depends{}, append([]*Array{x}, after...)...)
}

// depends passes its first input on.
type depends struct{ standIn }

func (depends) Name() string { return "depends" }

// Forwards marks a Forwarder.
func (depends) Forwards() {}

// Equal reports whether o is the same operation.
func (depends) Equal(o Primitive) bool { return o == depends{} }

// DerivativeInputs names the first.
func (depends) DerivativeInputs(int) (first, end int) { return 0, 1 }

func (depends) OutputSpecs(in []Spec) ([]Spec, error) { return in[:1], nil }

func (p depends) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	return Apply(p, in...), axes[:1], nil
}
