package kernel

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/buffer"
)

// aliased is a loop whose output may be written over an operand of its element size.
type aliased struct {
	name string
	loop Loop
	in   []dtype.Type
	out  int // bytes of an element
}

// everyLoop is each elementwise loop of the active level.
func everyLoop() []aliased {
	var all []aliased
	for _, t := range dtype.All() {
		for _, op := range []Op{
			Neg, Abs, Sign, Square, Exp, Expm1, Log, Log1p, Log2, Log10, Sqrt, Rsqrt, Reciprocal, Sin, Cos, Tan, Asin, Acos,
			Atan, Sinh, Cosh, Tanh, Asinh, Acosh, Atanh, Erf, ErfInv, Sigmoid, Gelu, Floor, Ceil, Round, LogicalNot, BitNot,
			IsNaN, IsInf, IsFinite, Conj, Real, Imag,
		} {
			if loop, to := Unary(op, t); loop != nil {
				all = append(all, aliased{fmt.Sprintf("%v of %v", op, t), loop, []dtype.Type{t}, to.Size()})
			}
		}
		for _, op := range []Op{
			Add, Sub, Mul, Div, FloorDiv, Mod, Pow, Maximum, Minimum, LogAddExp, Atan2, Equal, NotEqual, Less, LessEqual,
			Greater, GreaterEqual, LogicalAnd, LogicalOr, BitAnd, BitOr, BitXor, ShiftLeft, ShiftRight,
		} {
			if loop, to := Binary(op, t); loop != nil {
				all = append(all, aliased{fmt.Sprintf("%v of two %v", op, t), loop, []dtype.Type{t, t}, to.Size()})
			}
		}
		all = append(all, aliased{fmt.Sprintf("choice of %v", t), Select(t.Size()), []dtype.Type{dtype.Bool, t, t}, t.Size()})
		for _, to := range dtype.All() {
			all = append(all, aliased{fmt.Sprintf("cast of %v to %v", t, to), Cast(t, to), []dtype.Type{t}, to.Size()})
		}
	}
	return all
}

// operandOf has small numbers of both signs where the type has them.
func operandOf(t dtype.Type, n int, r *rand.Rand) []byte {
	small := make([]float32, n)
	for i := range small {
		small[i] = float32(r.IntN(41)-20) / 8
	}
	b := buffer.Make(n * t.Size())
	Cast(dtype.Float32, t)(b, [][]byte{buffer.Bytes(small)})
	return b
}

func TestLoopsMayWriteOverAnOperand(t *testing.T) {
	before := chosen
	defer func() { chosen = before }()
	for _, k := range machine() {
		chosen = func() (*kernels, error) { return k, nil }
		t.Run(string(k.level), func(t *testing.T) {
			for _, l := range everyLoop() {
				for _, n := range []int{1, 7, 64, 203} {
					l.check(t, n)
				}
			}
		})
	}
}

func (l aliased) check(t *testing.T, n int) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, uint64(n)))
	in := make([][]byte, len(l.in))
	for i, typ := range l.in {
		in[i] = operandOf(typ, n, r)
	}
	want := buffer.Make(n * l.out)
	l.loop(want, slices.Clone(in))
	for i, typ := range l.in {
		if typ.Size() != l.out {
			continue
		}
		over := buffer.Make(len(in[i]))
		copy(over, in[i])
		with := slices.Clone(in)
		with[i] = over
		l.loop(over, with)
		if !bytes.Equal(over, want) {
			t.Errorf("%s: %d elements over operand %d differ from those written elsewhere", l.name, n, i)
			return
		}
	}
}
