package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
)

// The bar is full when the last row is printed, whatever the flags leave out.
func TestProgressCountsEveryRow(t *testing.T) {
	for _, args := range []string{"", "-sizes 8,64", "-dtypes int8,float64 -sizes 8", "-ranks 1,2", "-only barrier,latency"} {
		o, err := parse(append(strings.Fields(args), "-iterations", "1"))
		if err != nil {
			t.Fatal(err)
		}
		if len(o.sizes) == 0 {
			o.sizes = []int{4, 8, 16}
		}
		var out bytes.Buffer
		var groups []*group.Group
		for _, comm := range grouptest.NewWorld(2) {
			groups = append(groups, group.New(comm))
		}
		want := o.rows(groups[0])
		if err := inStep(groups, func(g *group.Group) error { return measureAll(t.Context(), o, g, &out) }); err != nil {
			t.Fatal(err)
		}
		got := 0
		for line := range strings.Lines(out.String()) {
			if words := strings.Fields(line); len(words) > 0 && words[0] != "#" {
				got++
			}
		}
		if got != want {
			t.Errorf("%s: %d rows, announced were %d", args, got, want)
		}
	}
}
