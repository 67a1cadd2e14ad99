package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// becomeDoctor replaces this process by the program doctor, which lies beside it. It
// returns only if that fails.
func becomeDoctor(args []string) int {
	self, err := os.Executable()
	if err != nil {
		return fail(err, codeFailure)
	}
	path := filepath.Join(filepath.Dir(self), "doctor")
	err = syscall.Exec(path, append([]string{path}, args...), os.Environ())
	return fail(fmt.Errorf("launch doctor needs the program doctor beside launch; make builds both: %s: %w", path, err), codeFailure)
}
