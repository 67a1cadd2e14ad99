// Package kernel holds the loops that compute: plain Go, one loop per operation,
// chosen from a table by operation and element type. Loops run over contiguous
// elements; Each carries them over operands of any strides.
//
// The half types are computed in float32 and rounded when they are stored.
package kernel

import (
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// Op names an elementwise operation, as messages to people do.
type Op string

// Operations of one operand.
const (
	Neg        Op = "negative"
	Abs        Op = "abs"
	Sign       Op = "sign"
	Square     Op = "square"
	Exp        Op = "exp"
	Expm1      Op = "expm1"
	Log        Op = "log"
	Log1p      Op = "log1p"
	Log2       Op = "log2"
	Log10      Op = "log10"
	Sqrt       Op = "sqrt"
	Rsqrt      Op = "rsqrt"
	Reciprocal Op = "reciprocal"
	Sin        Op = "sin"
	Cos        Op = "cos"
	Tan        Op = "tan"
	Asin       Op = "arcsin"
	Acos       Op = "arccos"
	Atan       Op = "arctan"
	Sinh       Op = "sinh"
	Cosh       Op = "cosh"
	Tanh       Op = "tanh"
	Asinh      Op = "arcsinh"
	Acosh      Op = "arccosh"
	Atanh      Op = "arctanh"
	Erf        Op = "erf"
	ErfInv     Op = "erfinv"
	Sigmoid    Op = "sigmoid"
	Gelu       Op = "gelu" // x/2 · (1 + erf(x/√2)), each step rounded
	Floor      Op = "floor"
	Ceil       Op = "ceil"
	Round      Op = "round"
	LogicalNot Op = "logical_not"
	BitNot     Op = "bitwise_invert"
	IsNaN      Op = "isnan"
	IsInf      Op = "isinf"
	IsFinite   Op = "isfinite"
	Conj       Op = "conjugate"
	Real       Op = "real"
	Imag       Op = "imag"
)

// Operations of two operands.
const (
	Add          Op = "add"
	Sub          Op = "subtract"
	Mul          Op = "multiply"
	Div          Op = "divide"
	FloorDiv     Op = "floor_divide"
	Mod          Op = "remainder"
	Pow          Op = "power"
	Maximum      Op = "maximum"
	Minimum      Op = "minimum"
	LogAddExp    Op = "logaddexp"
	Atan2        Op = "arctan2"
	Equal        Op = "equal"
	NotEqual     Op = "not_equal"
	Less         Op = "less"
	LessEqual    Op = "less_equal"
	Greater      Op = "greater"
	GreaterEqual Op = "greater_equal"
	LogicalAnd   Op = "logical_and"
	LogicalOr    Op = "logical_or"
	BitAnd       Op = "bitwise_and"
	BitOr        Op = "bitwise_or"
	BitXor       Op = "bitwise_xor"
	ShiftLeft    Op = "left_shift"
	ShiftRight   Op = "right_shift"
)

// Loop computes the elements of out from as many elements of each operand. All
// are contiguous; out overlaps no operand unless it is one. Several goroutines may
// run a Loop at once.
type Loop func(out []byte, in [][]byte)

type (
	signed   interface{ int8 | int16 | int32 | int64 }
	unsigned interface {
		uint8 | uint16 | uint32 | uint64
	}
	integer interface{ signed | unsigned }
	float   interface{ float32 | float64 }
	number  interface{ integer | float | complex64 }
)

// loop1 makes a Loop of a typed loop; nil of nil.
func loop1[D, S dtype.Element](f func(y []D, x []S)) Loop {
	if f == nil {
		return nil
	}
	return func(out []byte, in [][]byte) { f(buffer.As[D](out), buffer.As[S](in[0])) }
}

// loop2 is loop1 for two operands.
func loop2[D, S dtype.Element](f func(z []D, x, y []S)) Loop {
	if f == nil {
		return nil
	}
	return func(out []byte, in [][]byte) {
		f(buffer.As[D](out), buffer.As[S](in[0]), buffer.As[S](in[1]))
	}
}
