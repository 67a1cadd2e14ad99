//go:build !race && mpi

package main

import (
	"testing"

	"github.com/lockstep-go/lockstep/internal/program/programtest"
)

func TestOpenMPIIsMeasured(t *testing.T) {
	checkFiles(t, "mpi", 3, programtest.MPIRun(3, programtest.Path(t, "bench"))...)
}
