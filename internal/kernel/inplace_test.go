package kernel

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
)

var everyUnary = []Op{Neg, Abs, Sign, Square, Exp, Expm1, Log, Log1p, Log2, Log10, Sqrt, Rsqrt, Reciprocal, Sin, Cos, Tan,
	Asin, Acos, Atan, Sinh, Cosh, Tanh, Asinh, Acosh, Atanh, Erf, ErfInv, Sigmoid, Gelu, Floor, Ceil, Round, LogicalNot, BitNot,
	IsNaN, IsInf, IsFinite, Conj, Real, Imag}

var everyBinary = []Op{Add, Sub, Mul, Div, FloorDiv, Mod, Pow, Maximum, Minimum, LogAddExp, Atan2, Equal, NotEqual, Less,
	LessEqual, Greater, GreaterEqual, LogicalAnd, LogicalOr, BitAnd, BitOr, BitXor, ShiftLeft, ShiftRight}

// Results may be written over an operand whose elements are as large.
func TestLoopsWriteOverTheirOperands(t *testing.T) {
	for _, typ := range dtype.All() {
		for _, op := range everyUnary {
			loop, to := Unary(op, typ)
			checkInPlace(t, string(op), typ, to, loop, typ)
		}
		for _, op := range everyBinary {
			loop, to := Binary(op, typ)
			checkInPlace(t, string(op), typ, to, loop, typ, typ)
		}
		for _, to := range dtype.All() {
			checkInPlace(t, "cast to "+to.String()+" from", typ, to, Cast(typ, to), typ)
		}
		checkInPlace(t, "select", typ, typ, Select(typ.Size()), dtype.Bool, typ, typ)
	}
}

func checkInPlace(t *testing.T, op string, typ, to dtype.Type, loop Loop, types ...dtype.Type) {
	t.Helper()
	if loop == nil {
		return
	}
	for _, n := range []int{1, 7, 70, 1100} {
		draw := rand.New(rand.NewPCG(1, uint64(n)))
		in := make([][]byte, len(types))
		for i, kind := range types {
			in[i] = make([]byte, n*kind.Size())
			for k := range in[i] {
				in[i][k] = byte(draw.IntN(2))
				if kind != dtype.Bool && k%kind.Size() >= kind.Size()-2 {
					in[i][k] = byte(draw.IntN(256)) // signs and exponents of all kinds
				}
			}
		}
		want := make([]byte, n*to.Size())
		loop(want, in)
		for i, kind := range types {
			if kind.Size() != to.Size() {
				continue
			}
			over := make([][]byte, len(in))
			for k := range in {
				over[k] = bytes.Clone(in[k])
			}
			loop(over[i], over)
			if !bytes.Equal(over[i], want) {
				t.Errorf("%s of %v, %d elements: other bits when written over operand %d", op, typ, n, i)
				break
			}
		}
	}
}
