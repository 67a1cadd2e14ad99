package array

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

// ScanMode changes how a cumulative operation runs along its axis.
type ScanMode uint8

const (
	// Reverse runs from the last element to the first.
	Reverse ScanMode = iota + 1
	// Exclusive leaves each element out of its own result.
	Exclusive
)

// CumSum adds up along an axis: element i of the result is the sum of the
// elements up to and with i. bool becomes int32, other types stay; integers
// wrap. Floating-point numbers are added in float64 and rounded when stored.
func (x *Array) CumSum(axis int, modes ...ScanMode) *Array {
	return x.scanned(kernel.CumSum, 0, axis, modes)
}

// CumProd multiplies along an axis; the rest is as for CumSum. The gradient is
// right where factors are zero.
func (x *Array) CumProd(axis int, modes ...ScanMode) *Array {
	return x.scanned(kernel.CumProd, 1, axis, modes)
}

// LogCumSumExp is log(cumsum(exp(x))) along an axis, without overflow. Bool and
// integers become float32; complex numbers are an error. Exclusive begins with
// -Inf.
func (x *Array) LogCumSumExp(axis int, modes ...ScanMode) *Array {
	return x.inexact().scanned(kernel.LogCumSumExp, math.Inf(-1), axis, modes)
}

// CumMax is the greatest element up to and with each along an axis. A NaN stays
// to the end. The gradient goes to the element that was taken, the first of
// equal ones. Exclusive, which begins with -Inf, is only for floating-point types;
// complex numbers are an error.
func (x *Array) CumMax(axis int, modes ...ScanMode) *Array {
	return x.runningExtremum(argRunning{least: false}, math.Inf(-1), axis, modes)
}

// CumMin is the least element up to and with each; the rest is as for CumMax.
// Exclusive begins with +Inf.
func (x *Array) CumMin(axis int, modes ...ScanMode) *Array {
	return x.runningExtremum(argRunning{least: true}, math.Inf(1), axis, modes)
}

func (x *Array) scanned(op kernel.Scan, neutral float64, axis int, modes []ScanMode) *Array {
	if x.DType() == dtype.Bool {
		x = x.AsType(dtype.Int32)
	}
	return x.running(string(op), neutral, axis, modes, func(rows *Array) *Array {
		return Apply1(scan{op: op}, rows)
	})
}

func (x *Array) runningExtremum(p argRunning, neutral float64, axis int, modes []ScanMode) *Array {
	if slices.Contains(modes, Exclusive) && x.Err() == nil && !x.DType().IsFloat() {
		return x.fail(p.Name(), fmt.Errorf("%v has no value to begin with", x.DType()))
	}
	return x.running(p.Name(), neutral, axis, modes, func(rows *Array) *Array {
		return rows.TakeAlongAxis(Apply1(p, rows), -1)
	})
}

// running applies f along an axis, as the last one and from its first element.
func (x *Array) running(op string, neutral float64, axis int, modes []ScanMode, f func(rows *Array) *Array) *Array {
	if x.Err() != nil {
		return x
	}
	at, err := x.oneAxis(axis)
	if err != nil {
		return x.fail(op, err)
	}
	reverse := slices.Contains(modes, Reverse)
	rows := x.MoveAxis(at, -1)
	if reverse {
		rows = rows.Flip(-1)
	}
	y := f(rows)
	if slices.Contains(modes, Exclusive) {
		y = y.shifted(neutral)
	}
	if reverse {
		y = y.Flip(-1)
	}
	return y.MoveAxis(-1, at)
}

// shifted moves each row one place on, so that its last element is lost and its
// first one is c.
func (x *Array) shifted(c float64) *Array {
	n := x.Dim(-1)
	if x.Err() != nil || n == 0 {
		return x
	}
	shape := x.Shape()
	shape[len(shape)-1] = 1
	return Concatenate([]*Array{Full(c, x.DType(), shape...), x.SliceAxis(-1, 0, n-1)}, -1)
}

// scan runs along the last axis. A recurrence has two inputs of equal shape.
type scan struct{ op kernel.Scan }

func (p scan) Name() string { return string(p.op) }

// Equal reports whether o runs alike.
func (p scan) Equal(o Primitive) bool { return o == p }

func (p scan) OutputSpecs(in []Spec) ([]Spec, error) {
	if p.op == kernel.LogCumSumExp {
		return in[:1], checkReal(in[0])
	}
	return in[:1], nil
}

func (p scan) Eval(_ context.Context, in, out []View) error {
	rows := make([][]byte, len(in))
	for i, x := range in {
		rows[i] = x.Bytes()
	}
	shape := in[0].Shape
	kernel.ScanRows(p.op, in[0].DType, out[0].Bytes(), rows, shape[len(shape)-1])
	return nil
}

func (p scan) VJP(in, out, dy []*Array, argnums []int) ([]*Array, error) {
	d := dy[0].Conj()
	var dx []*Array
	switch p.op {
	case kernel.CumSum:
		dx = []*Array{d.CumSum(-1, Reverse)}
	case kernel.CumProd:
		// Each factor multiplies what comes before it and, by the recurrence
		// s[i] = d[i] + x[i+1]·s[i+1], what comes after.
		x := in[0]
		dx = []*Array{x.CumProd(-1, Exclusive).Mul(after(x, d))}
	case kernel.LogCumSumExp:
		x, y := in[0], out[0]
		dx = []*Array{ratio(x, y).Mul(after(ratio(y.shifted(math.Inf(-1)), y), d))}
	default:
		s := after(in[0], d)
		for _, arg := range argnums {
			if arg == 0 {
				dx = append(dx, s.Mul(out[0].shifted(0)))
			} else {
				dx = append(dx, s)
			}
		}
	}
	for i := range dx {
		dx[i] = dx[i].Conj()
	}
	return dx, nil
}

// after solves s[i] = d[i] + a[i+1]·s[i+1] from the last element on.
func after(a, d *Array) *Array {
	return Apply1(scan{kernel.Recurrence}, a.Flip(-1).shifted(0), d.Flip(-1)).Flip(-1)
}

// ratio is exp(x)/exp(y), and zero where exp(x) is.
func ratio(x, y *Array) *Array {
	return x.Sub(y).Exp().onlyWhere(x.Greater(FullLike(x, math.Inf(-1))))
}

func (p scan) JVP(in, out, dx []*Array, argnums []int) ([]*Array, error) {
	switch p.op {
	case kernel.CumSum:
		return Apply(p, dx[0]), nil
	case kernel.CumProd:
		x := in[0]
		return Apply(scan{kernel.Recurrence}, x, x.CumProd(-1, Exclusive).Mul(dx[0])), nil
	}
	if p.op == kernel.LogCumSumExp {
		x, y := in[0], out[0]
		return Apply(scan{kernel.Recurrence}, ratio(y.shifted(math.Inf(-1)), y), ratio(x, y).Mul(dx[0])), nil
	}
	t := tangents(in, dx, argnums)
	return Apply(p, in[0], t[0].Mul(out[0].shifted(0)).Add(t[1])), nil
}

func (p scan) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	xs, _ := batchAll(in, axes)
	return Apply(p, xs...), []int{0}, nil
}

// argRunning is the place of the extremum up to each element along the last axis.
type argRunning struct {
	noSlope
	least bool
}

func (p argRunning) Name() string {
	if p.least {
		return "cummin"
	}
	return "cummax"
}

// Equal reports whether o is the same operation.
func (p argRunning) Equal(o Primitive) bool { return o == p }

func (p argRunning) OutputSpecs(in []Spec) ([]Spec, error) {
	if in[0].DType.IsComplex() {
		return nil, errors.New("complex numbers have no order")
	}
	return []Spec{{in[0].Shape, dtype.Uint32}}, nil
}

func (p argRunning) Eval(_ context.Context, in, out []View) error {
	shape := in[0].Shape
	kernel.ArgRunning(p.least, in[0].DType, Elements[uint32](out[0]), in[0].Bytes(), shape[len(shape)-1])
	return nil
}

func (p argRunning) VMap(in []*Array, axes []int) ([]*Array, []int, error) {
	return mapRows(p, in, axes)
}
