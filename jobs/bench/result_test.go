package main

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

// reached is the smallest of the figures that so large a share of them does not
// exceed, found by counting.
func reached(figures []float64, share float64) float64 {
	best := math.Inf(1)
	for _, x := range figures {
		below := 0
		for _, y := range figures {
			if y <= x {
				below++
			}
		}
		if float64(below) >= share*float64(len(figures)) {
			best = min(best, x)
		}
	}
	return best
}

func TestStatistics(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	c := call{group.Single(), dtype.Float32, 4096}
	for _, n := range []int{1, 2, 3, 19, 20, 21, 99, 100, 101, 1000} {
		times, us := make([]float64, n), make([]float64, n)
		sum := 0.0
		for i := range times {
			us[i] = float64(1 + random.IntN(500)) // with ties
			times[i] = us[i] / 1e6
			sum += us[i]
		}
		for _, op := range catalogue {
			r := newResult(op, c, append([]float64{}, times...))
			// From microseconds to the figure of the row.
			figure := func(us float64) float64 { return us }
			switch op.name {
			case "latency":
				figure = func(us float64) float64 { return us / 2 }
			case "bandwidth":
				figure = func(us float64) float64 { return 4096 * 64 / us }
			}
			low, high := figure(reached(us, 0)), figure(reached(us, 1))
			for what, pair := range map[string][2]float64{
				"mean": {r.Mean, figure(sum / float64(n))},
				"min":  {r.Min, min(low, high)},
				"p50":  {r.P50, figure(reached(us, 0.5))},
				"p95":  {r.P95, figure(reached(us, 0.95))},
				"p99":  {r.P99, figure(reached(us, 0.99))},
				"max":  {r.Max, max(low, high)},
			} {
				if math.Abs(pair[0]-pair[1]) > 1e-9*pair[1] {
					t.Errorf("%s of %d calls: %s is %v, want %v", op.name, n, what, pair[0], pair[1])
				}
			}
			if r.Iterations != n || (r.Unit == megabytes) != (op.name == "bandwidth") {
				t.Errorf("%s of %d calls: %+v", op.name, n, r)
			}
		}
	}
}

func TestCountStaysWithinBounds(t *testing.T) {
	for _, c := range []struct{ whole, each, want int }{{100, 10, 10}, {100, 1000, fewest}, {100, 0, 100}, {1 << 40, 1, most}} {
		if got := count(time.Duration(c.whole), time.Duration(c.each)); got != c.want {
			t.Errorf("%d in %d: %d, want %d", c.each, c.whole, got, c.want)
		}
	}
}
