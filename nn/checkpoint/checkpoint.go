// Package checkpoint keeps arrays in files of the public format safetensors: the
// length of a header as 8 bytes, the header in JSON, and the elements.
//
//	err := checkpoint.Save(ctx, path, nn.FullParameters(model), map[string]string{"step": "500"}, g)
//	params, meta, err := checkpoint.Load(ctx, path, g)
//
// A file appears whole or not at all: it is written beside the old one, forced to the
// disk, and then takes its name. It holds whole arrays, so that what some ranks saved is
// read on any number of them. Reading trusts nothing: whatever does not fit together is
// an error, and memory grows with the file, not with what it claims.
package checkpoint

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/tree"
)

// Write writes arrays, in their order, and metadata to w.
func Write(ctx context.Context, w io.Writer, arrays tree.Tree, meta map[string]string) error {
	if err := array.Eval(ctx, arrays.Arrays()...); err != nil {
		return err
	}
	entries, seen, at := make([]entry, len(arrays)), map[string]bool{metadataKey: true}, int64(0)
	for i, leaf := range arrays {
		if seen[leaf.Path] {
			return fmt.Errorf("%q comes twice", leaf.Path)
		}
		seen[leaf.Path] = true
		s := leaf.Array.Spec()
		e := entry{path: leaf.Path, dtype: s.DType, shape: s.Shape, start: at, end: at + int64(s.Bytes())}
		if len(e.shape) > maxAxes {
			return e.check()
		}
		entries[i], at = e, e.end
	}
	header, err := encodeHeader(entries, meta)
	if err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return err
	}
	for _, leaf := range arrays {
		data, err := array.Bytes(ctx, leaf.Array)
		if err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	return nil
}

// Read reads arrays, in the order of the header, and metadata from a file of the given
// size.
func Read(r io.ReaderAt, size int64) (tree.Tree, map[string]string, error) {
	entries, meta, data, err := readHeader(r, size)
	if err != nil {
		return nil, nil, fmt.Errorf("safetensors: %w", err)
	}
	arrays := make(tree.Tree, len(entries))
	for i, e := range entries {
		elements := make([]byte, e.end-e.start)
		if _, err := io.ReadFull(io.NewSectionReader(r, data+e.start, e.end-e.start), elements); err != nil {
			return nil, nil, fmt.Errorf("safetensors: %q: %w", e.path, err)
		}
		x := array.FromBytes(elements, e.dtype, e.shape...)
		if err := x.Err(); err != nil {
			return nil, nil, fmt.Errorf("safetensors: %q: %w", e.path, err)
		}
		arrays[i] = tree.Leaf{Path: e.path, Array: x}
	}
	return arrays, meta, nil
}

// ReadFile reads a regular file.
func ReadFile(path string) (tree.Tree, map[string]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait
		return nil, nil, fmt.Errorf("%s is no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	arrays, meta, err := Read(f, info.Size())
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return arrays, meta, nil
}
