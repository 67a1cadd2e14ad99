package nn

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/tree"
)

// place is where a module holds one array.
type place struct {
	path   string
	at     **array.Array
	owner  reflect.Value // the struct with the field; invalid for an array by itself
	number int           // of the owner among the structs that were entered
	below  string        // the path from owner on
}

// base is the Base of the struct that holds the array, nil if it embeds none.
func (p place) base() *Base {
	if !p.owner.IsValid() {
		return nil
	}
	return baseOf(p.owner)
}

// walk starts a walker at a module.
func walk(module any, w walker) {
	w.seen = map[any]bool{}
	if module != nil {
		w.walk("", reflect.ValueOf(module))
	}
}

// walker goes through the exported fields of structs, slices and arrays.
type walker struct {
	found     func(p place)                           // for every array; may be nil
	entered   func(path string, owner reflect.Value)  // for every struct; may be nil
	held      func(path string, v reflect.Value) bool // for every other value, before it is entered; true passes it by; may be nil
	trainable bool                                    // pass by what is frozen
	seen      map[any]bool                            // modules and places already met
	structs   int                                     // how many were entered
	owner     place                                   // of what is found: the innermost struct
}

var arrayType = reflect.TypeFor[*array.Array]()

func (w *walker) walk(path string, v reflect.Value) {
	if v.Type() == arrayType {
		w.array(path, v)
		return
	}
	if w.held != nil && w.held(path, v) {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			w.walk(path, v.Elem())
		}
	case reflect.Pointer:
		if !v.IsNil() && v.Elem().Kind() == reflect.Struct && !w.seen[v.Interface()] {
			w.seen[v.Interface()] = true
			w.walk(path, v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			w.walk(tree.Join(path, fmt.Sprint(i)), v.Index(i))
		}
	case reflect.Struct:
		w.fields(path, v)
	}
}

func (w *walker) array(path string, v reflect.Value) {
	if v.IsNil() || w.found == nil {
		return
	}
	p := w.owner
	p.path, p.below = path, strings.TrimPrefix(strings.TrimPrefix(path, w.owner.path), ".")
	if !v.CanAddr() {
		fixed := array.Fail("parameters", errByValue)
		p.at = &fixed
		w.found(p)
		return
	}
	p.at = v.Addr().Interface().(**array.Array)
	if !w.seen[p.at] {
		w.seen[p.at] = true
		w.found(p)
	}
}

var errByValue = errors.New("it belongs to a struct that is passed or held by value; use a pointer to the struct")

func (w *walker) fields(path string, v reflect.Value) {
	defer func(outer place) { w.owner = outer }(w.owner)
	w.owner = place{path: path, owner: v, number: w.structs}
	w.structs++
	if w.entered != nil {
		w.entered(path, v)
	}
	base := baseOf(v)
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name := nameOf(field)
		switch {
		case name == "-" || w.trainable && base.freezes(name):
			continue
		case name == "":
			w.walk(path, v.Field(i)) // embedded: its fields are the struct's
			continue
		}
		w.walk(tree.Join(path, name), v.Field(i))
	}
}

// nameOf is a field's part of a path: "" for an embedded struct, "-" for none.
func nameOf(field reflect.StructField) string {
	name := field.Tag.Get("nn")
	switch {
	case !field.IsExported():
		return "-"
	case name != "" || field.Anonymous:
		return name
	}
	return tree.FieldName(field.Name)
}
