package array

import "github.com/lockstep-go/lockstep/internal/kernel"

var (
	byEqual        = &binary{op: kernel.Equal}
	byNotEqual     = &binary{op: kernel.NotEqual}
	byLess         = &binary{op: kernel.Less}
	byLessEqual    = &binary{op: kernel.LessEqual}
	byGreater      = &binary{op: kernel.Greater}
	byGreaterEqual = &binary{op: kernel.GreaterEqual}
)

// Equal is true where x = y. Like all comparisons it broadcasts, compares in the
// promoted type and gives bool; NaN equals nothing. Complex numbers are ordered
// by the real part, then the imaginary one. Comparisons have no gradient.
func (x *Array) Equal(y *Array) *Array { return byEqual.apply(x, y) }

// NotEqual is true where x ≠ y.
func (x *Array) NotEqual(y *Array) *Array { return byNotEqual.apply(x, y) }

// Less is true where x < y.
func (x *Array) Less(y *Array) *Array { return byLess.apply(x, y) }

// LessEqual is true where x ≤ y.
func (x *Array) LessEqual(y *Array) *Array { return byLessEqual.apply(x, y) }

// Greater is true where x > y.
func (x *Array) Greater(y *Array) *Array { return byGreater.apply(x, y) }

// GreaterEqual is true where x ≥ y.
func (x *Array) GreaterEqual(y *Array) *Array { return byGreaterEqual.apply(x, y) }

// IsNaN is true where x, or a part of a complex x, is not a number.
func (x *Array) IsNaN() *Array { return x.unary(kernel.IsNaN, nil) }

// IsInf is true where x, or a part of a complex x, is infinite.
func (x *Array) IsInf() *Array { return x.unary(kernel.IsInf, nil) }

// IsFinite is true where x, and each part of a complex x, is neither infinite
// nor NaN.
func (x *Array) IsFinite() *Array { return x.unary(kernel.IsFinite, nil) }
