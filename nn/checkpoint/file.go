package checkpoint

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstep-go/lockstep/array/tree"
)

// temporary stands in the names of files that are not whole yet.
const temporary = ".part-"

// WriteFile replaces a file, or makes it, with its folder. Whenever it is interrupted,
// the file is the old one or the new one. What earlier interruptions left beside it is
// removed.
func WriteFile(ctx context.Context, path string, arrays tree.Tree, meta map[string]string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, filepath.Base(path)+temporary+"*")
	if err != nil {
		return err
	}
	if err := fill(ctx, f, arrays, meta); err != nil {
		os.Remove(f.Name())
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		os.Remove(f.Name())
		return err
	}
	if err := syncFolder(dir); err != nil {
		return err
	}
	return removeParts(path)
}

// fill writes a new file to the disk and closes it.
func fill(ctx context.Context, f *os.File, arrays tree.Tree, meta map[string]string) error {
	w := bufio.NewWriterSize(f, 1<<20)
	err := Write(ctx, w, arrays, meta)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncFolder makes a new name last.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// removeParts removes what interrupted writes left.
func removeParts(path string) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(path)+temporary) {
			err = errors.Join(err, os.Remove(filepath.Join(filepath.Dir(path), e.Name())))
		}
	}
	return err
}
