package tree

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/lockstep-go/lockstep/array"
)

// Flatten lists the arrays that v holds: itself, or through structs, maps with
// string keys, slices, arrays, pointers, interfaces and trees, nested as they
// like. Struct fields come in their order, map entries sorted by key. Paths are
// field names in snake case, keys and indices, joined by dots, such as
// "layers.0.weight". A field tag `tree:"name"` gives another name and `tree:"-"`
// leaves the field out, as are fields that are not exported; embedded structs add
// no name. Whatever is nil holds nothing.
//
// Anything else, a value that holds itself, and two arrays at one path are errors
// that name the path.
func Flatten(v any) (Tree, error) {
	var t Tree
	_, err := rebuild(v, func(path string, x *array.Array) (*array.Array, error) {
		t = append(t, Leaf{path, x})
		return x, nil
	})
	if err != nil {
		return nil, fmt.Errorf("flatten: %w", err)
	}
	return t, nil
}

// Like returns a value like v with the arrays of t in place of its own. The
// paths must be those of Flatten(v), in order. v is not changed: everything that
// leads to an array is copied.
func Like[T any](v T, t Tree) (T, error) {
	like, err := replaced(v, t)
	if err != nil {
		return v, fmt.Errorf("unflatten: %w", err)
	}
	out, _ := like.(T)
	return out, nil
}

// Unflatten replaces what into points to by its Like with the arrays of t. On an
// error nothing is changed.
func Unflatten(t Tree, into any) error {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Type() == arrayType {
		return fmt.Errorf("unflatten: into is %T, not a pointer to what was flattened", into)
	}
	like, err := replaced(v.Elem().Interface(), t)
	if err != nil {
		return fmt.Errorf("unflatten: %w", err)
	}
	if like != nil {
		v.Elem().Set(reflect.ValueOf(like))
	}
	return nil
}

// replaced rebuilds v from the leaves of t.
func replaced(v any, t Tree) (any, error) {
	next := 0
	like, err := rebuild(v, func(path string, _ *array.Array) (*array.Array, error) {
		if next == len(t) {
			return nil, fmt.Errorf("%s: no leaf is left, the tree has %d", named(path), len(t))
		}
		leaf := t[next]
		next++
		if leaf.Path != path {
			return nil, fmt.Errorf("%s: the tree has %q here", named(path), leaf.Path)
		}
		return leaf.Array, nil
	})
	if err == nil && next < len(t) {
		err = fmt.Errorf("%s: there is no place for it", named(t[next].Path))
	}
	return like, err
}

// rebuild copies v with every array replaced by what leaf gives for it.
func rebuild(v any, leaf func(path string, x *array.Array) (*array.Array, error)) (any, error) {
	if v == nil {
		return nil, nil
	}
	r := &rebuilder{leaf: leaf, paths: map[string]bool{}, above: map[reference]bool{}}
	copied, err := r.value("", reflect.ValueOf(v))
	if err != nil {
		return nil, err
	}
	return copied.Interface(), nil
}

type rebuilder struct {
	leaf  func(path string, x *array.Array) (*array.Array, error)
	paths map[string]bool    // of the arrays met so far
	above map[reference]bool // what the present value is inside of
}

type reference struct {
	kind reflect.Type
	at   uintptr
}

var (
	arrayType = reflect.TypeFor[*array.Array]()
	treeType  = reflect.TypeFor[Tree]()
)

func (r *rebuilder) value(path string, v reflect.Value) (reflect.Value, error) {
	switch v.Type() {
	case arrayType:
		return r.array(path, v)
	case treeType:
		return r.tree(path, v)
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		if v.IsNil() {
			return v, nil
		}
	case reflect.Struct:
		return r.fields(path, v)
	case reflect.Array:
		return r.elements(path, v, reflect.New(v.Type()).Elem())
	}
	switch v.Kind() {
	case reflect.Interface:
		return r.boxed(path, v, reflect.New(v.Type()).Elem())
	case reflect.Pointer, reflect.Map, reflect.Slice:
		return r.shared(path, v)
	}
	return v, fmt.Errorf("%s: %v is neither an array nor made of arrays", named(path), v.Type())
}

// shared copies what a pointer, map or slice refers to, and notices when it holds
// itself.
func (r *rebuilder) shared(path string, v reflect.Value) (reflect.Value, error) {
	if v.Kind() == reflect.Slice && v.Len() == 0 {
		return v, nil
	}
	ref := reference{v.Type(), v.Pointer()}
	if r.above[ref] {
		return v, fmt.Errorf("%s: %v holds itself", named(path), v.Type())
	}
	r.above[ref] = true
	defer delete(r.above, ref)
	switch v.Kind() {
	case reflect.Map:
		return r.entries(path, v)
	case reflect.Slice:
		return r.elements(path, v, reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
	}
	out := reflect.New(v.Type().Elem())
	_, err := r.boxed(path, v, out.Elem())
	return out, err
}

// boxed puts a copy of what v points to into out.
func (r *rebuilder) boxed(path string, v, out reflect.Value) (reflect.Value, error) {
	x, err := r.value(path, v.Elem())
	if err == nil {
		out.Set(x)
	}
	return out, err
}

func (r *rebuilder) array(path string, v reflect.Value) (reflect.Value, error) {
	if v.IsNil() {
		return v, nil
	}
	if r.paths[path] {
		return v, fmt.Errorf("%s: a second array at this path", named(path))
	}
	r.paths[path] = true
	x, err := r.leaf(path, v.Interface().(*array.Array))
	return reflect.ValueOf(x), err
}

func (r *rebuilder) tree(path string, v reflect.Value) (reflect.Value, error) {
	out := slices.Clone(v.Interface().(Tree))
	for i, leaf := range out {
		x, err := r.array(Join(path, leaf.Path), reflect.ValueOf(leaf.Array))
		if err != nil {
			return v, err
		}
		out[i].Array = x.Interface().(*array.Array)
	}
	return reflect.ValueOf(out), nil
}

func (r *rebuilder) elements(path string, v, out reflect.Value) (reflect.Value, error) {
	for i := range v.Len() {
		x, err := r.value(Join(path, fmt.Sprint(i)), v.Index(i))
		if err != nil {
			return out, err
		}
		out.Index(i).Set(x)
	}
	return out, nil
}

func (r *rebuilder) entries(path string, v reflect.Value) (reflect.Value, error) {
	if v.Type().Key().Kind() != reflect.String {
		return v, fmt.Errorf("%s: %v has keys that are not strings", named(path), v.Type())
	}
	out := reflect.MakeMapWithSize(v.Type(), v.Len())
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
	for _, key := range keys {
		x, err := r.value(Join(path, key.String()), v.MapIndex(key))
		if err != nil {
			return out, err
		}
		out.SetMapIndex(key, x)
	}
	return out, nil
}

func (r *rebuilder) fields(path string, v reflect.Value) (reflect.Value, error) {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name := field.Tag.Get("tree")
		if name == "-" || !field.IsExported() {
			continue
		}
		below := path
		switch {
		case name != "":
			below = Join(path, name)
		case !field.Anonymous:
			below = Join(path, FieldName(field.Name))
		}
		x, err := r.value(below, v.Field(i))
		if err != nil {
			return out, err
		}
		out.Field(i).Set(x)
	}
	return out, nil
}

// named is a path as it stands in errors.
func named(path string) string {
	if path == "" {
		return "the value itself"
	}
	return path
}
