//go:build linux && !race && !(cgo && mpi)

package slurm_test

// buildTags are those of the programs under test.
const buildTags = ""
