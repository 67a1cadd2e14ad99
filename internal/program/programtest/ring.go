//go:build !mpi

package programtest

// tags are those of the programs under test.
const tags = ""
