// Package programtest runs the programs of this module as real processes in tests.
//
// A package that uses it has Main as its TestMain, which keeps a world around the tests from
// being the programs' world.
package programtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/lockstep-go/lockstep/internal/env"
)

// Main runs the tests, and removes what was built for them.
func Main(m *testing.M) int {
	for _, v := range env.Variables {
		os.Unsetenv(v.Name)
	}
	defer func() {
		for _, b := range built {
			os.RemoveAll(b.dir)
		}
	}()
	return m.Run()
}

// built are the programs, by name.
var (
	mu    sync.Mutex
	built = map[string]binary{}
)

type binary struct {
	dir string
	err error
}

// Path builds a program of jobs/, the first time that it is asked for, with Open MPI where the
// tests are, and returns its path.
func Path(t testing.TB, name string) string {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	b, ok := built[name]
	if !ok {
		b.dir, b.err = build(name)
		built[name] = b
	}
	if b.err != nil {
		t.Fatal(b.err)
	}
	return filepath.Join(b.dir, name)
}

func build(name string) (dir string, err error) {
	if dir, err = os.MkdirTemp("", name); err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-buildvcs=false", "-tags", tags, "-o", dir, "github.com/lockstep-go/lockstep/jobs/"+name)
	if output, err := cmd.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("go build: %w\n%s", err, output)
	}
	return dir, nil
}

// Launched is the command line of a program as n ranks on the ring.
func Launched(t testing.TB, n int, command ...string) []string {
	return append([]string{Path(t, "launch"), "-n", fmt.Sprint(n), "--"}, command...)
}

// MPIRun is the command line of a program as n ranks of Open MPI.
func MPIRun(n int, command ...string) []string {
	args := []string{"mpirun", "--oversubscribe", "-np", fmt.Sprint(n)}
	if os.Geteuid() == 0 {
		args = append(args, "--allow-run-as-root")
	}
	return append(args, command...)
}
