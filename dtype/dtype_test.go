package dtype_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
)

// held is what the Go type of an element says of itself.
type held struct {
	t    dtype.Type
	size int
}

func of[T dtype.Element]() held {
	return held{dtype.Of[T](), int(reflect.TypeFor[T]().Size())}
}

func TestTypes(t *testing.T) {
	cases := []struct {
		name   string
		number dtype.Type
		held   held
		class  string
	}{
		{"bool", 1, of[bool](), "bool"},
		{"uint8", 2, of[uint8](), "unsigned integer"},
		{"uint16", 3, of[uint16](), "unsigned integer"},
		{"uint32", 4, of[uint32](), "unsigned integer"},
		{"uint64", 5, of[uint64](), "unsigned integer"},
		{"int8", 6, of[int8](), "integer"},
		{"int16", 7, of[int16](), "integer"},
		{"int32", 8, of[int32](), "integer"},
		{"int64", 9, of[int64](), "integer"},
		{"float16", 10, of[dtype.F16](), "float inexact"},
		{"bfloat16", 11, of[dtype.BF16](), "float inexact"},
		{"float32", 12, of[float32](), "float inexact"},
		{"float64", 13, of[float64](), "float inexact"},
		{"complex64", 14, of[complex64](), "complex inexact"},
	}
	if len(cases) != len(dtype.All()) {
		t.Errorf("%d types, want %d", len(dtype.All()), len(cases))
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			typ := dtype.All()[i]
			if typ != c.number || typ != c.held.t {
				t.Errorf("number %d, of its Go type %d, want %d", typ, c.held.t, c.number)
			}
			if typ.Size() != c.held.size {
				t.Errorf("size %d, want %d", typ.Size(), c.held.size)
			}
			if !typ.Valid() || typ.String() != c.name {
				t.Errorf("name %q, valid %v", typ, typ.Valid())
			}
			if got := classes(typ); got != c.class {
				t.Errorf("classes %q, want %q", got, c.class)
			}
			if parsed, err := dtype.Parse(c.name); parsed != typ || err != nil {
				t.Errorf("parsed as %v, %v", parsed, err)
			}
		})
	}
}

func classes(t dtype.Type) string {
	var names []string
	for _, c := range []struct {
		name string
		is   bool
	}{
		{"bool", t.IsBool()}, {"unsigned", t.IsUnsigned()}, {"integer", t.IsInteger()},
		{"float", t.IsFloat()}, {"complex", t.IsComplex()}, {"inexact", t.IsInexact()},
	} {
		if c.is {
			names = append(names, c.name)
		}
	}
	return strings.Join(names, " ")
}

func TestTypesThatAreNone(t *testing.T) {
	cases := []struct {
		name string
		t    dtype.Type
	}{
		{"invalid", dtype.Invalid},
		{"dtype(15)", 15},
		{"dtype(255)", 255},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.t.Valid() || c.t.Size() != 0 || classes(c.t) != "" || c.t.String() != c.name {
				t.Errorf("%v: valid %v, size %d, classes %q", c.t, c.t.Valid(), c.t.Size(), classes(c.t))
			}
		})
	}
}

func TestParseSaysWhatThereIs(t *testing.T) {
	for _, name := range []string{"", "float", "Float32", "invalid", "float32 "} {
		got, err := dtype.Parse(name)
		if got != dtype.Invalid || err == nil {
			t.Fatalf("%q parsed as %v", name, got)
		}
		for _, word := range []string{`"` + name + `"`, "bool", "bfloat16", "complex64"} {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%q does not say %s", err, word)
			}
		}
	}
}
