package array

import (
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

var (
	byLogicalAnd = &binary{op: kernel.LogicalAnd}
	byLogicalOr  = &binary{op: kernel.LogicalOr}
	byBitAnd     = &binary{op: kernel.BitAnd}
	byBitOr      = &binary{op: kernel.BitOr}
	byBitXor     = &binary{op: kernel.BitXor}
	byShiftLeft  = &binary{op: kernel.ShiftLeft}
	byShiftRight = &binary{op: kernel.ShiftRight}
)

// LogicalNot is true where x is zero. The result is bool.
func (x *Array) LogicalNot() *Array { return x.unary(kernel.LogicalNot, nil) }

// LogicalAnd is true where neither x nor y is zero. It broadcasts; the result is
// bool.
func (x *Array) LogicalAnd(y *Array) *Array {
	return Apply1(byLogicalAnd, alike(dtype.Bool, x, y)...)
}

// LogicalOr is true where x or y is not zero. It broadcasts; the result is bool.
func (x *Array) LogicalOr(y *Array) *Array {
	return Apply1(byLogicalOr, alike(dtype.Bool, x, y)...)
}

// BitNot inverts the bits of an integer or bool x; an error for other types.
func (x *Array) BitNot() *Array { return x.unary(kernel.BitNot, nil) }

// BitAnd is the bitwise and of integers or bool; an error for other types.
func (x *Array) BitAnd(y *Array) *Array { return byBitAnd.apply(x, y) }

// BitOr is the bitwise or of integers or bool; an error for other types.
func (x *Array) BitOr(y *Array) *Array { return byBitOr.apply(x, y) }

// BitXor is the bitwise exclusive or of integers or bool; an error for other
// types.
func (x *Array) BitXor(y *Array) *Array { return byBitXor.apply(x, y) }

// ShiftLeft is x · 2^y for integers; bits that are shifted out are lost, all of
// them if y is negative or larger than the type. An error for other types.
func (x *Array) ShiftLeft(y *Array) *Array { return byShiftLeft.apply(x, y) }

// ShiftRight is x / 2^y for integers, rounded down; only the sign remains if y
// is negative or larger than the type. An error for other types.
func (x *Array) ShiftRight(y *Array) *Array { return byShiftRight.apply(x, y) }
