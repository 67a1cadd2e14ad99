package nn

import (
	"maps"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/ops"
)

// division is how a parameter is divided over the ranks of a group: every rank has
// as many elements of each segment of the axis.
type division struct {
	g    *group.Group
	axis int
	each []int // elements of each segment that a rank has
}

func newDivision(g *group.Group, axis int, parts []part) division {
	d := division{g: g, axis: axis}
	for _, p := range parts {
		d.each = append(d.each, p.length())
	}
	return d
}

// gather is the whole of which each rank has the shard x.
func (d division) gather(x *array.Array) *array.Array {
	if d.g.Size() == 1 || x.Err() != nil {
		return x
	}
	shards := array.Split(ops.AllGather(x.MoveAxis(d.axis, 0), d.g), d.g.Size(), 0)
	var pieces []*array.Array
	start := 0
	for _, n := range d.each {
		for _, shard := range shards {
			pieces = append(pieces, shard.SliceAxis(0, start, start+n))
		}
		start += n
	}
	return array.Concatenate(pieces, 0).MoveAxis(0, d.axis)
}

// gathered is the whole of which each rank of g has a part along an axis, in the order of ranks.
func gathered(x *array.Array, axis int, g *group.Group) *array.Array {
	return ops.AllGather(x.MoveAxis(axis, 0), g).MoveAxis(0, axis)
}

// divide notes that the array at a path below the layer is a shard.
func (b *Base) divide(below string, d division) {
	shards := maps.Clone(b.shards)
	if shards == nil {
		shards = map[string]division{}
	}
	shards[below] = d
	b.shards = shards
}

// division says how the array at a path below the layer is divided.
func (b *Base) division(below string) (d division, ok bool) {
	if b != nil {
		d, ok = b.shards[below]
	}
	return d, ok
}

// FullParameters lists the parameters as Parameters does, with each one that is
// divided over ranks gathered: paths, shapes and values are those of the module
// before it was sharded, so that Update can put them into one. Every rank of the
// groups that the module was sharded over must call it and evaluate the result: each
// parameter that is divided takes one AllGather. Whatever ShardInplace divides in a
// struct that does not embed Base cannot be told from a whole and stays a shard.
func FullParameters(module any) tree.Tree {
	at := places(module, false)
	full := held(at)
	for i, p := range at {
		if d, ok := p.base().division(p.below); ok {
			full[i].Array = d.gather(full[i].Array)
		}
	}
	return full
}
