package nn

import (
	"reflect"
	"slices"
)

// Base is what a layer knows of its parameters beside their values: which of them
// are frozen, and how they are divided over the ranks of a group. Every layer here
// embeds one. A layer of your own that holds arrays embeds one to take part in
// Freeze and Unfreeze, and to have what ShardInplace does to it undone by
// FullParameters:
//
//	type Scale struct {
//		nn.Base
//		Gain *array.Array
//	}
//
// The zero value is ready. A copy of a layer goes its own ways.
type Base struct {
	frozen []string            // never changed in place: copies share it
	fixed  bool                // all is frozen, for good
	shards map[string]division // by field; never changed in place
}

var baseType = reflect.TypeFor[Base]()

// baseOf is the Base that a struct embeds itself, nil if there is none or the
// struct cannot be changed.
func baseOf(layer reflect.Value) *Base {
	if !layer.CanAddr() {
		return nil
	}
	for i := range layer.NumField() {
		if field := layer.Type().Field(i); field.Anonymous && field.Type == baseType {
			return layer.Field(i).Addr().Interface().(*Base)
		}
	}
	return nil
}

func (b *Base) freezes(name string) bool {
	return b != nil && (b.fixed || slices.Contains(b.frozen, name))
}

func (b *Base) freeze(names ...string) {
	all := slices.Concat(b.frozen, names)
	slices.Sort(all)
	b.frozen = slices.Compact(all)
}

func (b *Base) unfreeze(names ...string) {
	b.frozen = slices.DeleteFunc(slices.Clone(b.frozen), func(name string) bool {
		return slices.Contains(names, name)
	})
}
