package agent

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// keepPrivate keeps content in memory of this process, where it ends with it,
// however it ends. The path leads there from every process of this user, also one
// that a rank has started; where it does not, as without /proc, there is a file.
func keepPrivate(content []byte) (path string, end func(), err error) {
	if path, end, err = keepInMemory(content); err == nil {
		return path, end, nil
	}
	path, end, other := keepOnDisk(content)
	if other != nil {
		return "", nil, errors.Join(err, other)
	}
	return path, end, nil
}

func keepInMemory(content []byte) (path string, end func(), err error) {
	fd, err := unix.MemfdCreate("lockstep-private", unix.MFD_CLOEXEC)
	if err != nil {
		return "", nil, fmt.Errorf("memfd_create: %w", err)
	}
	file := os.NewFile(uintptr(fd), "private")
	end = func() { file.Close() }
	path = fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), fd)
	_, err = file.Write(content)
	if err == nil {
		err = file.Chmod(0o600)
	}
	if err == nil {
		_, err = os.ReadFile(path)
	}
	if err != nil {
		end()
		return "", nil, err
	}
	return path, end, nil
}
