package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
	"github.com/lockstep-go/lockstep/internal/program"
)

// measured runs a world in memory with the flags and returns what rank 0 prints.
func measured(t *testing.T, n int, wrap func(group.Communicator) group.Communicator, args ...string) (string, []error) {
	t.Helper()
	o, err := parse(args)
	if err != nil {
		t.Fatal(err)
	}
	var groups []*group.Group
	for _, comm := range grouptest.NewWorld(n) {
		groups = append(groups, group.NewWith(wrap(comm), group.Config{Backend: "memory", Timeout: 20 * time.Second}))
	}
	var out bytes.Buffer
	errs := make([]error, n)
	inStep(groups, func(g *group.Group) error {
		errs[g.Rank()] = measureAll(t.Context(), o, g, &out)
		return errs[g.Rank()]
	})
	return out.String(), errs
}

func plain(c group.Communicator) group.Communicator { return c }

// The check of every result passes, so each operation does with every type, and with
// sizes that slices do not divide into whole periods, what it should.
func TestEveryOperationOfEveryTypeIsChecked(t *testing.T) {
	var types []string
	for _, of := range dtype.All() {
		types = append(types, of.String())
	}
	for _, n := range []int{1, 2, 3, 5} {
		t.Run(program.Ranks(n), func(t *testing.T) {
			out, errs := measured(t, n, plain, "-iterations", "2", "-sizes", "8,1000", "-dtypes", strings.Join(types, ","))
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			backend := "memory"
			if n == 1 {
				backend = "single"
			}
			for _, op := range catalogue {
				want := len(types)
				if op.empty() {
					want = 1
				} else if op.pair() && n == 1 {
					want = 0
				}
				if got := strings.Count(out, "# lockstep "+op.title+" Test, "+program.Ranks(n)+" on "+backend+"\n"); got != want {
					t.Errorf("%d tables of %s, want %d", got, op.name, want)
				}
			}
		})
	}
}

// crooked flips one bit of what some collective or message leaves on one rank.
type crooked struct{ group.Communicator }

func (c crooked) bend(data []byte, err error) error {
	if err == nil && c.Rank() == 1 && len(data) == 64 {
		data[40] ^= 1
	}
	return err
}

func (c crooked) AllReduce(ctx context.Context, op group.Op, t dtype.Type, data []byte) error {
	return c.bend(data, c.Communicator.AllReduce(ctx, op, t, data))
}

func TestAWrongResultIsAnErrorOnAllRanks(t *testing.T) {
	_, errs := measured(t, 3, func(c group.Communicator) group.Communicator { return crooked{c} }, "-only", "all_reduce", "-sizes", "64", "-iterations", "2")
	for rank, err := range errs {
		if err == nil || !strings.Contains(err.Error(), "all_reduce of 64 bytes of float32") || !strings.Contains(err.Error(), "wrong result: byte 40 of 64") {
			t.Errorf("rank %d: %v", rank, err)
		}
		if rank != 1 && !strings.Contains(err.Error(), "rank 1 says") {
			t.Errorf("rank %d does not name rank 1: %v", rank, err)
		}
	}
}

func TestFewerRanksTakePart(t *testing.T) {
	out, errs := measured(t, 4, plain, "-only", "all_reduce", "-sizes", "64", "-iterations", "2", "-ranks", "2,4,3")
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, n := range []int{2, 4, 3} {
		next := strings.Index(out[at:], fmt.Sprintf("Test, %d ranks", n))
		if next < 0 {
			t.Fatalf("no table of %d ranks in its place:\n%s", n, out)
		}
		at += next
	}
	if _, errs := measured(t, 2, plain, "-ranks", "3"); errs[0] == nil || !strings.Contains(errs[0].Error(), "-ranks has 3, and there are 2") {
		t.Error(errs)
	}
}

// The first word of a row is its size and the second the average, as with the OSU
// micro-benchmarks; what begins with # is no row.
func TestTableHasTheLayoutOfOSU(t *testing.T) {
	out, errs := measured(t, 2, plain, "-only", "bandwidth,barrier", "-sizes", "1KiB:4KiB", "-iterations", "3")
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	var sizes []string
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" && words[1] != "Size" {
			continue
		}
		if words[0] == "#" {
			if got := strings.Count(line, "("); got != 6 {
				t.Errorf("%d units in %q, want 6", got, line)
			}
			continue
		}
		if len(words) != 8 || words[7] != "3" {
			t.Errorf("row %q: want 8 columns, the last 3", line)
		}
		sizes = append(sizes, words[0])
	}
	if got := strings.Join(sizes, " "); got != "1024 2048 4096 0" {
		t.Errorf("rows of sizes %s", got)
	}
}
