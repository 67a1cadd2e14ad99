package group_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

// fill gives n bytes that differ by rank and place.
func fill(rank, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(31*rank + 7*i + 1)
	}
	return b
}

func same(got, want []byte) error {
	if !bytes.Equal(got, want) {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	return nil
}

func TestAllReduce(t *testing.T) {
	everywhere(t, func(t *testing.T, gs []*group.Group) {
		n := len(gs)
		must(t, gs, func(g *group.Group) error {
			xs := []int32{int32(g.Rank()), 10, int32(-g.Rank())}
			if err := group.AllReduce(background(), g, group.Sum, xs); err != nil {
				return err
			}
			total := int32(n * (n - 1) / 2)
			if want := []int32{total, int32(10 * n), -total}; !slices.Equal(xs, want) {
				return fmt.Errorf("sum %v, want %v", xs, want)
			}
			ys := []float32{float32(g.Rank()), 3}
			if err := group.AllReduce(background(), g, group.Mean, ys); err != nil {
				return err
			}
			if want := []float32{float32(n-1) / 2, 3}; !slices.Equal(ys, want) {
				return fmt.Errorf("mean %v, want %v", ys, want)
			}
			return nil
		})
	})
}

func TestAllGather(t *testing.T) {
	everywhere(t, func(t *testing.T, gs []*group.Group) {
		for _, length := range []int{0, 1, 5} {
			var want []byte
			for r := range gs {
				want = append(want, fill(r, length)...)
			}
			must(t, gs, func(g *group.Group) error {
				out := make([]byte, len(want))
				if err := g.AllGatherBytes(background(), fill(g.Rank(), length), out); err != nil {
					return err
				}
				return same(out, want)
			})
		}
	})
}

func TestReduceScatter(t *testing.T) {
	everywhere(t, func(t *testing.T, gs []*group.Group) {
		n := len(gs)
		must(t, gs, func(g *group.Group) error {
			in, out := make([]byte, 2*n), make([]byte, 2)
			for i := range in {
				in[i] = byte(i + g.Rank())
			}
			if err := g.ReduceScatterBytes(background(), group.Sum, dtype.Uint8, in, out); err != nil {
				return err
			}
			ranks, first := n*(n-1)/2, 2*g.Rank()
			return same(out, []byte{byte(n*first + ranks), byte(n*(first+1) + ranks)})
		})
	})
}

func TestBroadcast(t *testing.T) {
	everywhere(t, func(t *testing.T, gs []*group.Group) {
		for root := range gs {
			must(t, gs, func(g *group.Group) error {
				data := fill(g.Rank(), 5)
				if err := g.Broadcast(background(), root, data); err != nil {
					return err
				}
				return same(data, fill(root, 5))
			})
		}
	})
}

func TestGatherAndScatter(t *testing.T) {
	everywhere(t, func(t *testing.T, gs []*group.Group) {
		n := len(gs)
		for root := range gs {
			must(t, gs, func(g *group.Group) error {
				var all []byte
				if g.Rank() == root {
					all = make([]byte, 3*n)
				}
				if err := g.Gather(background(), root, fill(g.Rank(), 3), all); err != nil {
					return err
				}
				back := make([]byte, 3)
				if err := g.Scatter(background(), root, all, back); err != nil {
					return err
				}
				if g.Rank() == root {
					last := all[3*(n-1):]
					if err := same(last, fill(n-1, 3)); err != nil {
						return err
					}
				}
				return same(back, fill(g.Rank(), 3))
			})
		}
	})
}

func TestAllToAll(t *testing.T) {
	everywhere(t, func(t *testing.T, gs []*group.Group) {
		n := len(gs)
		must(t, gs, func(g *group.Group) error {
			in, out, want := make([]byte, 2*n), make([]byte, 2*n), make([]byte, 2*n)
			for r := range n {
				copy(in[2*r:], []byte{byte(g.Rank()), byte(r)})
				copy(want[2*r:], []byte{byte(r), byte(g.Rank())})
			}
			if err := g.AllToAll(background(), in, out); err != nil {
				return err
			}
			return same(out, want)
		})
	})
}

func TestBarrierWaitsForAll(t *testing.T) {
	everywhere(t, func(t *testing.T, gs []*group.Group) {
		came := make([]bool, len(gs))
		must(t, gs, func(g *group.Group) error {
			came[g.Rank()] = true // the race detector sees a barrier that lets ranks pass
			if err := g.Barrier(background()); err != nil {
				return err
			}
			if slices.Contains(came, false) {
				return fmt.Errorf("passed the barrier when only these had come: %v", came)
			}
			return nil
		})
	})
}

func TestWrongArgumentsSendNothing(t *testing.T) {
	cases := []struct {
		name  string
		call  func(g *group.Group) error
		words []string
	}{
		{"unknown op", func(g *group.Group) error {
			return g.AllReduceBytes(background(), 9, dtype.Float32, make([]byte, 4))
		}, []string{"all_reduce", "op(9)"}},
		{"mean of integers", func(g *group.Group) error {
			return g.AllReduceBytes(background(), group.Mean, dtype.Int32, make([]byte, 4))
		}, []string{"all_reduce", "mean", "int32"}},
		{"half an element", func(g *group.Group) error {
			return g.AllReduceBytes(background(), group.Sum, dtype.Float32, make([]byte, 6))
		}, []string{"all_reduce", "6 bytes", "float32"}},
		{"gather into too little", func(g *group.Group) error {
			return g.AllGatherBytes(background(), make([]byte, 4), make([]byte, 7))
		}, []string{"all_gather", "7 bytes", "want 8"}},
		{"scatter of what does not divide", func(g *group.Group) error {
			return g.ReduceScatterBytes(background(), group.Sum, dtype.Uint8, make([]byte, 5), make([]byte, 2))
		}, []string{"reduce_scatter", "5 bytes", "want 4"}},
		{"root too high", func(g *group.Group) error {
			return g.Broadcast(background(), 2, nil)
		}, []string{"broadcast", "root 2", "0 to 1"}},
		{"root negative", func(g *group.Group) error {
			return g.Gather(background(), -1, nil, nil)
		}, []string{"gather", "root -1"}},
		{"root's buffer too short", func(g *group.Group) error {
			return g.Scatter(background(), g.Rank(), make([]byte, 3), make([]byte, 2))
		}, []string{"scatter", "3 bytes", "want 4"}},
		{"all to all of an odd number", func(g *group.Group) error {
			return g.AllToAll(background(), make([]byte, 3), make([]byte, 3))
		}, []string{"all_to_all", "3 bytes", "2 ranks"}},
		{"all to all of two lengths", func(g *group.Group) error {
			return g.AllToAll(background(), make([]byte, 4), make([]byte, 2))
		}, []string{"all_to_all", "2 bytes", "want 4"}},
		{"negative color", func(g *group.Group) error {
			_, err := g.Split(background(), -2, 0)
			return err
		}, []string{"split", "color -2"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			gs := world(t, 2, nil)
			wantError(t, c.call(gs[0]), c.words...)
			must(t, gs, func(g *group.Group) error { return g.Barrier(background()) })
		})
	}
}

func TestGroupOfOneValidatesToo(t *testing.T) {
	g := group.Single()
	wantError(t, g.AllReduceBytes(background(), group.Mean, dtype.Bool, []byte{1}), "mean", "bool")
	wantError(t, g.Broadcast(background(), 1, nil), "root 1")
	wantError(t, g.AllGatherBytes(background(), []byte{1}, nil), "0 bytes", "want 1")
}

func TestDisagreements(t *testing.T) {
	reduce := func(op group.Op, t dtype.Type, bytes int) func(g *group.Group) error {
		return func(g *group.Group) error {
			return g.AllReduceBytes(background(), op, t, make([]byte, bytes))
		}
	}
	cases := []struct {
		name      string
		most, odd func(g *group.Group) error
		words     []string
	}{
		{"lengths", reduce(group.Sum, dtype.Float32, 16), reduce(group.Sum, dtype.Float32, 32), []string{"float32[4]", "float32[8]"}},
		{"types of one length", reduce(group.Sum, dtype.Float32, 16), reduce(group.Sum, dtype.Int32, 16), []string{"float32[4]", "int32[4]"}},
		{"ops", reduce(group.Sum, dtype.Float32, 16), reduce(group.Max, dtype.Float32, 16), []string{"sum float32", "max float32"}},
		{"collectives", reduce(group.Sum, dtype.Uint8, 4), func(g *group.Group) error {
			return g.AllGatherBytes(background(), make([]byte, 4), make([]byte, 12))
		}, []string{"all_reduce #1", "all_gather #1"}},
		{"roots", func(g *group.Group) error { return g.Broadcast(background(), 0, make([]byte, 4)) },
			func(g *group.Group) error { return g.Broadcast(background(), 1, make([]byte, 4)) },
			[]string{"from rank 0", "from rank 1"}},
		{"broadcast lengths", func(g *group.Group) error { return g.Broadcast(background(), 0, make([]byte, 1142)) },
			func(g *group.Group) error { return g.Broadcast(background(), 0, make([]byte, 1088)) },
			[]string{"1142 bytes", "1088 bytes"}},
		{"labels", func(g *group.Group) error {
			return g.Barrier(group.WithLabel(background(), "all_sum #17 float32[3 4]"))
		}, func(g *group.Group) error {
			return g.Barrier(group.WithLabel(background(), "all_max #17 float32[3 4]"))
		}, []string{"all_sum #17 float32[3 4]", "all_max #17 float32[3 4]"}},
	}
	for _, c := range cases {
		for kind, wrap := range kinds {
			t.Run(c.name+" in a "+kind+" world", func(t *testing.T) {
				gs := world(t, 3, wrap)
				errs := together(gs, func(g *group.Group) error {
					if g.Rank() == 1 {
						return c.odd(g)
					}
					return c.most(g)
				})
				for _, err := range errs {
					wantError(t, err, append(c.words, "ranks 0,2 called", "rank 1 called")...)
				}
				for _, err := range together(gs, func(g *group.Group) error { return g.Barrier(background()) }) {
					wantError(t, err, "barrier", "group broken")
				}
			})
		}
	}
}

func TestTypedFormsOfSlices(t *testing.T) {
	everywhere(t, func(t *testing.T, gs []*group.Group) {
		n := len(gs)
		must(t, gs, func(g *group.Group) error {
			mine := make([]float64, 2*n)
			for i := range mine {
				mine[i] = float64(100*g.Rank() + i)
			}
			before := slices.Clone(mine)
			sums, err := group.ReduceScatter(background(), g, group.Sum, mine)
			base := float64(100 * n * (n - 1) / 2)
			if want := []float64{base + float64(2*g.Rank()*n), base + float64((2*g.Rank()+1)*n)}; err != nil || !slices.Equal(sums, want) {
				return fmt.Errorf("reduce_scatter %v, %v; want %v", sums, err, want)
			}
			swapped, err := group.AllToAll(background(), g, mine)
			for r := range n {
				if err != nil || swapped[2*r] != float64(100*r+2*g.Rank()) || swapped[2*r+1] != float64(100*r+2*g.Rank()+1) {
					return fmt.Errorf("all_to_all %v, %v", swapped, err)
				}
			}
			all, err := group.Gather(background(), g, n-1, mine[:1])
			if err != nil || (all != nil) != (g.Rank() == n-1) {
				return fmt.Errorf("gather %v, %v", all, err)
			}
			for r, x := range all {
				if x != float64(100*r) {
					return fmt.Errorf("gathered %v", all)
				}
			}
			back := make([]float64, 1)
			if err := group.Scatter(background(), g, n-1, all, back); err != nil || back[0] != mine[0] {
				return fmt.Errorf("scatter %v, %v", back, err)
			}
			if !slices.Equal(mine, before) {
				return fmt.Errorf("input changed to %v", mine)
			}
			return nil
		})
	})
}

func TestTypedFormsRefuseWhatDoesNotDivide(t *testing.T) {
	g := world(t, 3, nil)[0]
	_, err := group.ReduceScatter(background(), g, group.Sum, make([]int8, 4))
	wantError(t, err, "reduce_scatter", "4 elements", "3 ranks")
	_, err = group.AllToAll(background(), g, make([]int8, 5))
	wantError(t, err, "all_to_all", "5 elements", "3 ranks")
}
