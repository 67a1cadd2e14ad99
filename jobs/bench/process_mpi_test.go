//go:build !race && mpi

package main

import (
	"os"
	"testing"
)

// buildTags are those of the programs under test.
const buildTags = "mpi"

func TestOpenMPIIsMeasured(t *testing.T) {
	start := []string{"mpirun", "--oversubscribe", "-np", "3"}
	if os.Geteuid() == 0 {
		start = append(start, "--allow-run-as-root")
	}
	checkFiles(t, "mpi", 3, append(start, program("bench"))...)
}
