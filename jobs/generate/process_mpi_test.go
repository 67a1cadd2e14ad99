//go:build !race && mpi

package main

import (
	"testing"

	"github.com/lockstep-go/lockstep/internal/program/programtest"
)

func TestMPIRanksWriteTheSameText(t *testing.T) { sameText(t, programtest.MPIRun) }
