package nn

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/array/tree"
)

// Parameters lists the arrays of a module in field order. Paths are MLX's: field
// names in snake case and indices, joined by dots, such as
// "layers.0.query_proj.weight". Fields that are nil, not exported, or tagged
// `nn:"-"` are left out; a tag `nn:"name"` gives another name. A module that is
// reachable twice is listed once, where it is met first. A nil module has none. An
// array that could not be replaced, because its struct is given or held in an
// interface by value and not by a pointer, is listed as one that carries this error.
func Parameters(module any) tree.Tree {
	var t tree.Tree
	visit(module, func(path string, at **array.Array) {
		t = append(t, tree.Leaf{Path: path, Array: *at})
	})
	return t
}

// Update puts the arrays of params into the module, in place. The paths must be
// those of Parameters, and shapes and types those of the arrays that are there; on
// an error nothing is changed.
func Update(module any, params tree.Tree) error {
	old := Parameters(module)
	if err := old.Same(params); err != nil {
		return fmt.Errorf("update: %w", err)
	}
	for i, leaf := range params {
		if err := leaf.Array.Err(); err != nil {
			return fmt.Errorf("update: %s: %w", leaf.Path, err)
		}
		if have, want := leaf.Array.Spec(), old[i].Array.Spec(); !have.Equal(want) {
			return fmt.Errorf("update: %s is %v, want %v", leaf.Path, have, want)
		}
	}
	replace(module, params.Arrays())
	return nil
}

// ValueAndGrad returns a function that computes loss, one floating-point number,
// and its gradients by every parameter of the module, as a tree like Parameters';
// integers get zeros. Integers that are no parameters belong in a field with `nn:"-"`.
// loss uses the module and the arrays that it is given, which are constants. While
// loss runs the module holds stand-ins for its parameters, so it must not be used
// from another goroutine meanwhile.
func ValueAndGrad(module any, loss func(xs ...*array.Array) *array.Array) func(xs ...*array.Array) (*array.Array, tree.Tree) {
	return func(xs ...*array.Array) (*array.Array, tree.Tree) {
		params := Parameters(module)
		defer replace(module, params.Arrays())
		value, _, grads := transform.ValueAndGradTree(func(t tree.Tree) (*array.Array, []*array.Array) {
			replace(module, t.Arrays())
			return loss(xs...), nil
		})(params)
		return value, grads
	}
}

// replace sets all parameters without checks.
func replace(module any, xs []*array.Array) {
	visit(module, func(_ string, at **array.Array) {
		*at = xs[0]
		xs = xs[1:]
	})
}

// visit calls f with the path and the place of every array of a module.
func visit(module any, f func(path string, at **array.Array)) {
	w := walker{found: f, seen: map[any]bool{}}
	if module != nil {
		w.walk("", reflect.ValueOf(module))
	}
}

type walker struct {
	found func(path string, at **array.Array)
	seen  map[any]bool // modules and places already met
}

var arrayType = reflect.TypeFor[*array.Array]()

func (w *walker) walk(path string, v reflect.Value) {
	if v.Type() == arrayType {
		w.array(path, v)
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
			w.walk(join(path, fmt.Sprint(i)), v.Index(i))
		}
	case reflect.Struct:
		w.fields(path, v)
	}
}

func (w *walker) array(path string, v reflect.Value) {
	if v.IsNil() {
		return
	}
	if !v.CanAddr() {
		fixed := array.Fail("parameters", errors.New("it belongs to a struct that is passed or held by value; use a pointer to the struct"))
		w.found(path, &fixed)
		return
	}
	at := v.Addr().Interface().(**array.Array)
	if !w.seen[at] {
		w.seen[at] = true
		w.found(path, at)
	}
}

func (w *walker) fields(path string, v reflect.Value) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name := field.Tag.Get("nn")
		switch {
		case name == "-" || !field.IsExported():
			continue
		case field.Anonymous && name == "":
			w.walk(path, v.Field(i))
			continue
		case name == "":
			name = snake(field.Name)
		}
		w.walk(join(path, name), v.Field(i))
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// snake turns QueryProj into query_proj and MLP into mlp.
func snake(name string) string {
	runes := []rune(name)
	var b strings.Builder
	for i, r := range runes {
		start := i > 0 && unicode.IsUpper(r) &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if start {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
