package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/group"
)

// Save evaluates arrays on every rank of a group, nil meaning the default one, and has
// rank 0 write them: WriteFile says how. All ranks call it with the same whole arrays, such as
// nn.FullParameters', and all get an error if rank 0 does.
func Save(ctx context.Context, path string, arrays tree.Tree, meta map[string]string, g *group.Group) error {
	g = resolve(g)
	if err := array.Eval(ctx, arrays.Arrays()...); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	var err error
	if g.IsLeader() {
		err = WriteFile(ctx, path, arrays, meta)
	}
	return share(ctx, g, err)
}

// Load has rank 0 of a group, nil meaning the default one, read a file and give it to all
// ranks, which need not see it. All get an error if rank 0 does.
func Load(ctx context.Context, path string, g *group.Group) (tree.Tree, map[string]string, error) {
	g = resolve(g)
	var arrays tree.Tree
	var meta map[string]string
	var err error
	if g.IsLeader() {
		arrays, meta, err = ReadFile(path)
	}
	if err := share(ctx, g, err); err != nil || g.Size() == 1 {
		return arrays, meta, err
	}
	var b bytes.Buffer
	if g.IsLeader() {
		if err := Write(ctx, &b, arrays, meta); err != nil {
			return nil, nil, err
		}
	}
	data, err := broadcast(ctx, g, b.Bytes())
	if err != nil || g.IsLeader() {
		return arrays, meta, err
	}
	return Read(bytes.NewReader(data), int64(len(data)))
}

func resolve(g *group.Group) *group.Group {
	if g == nil {
		return group.Default()
	}
	return g
}

// share gives rank 0's error to all.
func share(ctx context.Context, g *group.Group, err error) error {
	if g.Size() > 1 {
		var text []byte
		if err != nil {
			text = []byte(err.Error())
		}
		all, failed := broadcast(ctx, g, text)
		if failed != nil {
			return fmt.Errorf("checkpoint: %w", failed)
		}
		if !g.IsLeader() && len(all) > 0 {
			err = errors.New(string(all))
		}
	}
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// broadcast gives rank 0's bytes to all.
func broadcast(ctx context.Context, g *group.Group, data []byte) ([]byte, error) {
	length := []int64{int64(len(data))}
	if err := group.Broadcast(ctx, g, 0, length); err != nil || length[0] == 0 {
		return nil, err
	}
	if !g.IsLeader() {
		data = make([]byte, length[0])
	}
	return data, group.Broadcast(ctx, g, 0, data)
}
