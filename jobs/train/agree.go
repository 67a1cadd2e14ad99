package main

import (
	"crypto/sha256"
	"fmt"
)

// settings is what must be the same on all ranks.
func (o options) settings(t *task) string {
	s := fmt.Sprintf("-model %s -steps %d -batch %d -lr %v -seed %d -tp %d -dtype %s -accumulate %d -eval-every %d, data %s",
		o.model, o.steps, o.batch, o.rate, o.seed, o.tensor, o.dtype, o.accumulate, o.evalEvery, t.digest)
	if o.checkpoint != "" {
		s += fmt.Sprintf(", -checkpoint -save-every %d -resume=%t", o.saveEvery, o.resume)
	}
	return s
}

// digest names data in a few characters.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex(sum[:6])
}
