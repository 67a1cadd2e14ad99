//go:build !race && !long

package main

// How long and wide the training is that all worlds do alike.
const (
	learnSteps = 10
	learnBatch = 8
)
