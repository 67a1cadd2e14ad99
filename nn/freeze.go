package nn

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Selection says which parameters Freeze and Unfreeze mean. The zero value means
// all of a module and of the modules in it.
type Selection struct {
	// Keys are names of fields, as they stand in paths, such as "bias"; in every
	// module that is visited, those that it has are meant. A key may name a module,
	// which is then frozen as a whole by the one that holds it. Without keys the
	// arrays that a module holds itself are meant.
	Keys []string
	// Own visits the module alone and not those in it.
	Own bool
	// Strict makes it an error if a module that is visited lacks one of the keys.
	Strict bool
}

// Freeze leaves the selected parameters out of TrainableParameters, and so out of
// gradients and training, until they are unfrozen. They remain parameters and can be
// replaced by Update. It is an error, and nothing changes, if a struct with selected
// arrays does not embed Base, or is passed or held by value.
func Freeze(module any, s Selection) error {
	return s.apply("freeze", module, func(l layer, names []string) { l.base.freeze(names...) })
}

// Unfreeze makes the selected parameters trainable again; what a key did in Freeze the
// same key undoes, and no keys undo all. The layers of quantized weights stay frozen.
func Unfreeze(module any, s Selection) error {
	return s.apply("unfreeze", module, func(l layer, names []string) {
		if l.base != nil && len(s.Keys) == 0 {
			names = l.base.frozen
		}
		if l.base != nil {
			l.base.unfreeze(names...)
		}
	})
}

// layer is one struct of a module.
type layer struct {
	path   string
	base   *Base
	value  reflect.Value
	arrays []string // fields that hold arrays, not counting those of modules in them
}

// name is how messages call the layer.
func (l layer) name() string { return strings.TrimSpace(l.path + " " + l.value.Type().String()) }

// fields lists the names of all fields that may be named by a key.
func (l layer) fields() []string {
	var names []string
	for i := range l.value.NumField() {
		if name := nameOf(l.value.Type().Field(i)); name != "-" && name != "" {
			names = append(names, name)
		}
	}
	return names
}

// layers lists the structs of a module, outer ones first.
func layers(module any) []layer {
	var all []layer
	walk(module, walker{
		entered: func(path string, v reflect.Value) {
			all = append(all, layer{path: path, base: baseOf(v), value: v})
		},
		found: func(p place) {
			if !p.owner.IsValid() {
				return // an array by itself
			}
			field, _, _ := strings.Cut(p.below, ".")
			if l := &all[p.number]; !slices.Contains(l.arrays, field) {
				l.arrays = append(l.arrays, field)
			}
		},
	})
	return all
}

// apply calls do for every layer that is visited, with the selected names, unless
// one of them has a mistake.
func (s Selection) apply(op string, module any, do func(l layer, names []string)) error {
	all := layers(module)
	if s.Own && len(all) > 0 {
		all = all[:1]
	}
	selected := make([][]string, len(all))
	for i, l := range all {
		var err error
		if selected[i], err = s.of(l); err == nil && op == "freeze" && len(selected[i]) > 0 && l.base == nil {
			err = errNoBase(l)
		}
		if err != nil {
			return fmt.Errorf("%s: %s: %w", op, l.name(), err)
		}
	}
	for i, l := range all {
		if len(selected[i]) > 0 || op == "unfreeze" {
			do(l, selected[i])
		}
	}
	return nil
}

// of lists the names that are selected in one layer.
func (s Selection) of(l layer) ([]string, error) {
	if len(s.Keys) == 0 {
		return l.arrays, nil
	}
	var names []string
	have := l.fields()
	for _, key := range s.Keys {
		if slices.Contains(have, key) {
			names = append(names, key)
		} else if s.Strict {
			return nil, fmt.Errorf("no field %q (have %s)", key, strings.Join(have, ", "))
		}
	}
	return names, nil
}

func errNoBase(l layer) error {
	if !l.value.CanAddr() {
		return errByValue
	}
	return errors.New("it does not embed nn.Base, which knows what is frozen")
}
