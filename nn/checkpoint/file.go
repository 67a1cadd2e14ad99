package checkpoint

import (
	"bufio"
	"context"
	"errors"
	"fmt"
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
	f, err := create(path)
	if err != nil {
		return err
	}
	if err := fill(ctx, f, arrays, meta); err != nil {
		os.Remove(f.Name())
		return about(path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		os.Remove(f.Name())
		return err
	}
	if err := syncFolder(filepath.Dir(path)); err != nil {
		return err
	}
	return removeParts(path)
}

// Prepare makes the folder of a file and sees that one can be written there, so that a
// wrong name shows before hours of work and not after them.
func Prepare(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder", path)
	}
	f, err := create(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// create makes the file that becomes the one of this name.
func create(path string) (*os.File, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, filepath.Base(path)+temporary+"*")
	return f, about(path, err)
}

// about names the file that somebody asked for in place of the one that stands in for it.
func about(path string, err error) error {
	var on *os.PathError
	if errors.As(err, &on) {
		return &os.PathError{Op: on.Op, Path: path, Err: on.Err}
	}
	return err
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
