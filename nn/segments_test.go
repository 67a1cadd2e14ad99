package nn_test

import (
	"fmt"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/conform"
	"github.com/lockstep-go/lockstep/nn"
)

// counting is a layer whose row i holds only i, as does its bias.
func counting(rows int) *nn.Linear {
	numbers := array.Arange(0, float64(rows), 1, dtype.Float32)
	return &nn.Linear{Weight: numbers.ExpandDims(1).Mul(array.Ones(dtype.Float32, 1, 2)), Bias: numbers}
}

func TestSegments(t *testing.T) {
	for _, c := range []struct {
		id       string
		name     string
		rows     int
		segments nn.Segments
		want     [][]float64 // rows of each rank
	}{
		{"SEG1", "one segment", 12, nn.Segments{}, [][]float64{{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}}},
		{"SEG1", "one segment by number", 12, nn.Segments{Count: 1}, [][]float64{{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}}},
		{"SEG2", "three segments", 12, nn.Segments{Count: 3}, [][]float64{{0, 1, 4, 5, 8, 9}, {2, 3, 6, 7, 10, 11}}},
		{"SEG3", "places", 12, nn.Segments{At: []int{6, 8}}, [][]float64{{0, 1, 2, 6, 8, 9}, {3, 4, 5, 7, 10, 11}}},
		{"SEG4", "fractions", 16, nn.Segments{Fractions: []float64{0.5, 0.75}}, [][]float64{{0, 1, 2, 3, 8, 9, 12, 13}, {4, 5, 6, 7, 10, 11, 14, 15}}},
		{"SEG5", "a fraction that is rounded", 200, nn.Segments{Fractions: []float64{0.29}}, nil},
		{"SEG3", "an empty segment", 4, nn.Segments{At: []int{0, 2, 4}}, [][]float64{{0, 2}, {1, 3}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			conform.Row(t, c.id)
			if c.want == nil {
				c.want = make([][]float64, 2) // 58 and 142 rows, halved
				for i := range 200 {
					r := 0
					if i >= 29 && i < 58 || i >= 58+71 {
						r = 1
					}
					c.want[r] = append(c.want[r], float64(i))
				}
			}
			world(t, 2, func(g *group.Group) {
				full := counting(c.rows)
				want := c.want[g.Rank()]
				l, err := nn.AllToShardedFromLinear(full, c.segments, g)
				if err != nil {
					t.Error(err)
					return
				}
				values(t, "bias", l.Bias, want, len(want))
				values(t, "weight", l.Weight.Sum(1), twice(want), len(want))
				whole := nn.FullParameters(l)
				near(t, "gathered weight", whole[0].Array, full.Weight, 0, 0)
				near(t, "gathered bias", whole[1].Array, full.Bias, 0, 0)

				columns := &nn.Linear{Weight: full.Weight.T()}
				in, err := nn.ShardedToAllFromLinear(columns, c.segments, g)
				if err != nil {
					t.Error(err)
					return
				}
				values(t, "columns", in.Weight.Sum(0), twice(want), len(want))
				near(t, "gathered columns", nn.FullParameters(in)[0].Array, columns.Weight, 0, 0)

				inplace := counting(c.rows)
				if err := nn.ShardInplace(inplace, nn.AllToSharded, c.segments, g); err != nil {
					t.Error(err)
				}
				values(t, "in place", inplace.Bias, want, len(want))
			})
		})
	}
}

func twice(xs []float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = 2 * x
	}
	return out
}

// 0.29·100 is a little less than 29.
func TestAFractionOfRowsIsRounded(t *testing.T) {
	conform.Row(t, "SEG5")
	worlds(t, []int{29}, func(t *testing.T, g *group.Group) { // 29 rows for 29 ranks; the other 71 do not divide
		_, err := nn.AllToShardedFromLinear(counting(100), nn.Segments{Fractions: []float64{0.29}}, g)
		says(t, err, "segment 1, 71 of 100 output features, does not divide into 29 shards")
	})
}

func TestSegmentsThatDoNotFit(t *testing.T) {
	conform.Row(t, "SEG6")
	world(t, 2, func(g *group.Group) {
		for _, c := range []struct {
			rows     int
			segments nn.Segments
			says     string
		}{
			{12, nn.Segments{Count: 4}, "segment 0, 3 of 12 output features, does not divide into 2 shards"},
			{12, nn.Segments{At: []int{6, 9}}, "segment 1, 3 of 12 output features, does not divide into 2 shards"},
			{11, nn.Segments{}, "11 output features do not divide into 2 shards"},
			{12, nn.Segments{Count: 5}, "12 output features do not divide into 5 segments of one length"},
			{12, nn.Segments{Count: -1}, "-1 segments, want 1 or more"},
			{12, nn.Segments{At: []int{8, 6}}, "[8 6] do not lie in order in 12 output features"},
			{12, nn.Segments{At: []int{14}}, "[14] do not lie in order"},
			{12, nn.Segments{At: []int{-2}}, "[-2] do not lie in order"},
			{12, nn.Segments{Fractions: []float64{1.5}}, "fractions [1.5], want numbers from 0 to 1"},
			{12, nn.Segments{Count: 2, At: []int{6}}, "want one of Count, At and Fractions"},
		} {
			_, err := nn.AllToShardedFromLinear(counting(c.rows), c.segments, g)
			says(t, err, "all_to_sharded_linear: ", c.says)
		}
	})
}

// Segments of quantized layers count features, whatever holds them.
func TestSegmentsOfQuantizedLayers(t *testing.T) {
	conform.Row(t, "SEG2", "SEG3")
	for _, segments := range []nn.Segments{{Count: 3}, {At: []int{128, 256}}, {Fractions: []float64{1. / 3}}} {
		for _, bits := range []int{3, 4, 8} {
			t.Run(fmt.Sprintf("%+v, %d bits", segments, bits), func(t *testing.T) {
				world(t, 2, func(g *group.Group) {
					full := nn.NewLinear(random.NewKey(1), 384, 384, true)
					q, err := nn.QuantizedFromLinear(full, array.Quantization{Bits: bits})
					if err != nil {
						t.Error(err)
						return
					}
					in, err := nn.QuantizedShardedToAllFromLinear(q, segments, g)
					out, err2 := nn.QuantizedAllToShardedFromLinear(q, segments, g)
					if err != nil || err2 != nil {
						t.Error(err, err2)
						return
					}
					// The same segments of a layer that holds the unpacked weight.
					plain := &nn.Linear{Weight: array.Dequantize(q.Weight, q.Scales, q.Biases, q.Quantization), Bias: q.Bias}
					x := normal(2, 3, 384)
					pickIn, err := nn.AllToShardedFromLinear(&nn.Linear{Weight: x.T()}, segments, g)
					pickOut, err2 := nn.AllToShardedFromLinear(&nn.Linear{Weight: plain.Forward(x).T()}, segments, g)
					if err != nil || err2 != nil {
						t.Error(err, err2)
						return
					}
					near(t, "sharded to all", in.Forward(pickIn.Weight.T()), plain.Forward(x), 1e-5, 1e-4)
					near(t, "all to sharded", out.Forward(x), pickOut.Weight.T(), 1e-5, 1e-4)
					for i, leaf := range nn.FullParameters(in) {
						near(t, "gathered "+leaf.Path, leaf.Array, nn.Parameters(q)[i].Array, 0, 0)
					}
					inplace := &nn.QuantizedLinear{Weight: q.Weight, Scales: q.Scales, Biases: q.Biases, Bias: q.Bias, Quantization: q.Quantization}
					if err := nn.ShardInplace(inplace, nn.ShardedToAll, segments, g); err != nil {
						t.Error(err)
						return
					}
					for i, leaf := range nn.Parameters(in) {
						near(t, "in place "+leaf.Path, nn.Parameters(inplace)[i].Array, leaf.Array, 0, 0)
					}
				})
			})
		}
	}
	world(t, 2, func(g *group.Group) {
		q, err := nn.NewQuantizedLinear(random.NewKey(1), 384, 8, true, array.Quantization{})
		if err != nil {
			t.Error(err)
			return
		}
		_, err = nn.QuantizedShardedToAllFromLinear(q, nn.Segments{At: []int{64}}, g)
		says(t, err, "384 input features do not split into 2 shards of whole groups of 64")
	})
}
