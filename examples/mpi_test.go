//go:build !race && mpi

package examples_test

// buildTags are those of the programs under test.
const buildTags = "mpi"
