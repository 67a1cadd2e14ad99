//go:build !race && !mpi

package main

// buildTags are those of the programs under test.
const buildTags = ""
