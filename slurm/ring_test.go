//go:build linux && !race && !(cgo && mpi)

package slurm_test

// buildTags are those of the programs under test.
const buildTags = ""

// withoutPMIx is what they say where they are asked for MPI.
const withoutPMIx = "built without Open MPI"
