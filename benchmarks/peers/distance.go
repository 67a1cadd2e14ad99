package main

import (
	"context"
	"os"
	"runtime"
	"time"
)

// The cores of a virtual machine may come to lie near each other or far apart, from one
// second to the next: a byte then goes from one to the other in 70 ns or in 300, and
// whatever goes through shared memory takes up to four times as long. So launches are
// compared that had their cores near.

// distance asks how far apart the first two cores are.
type distance struct {
	program string  // the limits in C; empty when nobody shall ask
	least   float64 // µs of a round trip, over all questions so far
}

const (
	// farther is how many times the least round trip makes cores lie apart.
	farther = 3
	// patience is how long to wait for near cores, and probes how often to ask at
	// first, to learn what is near.
	patience = 3 * time.Second
	pause    = 40 * time.Millisecond
	probes   = 50
	// tries bounds how often a launch is made again because the cores went apart.
	tries = 4
)

// near reports whether the cores are near, or nobody knows.
func (d *distance) near(ctx context.Context) bool {
	if d.program == "" {
		return true
	}
	figures, err := carryOut(ctx, []string{d.program, "1", "0.002", "shm", "2", "pingpong", "f32", "4"})
	if err != nil {
		return true
	}
	trip := figures[0].value
	if d.least == 0 || trip < d.least {
		d.least = trip
	}
	return trip <= farther*d.least
}

// await returns when the cores are near, or have not been for long, and reports
// whether they are.
func (d *distance) await(ctx context.Context) bool {
	for until := time.Now().Add(patience); ; time.Sleep(pause) {
		if near := d.near(ctx); near || time.Now().After(until) || ctx.Err() != nil {
			return near
		}
	}
}

// learn finds out what near is.
func (d *distance) learn(ctx context.Context) {
	for range probes {
		if d.program == "" || ctx.Err() != nil {
			return
		}
		d.near(ctx)
		time.Sleep(pause)
	}
}

// distance is asked for where there is more than one core and a program to ask.
func (o *options) distance(at folder) distance {
	program := at.path(limitsProgram)
	if _, err := os.Stat(program); err != nil || o.quick || runtime.NumCPU() < 2 {
		return distance{}
	}
	return distance{program: program}
}
