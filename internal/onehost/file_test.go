package onehost

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstep-go/lockstep/internal/shm"
)

func TestFileIsFoundByItsProcessAndNumber(t *testing.T) {
	if !shm.Supported {
		t.Skip("this system has no shared memory")
	}
	file, err := Create(3)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	mark := [16]byte{1, 2, 3, 15: 4}
	if err := Mark(file, mark); err != nil {
		t.Fatal(err)
	}
	found, err := Find(os.Getpid(), int(file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	if got, err := ReadMark(found); err != nil || got != mark {
		t.Errorf("the mark is %v, %v; want %v", got, err, mark)
	}
	s, err := Map(found, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := Map(found, 2, 1); err == nil {
		t.Error("memory of three ranks was mapped as that of two")
	}
}

func TestOnlySharedMemoryIsOpened(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "plain"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, at := range [][2]int{{os.Getpid(), int(file.Fd())}, {os.Getpid(), 1 << 20}, {1 << 30, 0}} {
		if found, err := Find(at[0], at[1]); err == nil {
			found.Close()
			t.Errorf("file %d of process %d was opened", at[1], at[0])
		}
	}
	if _, err := ReadMark(file); err == nil {
		t.Error("an empty file has a mark")
	}
}
