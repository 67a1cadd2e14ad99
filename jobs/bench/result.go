package main

import (
	"slices"

	"gonum.org/v1/gonum/stat"
)

// result is one row: statistics over the timed calls, in microseconds or, for a
// bandwidth, in millions of bytes a second.
type result struct {
	Operation  string  `json:"operation"`
	Dtype      string  `json:"dtype,omitempty"` // barriers have none
	Ranks      int     `json:"ranks"`
	Bytes      int     `json:"bytes"`
	Iterations int     `json:"iterations"`
	Unit       string  `json:"unit"` // us or MB/s
	Mean       float64 `json:"mean"`
	Min        float64 `json:"min"`
	P50        float64 `json:"p50"`
	P95        float64 `json:"p95"`
	P99        float64 `json:"p99"`
	Max        float64 `json:"max"`
}

const (
	micros    = "us"
	megabytes = "MB/s"
)

// newResult sorts the times, in seconds.
func newResult(op operation, c call, times []float64) result {
	slices.Sort(times)
	figure, unit := func(seconds float64) float64 { return seconds * 1e6 }, micros
	switch op.kind {
	case latency: // there and back
		figure = func(seconds float64) float64 { return seconds * 1e6 / 2 }
	case bandwidth:
		moved := float64(window(c.size)) * float64(c.size)
		figure, unit = func(seconds float64) float64 { return moved / seconds / 1e6 }, megabytes
	}
	quantile := func(p float64) float64 { return figure(stat.Quantile(p, stat.Empirical, times, nil)) }
	r := result{
		Operation: op.name, Ranks: c.g.Size(), Bytes: c.size, Iterations: len(times), Unit: unit,
		Mean: figure(stat.Mean(times, nil)),
		Min:  figure(times[0]), P50: quantile(0.5), P95: quantile(0.95), P99: quantile(0.99), Max: figure(times[len(times)-1]),
	}
	if !op.empty() {
		r.Dtype = c.t.String()
	}
	if r.Min > r.Max { // the shortest time is the largest bandwidth
		r.Min, r.Max = r.Max, r.Min
	}
	return r
}
