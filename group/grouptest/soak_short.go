//go:build !long

package grouptest

// SoakLength is how many collectives a test run soaks with.
const SoakLength = 1_000
