//go:build long

package ring

import (
	"testing"

	"github.com/lockstep-go/lockstep/internal/env"
)

// TestConformanceOverHosts is the suite over every way in which ranks can be
// spread over hosts; the weaker one where partial sums travel.
func TestConformanceOverHosts(t *testing.T) {
	for _, c := range []struct {
		name      string
		role      string
		hosts     []int
		variables []string
	}{
		{"TCP alone, one rank on each of three hosts", "suite", []int{0, 1, 2}, []string{env.SharedMem + "=0"}},
		{"TCP alone, on one host", "suite", []int{0, 0, 0}, []string{env.SharedMem + "=0"}},
		{"shared memory alone", "suite", []int{0, 0, 0, 0}, nil},
		{"two hosts of two ranks that share nothing", "suite", []int{0, 0, 1, 1}, []string{env.SharedMem + "=0"}},
		{"three uneven hosts", "suite", []int{0, 0, 1, 2, 2}, nil},
		{"three uneven hosts in another order than the ranks", "suite", []int{1, 0, 2, 0, 2}, nil},
		{"neighbour ring", "partial", []int{0, 0, 1, 1}, []string{env.Topology + "=ring"}},
		{"neighbour ring in and out of hosts", "partial", []int{0, 1, 0, 2, 1}, []string{env.Topology + "=ring"}},
		{"hierarchical", "partial", []int{0, 0, 1, 1}, []string{env.Reduce + "=hierarchical"}},
		{"hierarchical, uneven", "partial", []int{0, 1, 0, 2, 0}, []string{env.Reduce + "=hierarchical"}},
		{"hierarchical over TCP alone", "partial", []int{0, 0, 1}, []string{env.Reduce + "=hierarchical", env.SharedMem + "=0"}},
	} {
		t.Run(c.name, func(t *testing.T) { suiteOverHosts(t, c.role, c.hosts, c.variables...) })
	}
}
