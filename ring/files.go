package ring

import (
	"errors"
	"fmt"
	"syscall"
)

// moreFiles says what to do about an error that comes from too many open files.
func moreFiles(err error) error {
	if errors.Is(err, syscall.EMFILE) {
		return fmt.Errorf("%w: each rank has some connections to every other; allow this process more open files (ulimit -n)", err)
	}
	return err
}
