package program

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// File is one that a program writes at its end. It appears under its name only once it is
// whole, and whether it can be written shows at the beginning. A nil File takes nothing.
type File struct {
	name string
	part *os.File
}

// NewFile makes room for a file that a flag asks for; nil for no name. An error is a UsageError.
func NewFile(flag, name string) (*File, error) {
	if name == "" {
		return nil, nil
	}
	part, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		var on *os.PathError
		if errors.As(err, &on) {
			err = on.Err // it names the file that stands in for this one
		}
		return nil, WrongUse(fmt.Errorf("%s %s: %w", flag, name, err))
	}
	return &File{name, part}, nil
}

// Write fills the file and gives it its name.
func (f *File) Write(fill func(w io.Writer) error) error {
	if f == nil || f.part == nil {
		return nil
	}
	err := errors.Join(fill(f.part), f.part.Chmod(0o644), f.part.Sync(), f.part.Close())
	if err == nil {
		err = os.Rename(f.part.Name(), f.name)
	}
	if err != nil {
		os.Remove(f.part.Name())
		err = fmt.Errorf("%s: %w", f.name, err)
	}
	f.part = nil
	return err
}

// Abandon leaves no trace of a file that was not written.
func (f *File) Abandon() {
	if f != nil && f.part != nil {
		f.part.Close()
		os.Remove(f.part.Name())
		f.part = nil
	}
}
