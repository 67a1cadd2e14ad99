package onehost

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/lockstep-go/lockstep/internal/shm"
)

// Create makes the file that so many ranks map.
func Create(ranks int) (*os.File, error) { return shm.Create(layoutOf(ranks).total()) }

// Find opens the file that a process of this host keeps open under a number. It
// opens nothing but shared memory: on another host, the process may be any, and
// its file a device.
func Find(process, number int) (*os.File, error) {
	path := fmt.Sprintf("/proc/%d/fd/%d", process, number)
	kind, err := os.Readlink(path)
	switch {
	case err != nil:
		return nil, err
	case !strings.HasPrefix(kind, "/memfd:lockstep"):
		return nil, fmt.Errorf("%s is %s, no shared memory", path, kind)
	}
	return os.OpenFile(path, os.O_RDWR, 0)
}

// Mark writes into a file by what others recognise it. It lies where data will:
// they must have read it before the first collective.
func Mark(file *os.File, mark [16]byte) error {
	at, err := markAt(file)
	if err == nil {
		_, err = file.WriteAt(mark[:], at)
	}
	return err
}

// ReadMark reads what Mark wrote.
func ReadMark(file *os.File) (mark [16]byte, err error) {
	at, err := markAt(file)
	if err == nil {
		_, err = file.ReadAt(mark[:], at)
	}
	return mark, err
}

func markAt(file *os.File) (int64, error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	if info.Size() < 16 {
		return 0, errors.New("a file too short for shared memory")
	}
	return info.Size() - 16, nil
}
