package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/program"
	"github.com/lockstep-go/lockstep/nn"
	"github.com/lockstep-go/lockstep/nn/checkpoint"
)

// slots are what the optimizer remembers of each parameter.
var slots = []string{"m", "v"}

// optimizerPath comes before the paths of the optimizer's state.
const optimizerPath = "optimizer."

func (o options) file() string { return filepath.Join(o.checkpoint, "checkpoint.safetensors") }

// saveWhenDue saves after so many steps if it is time to, or if a signal on any rank asks
// for it: all ranks agree at every step.
func (t *trainer) saveWhenDue(ctx context.Context, done int) error {
	if t.checkpoint == "" {
		return nil
	}
	want := []uint8{0}
	if t.asked != nil {
		want[0] = uint8(t.asked())
	}
	if err := group.AllReduce(ctx, t.world, group.Max, want); err != nil {
		return err
	}
	due := done == t.steps || t.saveEvery > 0 && done%t.saveEvery == 0
	if due || want[0] != uint8(nothing) {
		if err := t.save(ctx, done); err != nil {
			return err
		}
	}
	if want[0] == uint8(saveAndEnd) && done < t.steps {
		return &program.SignalError{Signal: syscall.SIGTERM}
	}
	return nil
}

// save writes the whole model and the optimizer's whole state.
func (t *trainer) save(ctx context.Context, done int) error {
	meta := maps.Clone(t.identity())
	maps.Copy(meta, t.meta)
	meta["step"] = strconv.Itoa(done)
	if err := t.scale.tell(ctx, meta); err != nil {
		return err
	}
	all, err := t.everything()
	if err != nil {
		return err
	}
	return checkpoint.Save(ctx, t.file(), all, meta, t.world)
}

// saidBy tells which flags decide what must be the same to go on.
var saidBy = map[string]string{"model": "-model", "seed": "-seed", "data": "-data", "held_back": "-eval-every: with it a tenth of the text is held back"}

// identity is what must be the same to go on.
func (t *trainer) identity() map[string]string {
	held := ""
	if len(t.heldBack) > 0 {
		held = strconv.Itoa(len(t.heldBack))
	}
	return map[string]string{"model": t.options.model, "seed": strconv.FormatUint(t.seed, 10), "data": t.digest, "held_back": held}
}

// everything is the state of the training with what is divided gathered. The optimizer's
// state of a parameter is divided like it, and takes its place to be gathered.
func (t *trainer) everything() (tree.Tree, error) {
	params := nn.Parameters(t.task.model)
	all := append(nn.FullParameters(t.task.model), tree.Leaf{Path: optimizerPath + "step", Array: t.state[0].Array})
	for i, slot := range slots {
		part := t.state.Arrays()[1+i*len(params) : 1+(i+1)*len(params)]
		if err := nn.Update(t.task.model, params.With(part)); err != nil {
			return nil, err
		}
		for _, leaf := range nn.FullParameters(t.task.model) {
			all = append(all, tree.Leaf{Path: optimizerPath + slot + "." + leaf.Path, Array: leaf.Array})
		}
	}
	return all, nn.Update(t.task.model, params)
}

// resume puts a checkpoint into the training and returns how many steps it has taken:
// none if there is no checkpoint yet.
func (t *trainer) resume(ctx context.Context) (int, error) {
	if !t.options.resume {
		return 0, nil
	}
	exists := []uint8{0}
	if _, err := os.Stat(t.file()); t.world.IsLeader() && !errors.Is(err, os.ErrNotExist) {
		exists[0] = 1
	}
	if err := group.Broadcast(ctx, t.world, 0, exists); err != nil || exists[0] == 0 {
		return 0, err
	}
	all, meta, err := checkpoint.Load(ctx, t.file(), t.world)
	if err != nil {
		return 0, err
	}
	identity := t.identity()
	for _, name := range slices.Sorted(maps.Keys(identity)) {
		if want := identity[name]; meta[name] != want {
			return 0, fmt.Errorf("%s is of another training: its %s is %q, not %q (%s)", t.file(), name, meta[name], want, saidBy[name])
		}
	}
	done, err := strconv.Atoi(meta["step"])
	if err != nil || done < 0 {
		return 0, fmt.Errorf("%s is after step %q, which is no number of steps", t.file(), meta["step"])
	}
	if done > t.steps {
		return 0, fmt.Errorf("%s is after step %d; -steps is %d", t.file(), done, t.steps)
	}
	if t.scale, err = t.scale.told(meta); err != nil {
		return 0, fmt.Errorf("%s: %w", t.file(), err)
	}
	return done, t.restore(all)
}

// restore divides what everything gathered as the ranks of now share it.
func (t *trainer) restore(all tree.Tree) error {
	n := len(nn.Parameters(t.whole))
	if len(all) != n*(1+len(slots))+1 {
		return fmt.Errorf("%s has %d arrays, want %d", t.file(), len(all), n*(1+len(slots))+1)
	}
	state := t.state.Arrays()
	if want := state[0].Spec(); all[n].Path != optimizerPath+"step" || !all[n].Array.Spec().Equal(want) {
		return fmt.Errorf("%s has %s, %v, where %sstep belongs, %v", t.file(), all[n].Path, all[n].Array.Spec(), optimizerPath, want)
	}
	state[0] = all[n].Array
	for i, slot := range slots {
		part, err := t.place(all[1+n*(1+i):1+n*(2+i)], optimizerPath+slot+".")
		if err != nil {
			return err
		}
		copy(state[1+i*len(part):], part.Arrays())
	}
	t.state = t.state.With(state)
	_, err := t.place(all[:n], "")
	return err
}

// place puts whole arrays into the whole model, divides it, and returns this rank's
// arrays. Paths have a prefix.
func (t *trainer) place(whole tree.Tree, prefix string) (tree.Tree, error) {
	named := nn.Parameters(t.whole)
	for i, leaf := range whole {
		if want := prefix + named[i].Path; leaf.Path != want {
			return nil, fmt.Errorf("%s has %q where %q belongs", t.file(), leaf.Path, want)
		}
	}
	if err := nn.Update(t.whole, named.With(whole.Arrays())); err != nil {
		return nil, fmt.Errorf("%s: %w", t.file(), err)
	}
	if err := t.divide(t.shards); err != nil {
		return nil, err
	}
	return nn.Parameters(t.task.model), nil
}
