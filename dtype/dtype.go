// Package dtype names the element types of arrays and messages: their sizes,
// their classes, and how they appear as Go types.
//
//	t := dtype.Of[float32]()          // dtype.Float32
//	t.Size()                          // 4, in bytes
//	half := dtype.F16From(65504) // rounded once, to nearest even
//
// Elements are little-endian and packed wherever bytes are exchanged.
package dtype

import (
	"fmt"
	"strings"
)

// Type is an element type. The zero value, Invalid, is the type of an array
// that carries an error. The numbers are part of the wire format.
type Type uint8

// The element types, in the order in which promotion climbs within a class.
const (
	Invalid Type = iota
	Bool
	Uint8
	Uint16
	Uint32
	Uint64
	Int8
	Int16
	Int32
	Int64
	Float16
	BFloat16
	Float32
	Float64
	Complex64
	end
)

type class uint8

const (
	none class = iota
	boolean
	unsigned
	signed
	float
	complexes
)

var table = [end]struct {
	name  string
	size  int
	class class
}{
	Invalid:   {"invalid", 0, none},
	Bool:      {"bool", 1, boolean},
	Uint8:     {"uint8", 1, unsigned},
	Uint16:    {"uint16", 2, unsigned},
	Uint32:    {"uint32", 4, unsigned},
	Uint64:    {"uint64", 8, unsigned},
	Int8:      {"int8", 1, signed},
	Int16:     {"int16", 2, signed},
	Int32:     {"int32", 4, signed},
	Int64:     {"int64", 8, signed},
	Float16:   {"float16", 2, float},
	BFloat16:  {"bfloat16", 2, float},
	Float32:   {"float32", 4, float},
	Float64:   {"float64", 8, float},
	Complex64: {"complex64", 8, complexes},
}

// All lists every valid type in the order of the constants.
func All() []Type {
	all := make([]Type, 0, end-1)
	for t := Bool; t < end; t++ {
		all = append(all, t)
	}
	return all
}

// Valid reports whether t is one of the named types other than Invalid.
func (t Type) Valid() bool { return t > Invalid && t < end }

// Size is the size of one element in bytes; 0 for an invalid type.
func (t Type) Size() int {
	if !t.Valid() {
		return 0
	}
	return table[t].size
}

// String is the type's name as MLX and NumPy spell it, such as "float32".
func (t Type) String() string {
	if t >= end {
		return fmt.Sprintf("dtype(%d)", uint8(t))
	}
	return table[t].name
}

func (t Type) is(c class) bool { return t.Valid() && table[t].class == c }

// IsBool reports whether t is Bool.
func (t Type) IsBool() bool { return t == Bool }

// IsUnsigned reports whether t is an unsigned integer type.
func (t Type) IsUnsigned() bool { return t.is(unsigned) }

// IsInteger reports whether t is a signed or unsigned integer type; Bool is not one.
func (t Type) IsInteger() bool { return t.is(unsigned) || t.is(signed) }

// IsFloat reports whether t is a real floating-point type.
func (t Type) IsFloat() bool { return t.is(float) }

// IsComplex reports whether t is a complex type.
func (t Type) IsComplex() bool { return t.is(complexes) }

// IsInexact reports whether t is a floating-point or complex type: the types
// that have gradients and means.
func (t Type) IsInexact() bool { return t.IsFloat() || t.IsComplex() }

// Parse returns the type with the given name. The error quotes the name and
// lists the valid ones.
func Parse(name string) (Type, error) {
	names := make([]string, 0, end-1)
	for _, t := range All() {
		if t.String() == name {
			return t, nil
		}
		names = append(names, t.String())
	}
	return Invalid, fmt.Errorf("dtype: unknown element type %q (have %s)", name, strings.Join(names, ", "))
}

// Element is the constraint of Go types that hold one element each. F16
// and BF16 are this package's; the others are Go's own.
type Element interface {
	bool | uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 |
		F16 | BF16 | float32 | float64 | complex64
}

// Of returns the element type that the Go type T holds.
func Of[T Element]() Type {
	var zero T
	switch any(zero).(type) {
	case bool:
		return Bool
	case uint8:
		return Uint8
	case uint16:
		return Uint16
	case uint32:
		return Uint32
	case uint64:
		return Uint64
	case int8:
		return Int8
	case int16:
		return Int16
	case int32:
		return Int32
	case int64:
		return Int64
	case F16:
		return Float16
	case BF16:
		return BFloat16
	case float32:
		return Float32
	case float64:
		return Float64
	case complex64:
		return Complex64
	}
	return Invalid
}
