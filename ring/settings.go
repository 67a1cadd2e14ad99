package ring

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-go/lockstep/internal/env"
)

// How ranks talk to each other is a matter of all of them: each tells the others
// what it was given when the world is formed, and a difference is an error that
// all of them get.

const (
	topologyRing       = "ring"
	reduceHierarchical = "hierarchical"
	scheduleAuto       = "auto"
	scheduleDoubling   = "doubling"
	scheduleSliced     = "sliced"
)

// completeSettings checks what must be the same on all ranks and fills in what is
// left open.
func (cfg *Config) completeSettings() error {
	for _, s := range []struct {
		name    string
		value   *string
		allowed []string
	}{
		{"Topology", &cfg.Topology, env.Topologies},
		{"Reduce", &cfg.Reduce, env.Reductions},
		{"Schedule", &cfg.Schedule, env.Schedules},
	} {
		*s.value = cmp.Or(*s.value, s.allowed[0])
		if !slices.Contains(s.allowed, *s.value) {
			return fmt.Errorf("%s is %q; want one of %s", s.name, *s.value, strings.Join(s.allowed, ", "))
		}
	}
	switch {
	case cfg.Topology == topologyRing && cfg.Reduce == reduceHierarchical:
		return fmt.Errorf("topology=%s and reduce=%s exclude each other", cfg.Topology, cfg.Reduce)
	case cfg.Topology == topologyRing && cfg.Schedule != scheduleAuto:
		return fmt.Errorf("topology=%s has a schedule of its own, schedule=%s cannot be asked for", cfg.Topology, cfg.Schedule)
	}
	return nil
}

// settings is how a rank was told to talk, in the words of its environment.
func (cfg Config) settings() string {
	return fmt.Sprintf("topology=%s reduce=%s schedule=%s", cfg.Topology, cfg.Reduce, cfg.Schedule)
}

// claim is what a rank says of itself when its control connection stands.
type claim struct{ settings, host string }

func (c claim) encode() string { return c.settings + "\n" + c.host }

func decodeClaim(text string) claim {
	settings, host, _ := strings.Cut(text, "\n")
	return claim{settings, host}
}

// claims notes what a rank says of itself. The world is formed when all have.
func (n *node) claims(rank int, said claim) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.claimed[rank] != (claim{}) {
		return
	}
	n.claimed[rank] = said
	if n.missing--; n.missing == 0 {
		close(n.formed)
	}
}

// agree reports, once the world is formed, that the ranks were told to talk in
// different ways.
func (n *node) agree() error {
	var said []string
	ranks := map[string][]int{}
	for r, c := range n.claimed {
		if ranks[c.settings] == nil {
			said = append(said, c.settings)
		}
		ranks[c.settings] = append(ranks[c.settings], r)
	}
	if len(said) == 1 {
		return nil
	}
	var parts []string
	for _, s := range said {
		noun, verb := "rank ", " has "
		if len(ranks[s]) > 1 {
			noun, verb = "ranks ", " have "
		}
		parts = append(parts, noun+list(ranks[s])+verb+s)
	}
	return fmt.Errorf("ranks were told to talk in different ways: %s (%s, %s, %s)", strings.Join(parts, "; "), env.Topology, env.Reduce, env.Schedule)
}

// hostsOf divides ranks of the world by host, in the order of each host's first
// rank. What is returned are positions in ranks.
func (n *node) hostsOf(ranks []int) [][]int {
	var hosts [][]int
	number := map[string]int{}
	for i, r := range ranks {
		h, ok := number[n.claimed[r].host]
		if !ok {
			h = len(hosts)
			number[n.claimed[r].host] = h
			hosts = append(hosts, nil)
		}
		hosts[h] = append(hosts[h], i)
	}
	return hosts
}
