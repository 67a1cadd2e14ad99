package array_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/dtype"
)

func onesOf(t dtype.Type) *array.Array { return array.Ones(t, 2) }

func TestTypesOfResults(t *testing.T) {
	cases := []struct {
		name string
		x    *array.Array
		want dtype.Type
	}{
		{"the wider type wins", onesOf(dtype.Int8).Add(onesOf(dtype.Int32)), dtype.Int32},
		{"the wider class wins", onesOf(dtype.Int64).Mul(onesOf(dtype.Float16)), dtype.Float16},
		{"signs mix to the next wider type", onesOf(dtype.Uint8).Sub(onesOf(dtype.Int8)), dtype.Int16},
		{"unless there is none", onesOf(dtype.Uint64).Add(onesOf(dtype.Int8)), dtype.Float32},
		{"the two halves meet in float32", onesOf(dtype.Float16).Add(onesOf(dtype.BFloat16)), dtype.Float32},
		{"bool joins anything", onesOf(dtype.Bool).Maximum(onesOf(dtype.Uint16)), dtype.Uint16},
		{"bool stays among itself", onesOf(dtype.Bool).Add(onesOf(dtype.Bool)), dtype.Bool},
		{"complex wins", onesOf(dtype.Float64).Add(onesOf(dtype.Complex64)), dtype.Complex64},
		{"integers divide in float32", onesOf(dtype.Int64).Div(onesOf(dtype.Int64)), dtype.Float32},
		{"but not rounded down", onesOf(dtype.Int16).FloorDiv(onesOf(dtype.Int16)), dtype.Int16},
		{"halves divide among themselves", onesOf(dtype.BFloat16).Div(onesOf(dtype.Int32)), dtype.BFloat16},
		{"angles of integers", onesOf(dtype.Int32).Atan2(onesOf(dtype.Int32)), dtype.Float32},
		{"functions of integers", onesOf(dtype.Uint8).Exp(), dtype.Float32},
		{"functions of bool", onesOf(dtype.Bool).Sqrt(), dtype.Float32},
		{"functions of halves", onesOf(dtype.Float16).Exp(), dtype.Float16},
		{"squares of integers", onesOf(dtype.Int8).Square(), dtype.Int8},
		{"rounded integers", onesOf(dtype.Int8).Round(), dtype.Int8},
		{"length of complex numbers", onesOf(dtype.Complex64).Abs(), dtype.Float32},
		{"imaginary part of real numbers", onesOf(dtype.Float16).Imag(), dtype.Float16},
		{"comparisons", onesOf(dtype.Float32).Less(onesOf(dtype.Int8)), dtype.Bool},
		{"both sides of where", array.Where(onesOf(dtype.Int8), onesOf(dtype.Int8), onesOf(dtype.Float16)), dtype.Float16},
		{"an integer beside a half", onesOf(dtype.Float16).AddScalar(3), dtype.Float16},
		{"a fraction beside a half", onesOf(dtype.BFloat16).MulScalar(0.1), dtype.BFloat16},
		{"an integer beside an integer", onesOf(dtype.Uint8).AddScalar(3), dtype.Uint8},
		{"a fraction beside an integer", onesOf(dtype.Int64).AddScalar(0.5), dtype.Float32},
		{"an integer beside bool", onesOf(dtype.Bool).AddScalar(3), dtype.Int32},
		{"a fraction beside bool", onesOf(dtype.Bool).MulScalar(0.5), dtype.Float32},
		{"an integer that divides", onesOf(dtype.Int32).DivScalar(2), dtype.Float32},
		{"a number beside a complex one", onesOf(dtype.Complex64).AddScalar(0.5), dtype.Complex64},
		{"a matrix product with integers", onesOf(dtype.Float16).MatMul(onesOf(dtype.Int32)), dtype.Float16},
		{"a matrix product of float32 and float64", onesOf(dtype.Float32).MatMul(onesOf(dtype.Float64)), dtype.Float64},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := c.x.Eval(context.Background()); err != nil || c.x.DType() != c.want {
				t.Fatalf("got %v, want %v (%v)", c.x.DType(), c.want, err)
			}
		})
	}
}

func TestAsTypeConverts(t *testing.T) {
	x := array.From([]float32{0, 1.75, -2.5, 300}, 2, 2)
	if same := x.AsType(dtype.Float32); same != x {
		t.Error("its own type makes another array")
	}
	columns := inFloat64(t, x.T().AsType(dtype.Int16))
	if want := []float64{0, -2, 1, 300}; !slices.Equal(columns, want) {
		t.Errorf("transposed: %v, want %v", columns, want)
	}
	for _, from := range dtype.All() {
		for _, to := range dtype.All() {
			t.Run(fmt.Sprintf("%v to %v", from, to), func(t *testing.T) {
				y := x.AsType(from).AsType(to)
				if err := y.Eval(context.Background()); err != nil || y.DType() != to {
					t.Fatalf("type %v (%v)", y.DType(), err)
				}
			})
		}
	}
}
