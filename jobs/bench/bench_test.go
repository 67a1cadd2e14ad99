package main

import (
	"testing"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/ring"
)

// How long 64 ranks take to find each other on loopback, add one number each and
// leave.
func BenchmarkWorldOf64(b *testing.B) {
	const n = 64
	for b.Loop() {
		comms, err := ring.Local(b.Context(), n, ring.Config{})
		if err != nil {
			b.Fatal(err)
		}
		var groups []*group.Group
		for _, comm := range comms {
			groups = append(groups, group.New(comm))
		}
		if err := inStep(groups, func(g *group.Group) error {
			one := []float32{1}
			err := group.AllReduce(b.Context(), g, group.Sum, one)
			if err == nil && one[0] != n {
				b.Errorf("rank %d has the sum %v", g.Rank(), one[0])
			}
			return err
		}); err != nil {
			b.Fatal(err)
		}
	}
}
