//go:build long

package grouptest

// SoakLength is how many collectives a test run soaks with.
const SoakLength = 20_000
