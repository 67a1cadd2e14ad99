package array

import (
	"fmt"
	"strings"

	"github.com/lockstep-go/lockstep/dtype"
)

// String shows the elements of a computed array, shortened when it is long, and
// only shape and type of one that is still lazy, or was donated: printing never computes.
func (x *Array) String() string {
	if err := x.Err(); err != nil {
		return "array(error: " + err.Error() + ")"
	}
	v, ok := x.view()
	switch {
	case !ok && x.node().done():
		return fmt.Sprintf("array(%v, donated)", x.spec())
	case !ok:
		return fmt.Sprintf("array(%v, lazy)", x.spec())
	}
	defer v.keep()
	var b strings.Builder
	b.WriteString("array(")
	writeAxis(&b, formatter(v), v.Shape, v.Strides, v.Offset)
	fmt.Fprintf(&b, ", %v)", v.Spec)
	return b.String()
}

// edge is how many elements of a long axis are shown at either end.
const edge = 3

// writeAxis writes what lies in storage from a place on, without a copy of what
// is not shown.
func writeAxis(b *strings.Builder, element func(at int) string, shape, strides []int, at int) {
	if len(shape) == 0 {
		b.WriteString(element(at))
		return
	}
	b.WriteByte('[')
	for i := 0; i < shape[0]; i++ {
		if i > 0 {
			b.WriteByte(' ')
		}
		if shape[0] > 2*edge+2 && i == edge {
			b.WriteString("... ")
			i = shape[0] - edge
		}
		writeAxis(b, element, shape[1:], strides[1:], at+i*strides[0])
	}
	b.WriteByte(']')
}

func formatter(v View) func(at int) string {
	switch v.DType {
	case dtype.Bool:
		return format[bool](v)
	case dtype.Uint8:
		return format[uint8](v)
	case dtype.Uint16:
		return format[uint16](v)
	case dtype.Uint32:
		return format[uint32](v)
	case dtype.Uint64:
		return format[uint64](v)
	case dtype.Int8:
		return format[int8](v)
	case dtype.Int16:
		return format[int16](v)
	case dtype.Int32:
		return format[int32](v)
	case dtype.Int64:
		return format[int64](v)
	case dtype.Float16:
		return format[dtype.F16](v)
	case dtype.BFloat16:
		return format[dtype.BF16](v)
	case dtype.Float32:
		return format[float32](v)
	case dtype.Complex64:
		return format[complex64](v)
	}
	return format[float64](v)
}

func format[T dtype.Element](v View) func(at int) string {
	x := StorageOf[T](v)
	return func(at int) string { return fmt.Sprint(x[at]) }
}
