//go:build !race

package main

import (
	"os"
	"testing"

	"github.com/lockstep-go/lockstep/internal/program/programtest"
)

// The tests of files that are left out under the race detector run real processes, which it
// would not see into.

func TestMain(m *testing.M) { os.Exit(programtest.Main(m)) }
