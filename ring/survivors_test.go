package ring

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/conform"
)

// survive reduces in the background until that fails, then goes on with those that are left.
func survive(comm group.Communicator) error {
	g, ctx := group.New(comm), context.Background()
	var err error
	for err == nil {
		one, two := make([]byte, 1<<20), make([]byte, 1<<10)
		first := g.AllReduceAsync(ctx, group.Sum, dtype.Float32, one)
		second := g.AllReduceAsync(ctx, group.Sum, dtype.Float32, two)
		if err = second.Wait(ctx); err == nil {
			err = first.Wait(ctx)
		}
	}
	fmt.Println("broken:", err)
	for range 2 {
		xs := []float64{float64(g.Rank() + 1)}
		n, err := group.FederatedAverage(ctx, g, xs, 30*time.Second)
		fmt.Println("average:", xs, n, err)
	}
	return g.Close()
}

func init() { roles["survive"] = survive }

// killOne starts three ranks that survive, kills one in the middle of its work and returns the others.
func killOne(t *testing.T, way string, victim int) (left []*process) {
	ranks := startRanks(t, 3, "survive", way)
	for _, p := range ranks {
		p.expect(t, "ready")
	}
	time.Sleep(50 * time.Millisecond)
	ranks[victim].Process.Kill()
	for r, p := range ranks {
		if r == victim {
			continue
		}
		if text := p.expect(t, "broken: "); !strings.Contains(text, fmt.Sprintf("rank %d", victim)) || !strings.Contains(text, "all_reduce") {
			t.Errorf("rank %d: %s", r, text)
		}
		left = append(left, p)
	}
	return left
}

func TestAverageOfSurvivors(t *testing.T) {
	t.Parallel()
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conform.Row(t, "B12", "B18")
			for r, p := range killOne(t, way, 2) {
				for range 2 {
					if got, want := p.expect(t, "average: "), fmt.Sprintf("[1.5] %d <nil>", 2-2*r); got != want {
						t.Errorf("rank %d: %s, want %s", r, got, want)
					}
				}
				p.expect(t, "end: <nil>")
			}
		})
	}
}

func TestAverageWithoutItsLeader(t *testing.T) {
	t.Parallel()
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, p := range killOne(t, way, 0) {
				for range 2 {
					got := p.expect(t, "average: ")
					if !strings.HasPrefix(got, fmt.Sprintf("[%d] 0 ", i+2)) || !strings.Contains(got, "rank 0 (127.0.0.1:") || !strings.Contains(got, "federated_average #") || strings.Contains(got, "no average within") {
						t.Errorf("rank %d: %s; want its own value and an error that names rank 0 at once", i+1, got)
					}
				}
				p.expect(t, "end: <nil>")
			}
		})
	}
}
