package array

// StopGradient returns x as a constant for every derivative.
func (x *Array) StopGradient() *Array { return Apply1(stopGradient{}, x) }

type stopGradient struct{ standIn }

func (stopGradient) Name() string { return "stop_gradient" }

// Equal reports whether o is the same operation.
func (stopGradient) Equal(o Primitive) bool { return o == stopGradient{} }

// DerivativeInputs names none.
func (stopGradient) DerivativeInputs(int) (first, end int) { return 0, 0 }

func (stopGradient) VJP(in, _, _ []*Array, _ []int) ([]*Array, error) {
	return []*Array{ZerosLike(in[0])}, nil
}

func (stopGradient) JVP(in, _, _ []*Array, _ []int) ([]*Array, error) {
	return []*Array{ZerosLike(in[0])}, nil
}
