//go:build cgo && mpi

package mpi

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/env"
)

// stopper is loaded before Open MPI and stops rank 1 inside one of MPI's functions,
// where it has come as far as lockstep can tell.
const stopper = `
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void stop(const char *inside) {
  const char *where = getenv("STOP_INSIDE");
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1 && where && !strcmp(where, inside)) raise(SIGSTOP);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *out) {
  stop("MPI_Comm_split");
  int code = PMPI_Comm_split(comm, color, key, out);
  stop("the end of MPI_Comm_split");
  return code;
}
`

// TestARankStopsInsideMPI stops rank 1 of two in a split, after both ranks have told
// each other that they have come: rank 0 gets an error at its deadline all the same,
// where MPI's own function would wait for ever.
func TestARankStopsInsideMPI(t *testing.T) {
	if world != nil {
		return
	}
	dir := t.TempDir()
	source, library := filepath.Join(dir, "stop.c"), filepath.Join(dir, "stop.so")
	if err := os.WriteFile(source, []byte(stopper), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.Command("mpicc", "-shared", "-fPIC", "-o", library, source).CombinedOutput(); err != nil {
		t.Fatalf("mpicc: %v\n%s", err, output)
	}
	for name, c := range map[string]struct{ inside, share string }{
		"as it begins":                        {"MPI_Comm_split", "1"},
		"before the new group's next step":    {"the end of MPI_Comm_split", "1"},
		"as it begins, without shared memory": {"MPI_Comm_split", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			output, code := mpirunArgs(t, nil, []string{
				"-np", "2", "-x", env.SharedMem + "=" + c.share, "-x", "LD_PRELOAD=" + library, "-x", "STOP_INSIDE=" + c.inside, "-x", endVariable + "=" + giveUpSplit, os.Args[0],
			})
			for _, want := range []string{"rank 0: mpi: split: a rank has come, and stopped", context.DeadlineExceeded.Error()} {
				if !strings.Contains(output, want) {
					t.Errorf("want %q in\n%s", want, output)
				}
			}
			if code == 0 {
				t.Error("mpirun ended well")
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// giveUpSplit is the beginning of a rank that splits the world at once.
const giveUpSplit = "split"

// splitAndGiveUp splits the world within two seconds and ends with an error.
func splitAndGiveUp() {
	c, err := (&backend{}).Init(context.Background(), group.Config{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_, err = c.(group.Splitter).Split(ctx, 0, 0)
	if err == nil {
		err = c.Close()
	}
	if err != nil {
		fmt.Printf("rank %d: %v\n", c.Rank(), err)
		os.Exit(1)
	}
}
