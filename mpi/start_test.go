//go:build cgo && mpi

package mpi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/group"
	gompi "github.com/sbromberger/gompi"
)

// beginnings are ways in which the ranks of a job begin, and what they then say.
var beginnings = map[string]struct {
	begin     func()
	variables []string
	fails     bool
	says      string
}{
	"one thread":      {begin: startOneThread, says: "MPI_THREAD_MULTIPLE"},
	"another backend": {begin: startAnother, says: "MPI started: false"},
	"no transport":    {begin: startWorldOrFail, variables: []string{"OMPI_MCA_pml=none_such"}, fails: true}, // mpirun does not always get to say why,
	"a sender closes": {begin: closeBeforeReceive, says: "receive from rank 1 tag 3: rank 1: has closed the group"},
	giveUpSplit:       {begin: splitAndGiveUp},
}

func TestBeginnings(t *testing.T) {
	if world != nil {
		return
	}
	for way, want := range beginnings {
		t.Run(way, func(t *testing.T) {
			output, code := mpirun(t, 2, append(want.variables, endVariable+"="+way))
			if (code != 0) != want.fails || !strings.Contains(output, want.says) {
				t.Errorf("mpirun ended with %d; want %q and a failure: %v\n%s", code, want.says, want.fails, output)
			}
		})
	}
}

// startOneThread has the program itself start MPI, for one thread only.
func startOneThread() {
	gompi.Start(false)
	defer gompi.Stop()
	_, err := (&backend{}).Init(context.Background(), group.Config{})
	fmt.Println(err)
}

type other struct{}

func (other) Detect() group.Detection { return group.Detection{Available: true} }

func (other) Init(context.Context, group.Config) (group.Communicator, error) {
	return nil, errors.New("not today")
}

func startAnother() {
	group.Register("other", other{})
	_, err := group.Init(context.Background(), group.Config{Backend: "other"})
	now, stateErr := state()
	fmt.Println(err, stateErr, "MPI started:", now.started)
}

func startWorldOrFail() {
	if _, err := (&backend{}).Init(context.Background(), group.Config{}); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// closeBeforeReceive has rank 1 close the world while rank 0 waits for its message.
func closeBeforeReceive() {
	c, err := (&backend{}).Init(context.Background(), group.Config{})
	if err == nil && c.Rank() == 0 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		fmt.Println(c.Recv(ctx, 1, 3, nil))
	}
	if err = errors.Join(err, c.Close()); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// TestAnotherMPIIsRefused compiles against the headers of an MPI that is not Open
// MPI, such as MPICH.
func TestAnotherMPIIsRefused(t *testing.T) {
	if world != nil {
		return
	}
	cc, err := exec.Command("go", "env", "CC").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mpi.h"), []byte("#define MPICH_VERSION \"4.0\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	output, err := exec.Command(strings.Fields(string(cc))[0], "-fsyntax-only", "-I", dir, "bridge.c").CombinedOutput()
	if err == nil || !strings.Contains(string(output), "needs Open MPI; this is another MPI") {
		t.Errorf("the compiler ended with %v\n%s", err, output)
	}
}
