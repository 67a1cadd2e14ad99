package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/program"
	"github.com/lockstep-go/lockstep/nn"
	"github.com/lockstep-go/lockstep/nn/checkpoint"
)

// load returns this rank's part of the model in a checkpoint, with its letters in the order of
// tokens.
func load(ctx context.Context, o options, g *group.Group) (*nn.LanguageModel, []rune, error) {
	arrays, meta, err := checkpoint.Load(ctx, filepath.Join(o.checkpoint, "checkpoint.safetensors"), g)
	if err != nil {
		return nil, nil, err
	}
	model, err := assemble(arrays, meta, o.bits)
	if err == nil && g.Size() > 1 {
		if model, err = model.Shard(g); err != nil {
			err = program.WrongUse(fmt.Errorf("%s cannot share the model: %w", program.Ranks(g.Size()), err))
		}
	}
	return model, []rune(meta["vocabulary"]), err
}

// encode turns a prompt into tokens.
func encode(prompt string, letters []rune) (tokens []int32, err error) {
	for _, r := range prompt {
		i := slices.Index(letters, r)
		if i < 0 {
			return nil, program.WrongUse(fmt.Errorf("-prompt has %q, which is none of the %d letters that the model has seen", r, len(letters)))
		}
		tokens = append(tokens, int32(i))
	}
	return tokens, nil
}

// assemble makes the model that a checkpoint holds.
func assemble(arrays tree.Tree, meta map[string]string, bits int) (*nn.LanguageModel, error) {
	if meta["model"] != "gpt" {
		return nil, fmt.Errorf("the checkpoint is of the model %q; gpt writes text", meta["model"])
	}
	config := nn.LanguageModelConfig{Vocab: len([]rune(meta["vocabulary"]))}
	for name, into := range map[string]*int{"context": &config.Context, "dims": &config.Dims, "layers": &config.Layers, "heads": &config.Heads} {
		n, err := strconv.Atoi(meta[name])
		if err != nil || n < 1 || n > 1<<16 {
			return nil, fmt.Errorf("the checkpoint says %s is %q", name, meta[name])
		}
		*into = n
	}
	if config.Layers > len(arrays) {
		return nil, fmt.Errorf("the checkpoint says it has %d layers and has %d arrays", config.Layers, len(arrays))
	}
	model, err := nn.NewLanguageModel(random.NewKey(0), config)
	if err != nil {
		return nil, err
	}
	n := len(nn.Parameters(model)) // what follows is the optimizer's
	if err := nn.Update(model, arrays[:min(n, len(arrays))]); err != nil {
		return nil, err
	}
	if bits != 0 {
		if err := nn.Quantize(model, array.Quantization{Bits: bits, GroupSize: 32}, nil); err != nil {
			return nil, err
		}
	}
	return model, nil
}
