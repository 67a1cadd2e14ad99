package nn_test

import (
	"math"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/nn"
)

// floats computes x as float64s.
func floats(t *testing.T, x *array.Array) []float64 {
	t.Helper()
	v, err := array.Values[float64](t.Context(), x.AsType(dtype.Float64))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func normal(seed uint64, shape ...int) *array.Array {
	return random.Normal(random.NewKey(seed), dtype.Float32, shape...)
}

func TestEmbedding(t *testing.T) {
	e := &nn.Embedding{Weight: array.From([]float32{1, 2, 3, 4, 5, 6}, 3, 2)}
	values(t, "vectors", e.Forward(array.From([]int32{2, 0, 2}, 3, 1)), []float64{5, 6, 1, 2, 5, 6}, 3, 1, 2)
	grad := transform.Grad(func(w *array.Array) *array.Array {
		return (&nn.Embedding{Weight: w}).Forward(array.From([]int32{2, 0, 2})).Sum()
	})(e.Weight)
	values(t, "gradient", grad, []float64{1, 1, 0, 0, 2, 2}, 3, 2)
	if err := e.Forward(array.From([]int32{3})).Eval(t.Context()); err == nil || !strings.Contains(err.Error(), "3") {
		t.Errorf("a number outside the table: %v", err)
	}
}

func TestLayerNorm(t *testing.T) {
	l := nn.NewLayerNorm(4)
	l.Weight, l.Bias = array.From([]float32{1, 2, 3, 4}), array.From([]float32{0, 1, 0, -1})
	x := normal(1, 3, 4).MulScalar(5).AddScalar(2)
	in, want := floats(t, x), make([]float64, 12)
	w, b := floats(t, l.Weight), floats(t, l.Bias)
	for row := range 3 {
		mean, variance := 0.0, 0.0
		for i := range 4 {
			mean += in[4*row+i] / 4
		}
		for i := range 4 {
			variance += (in[4*row+i] - mean) * (in[4*row+i] - mean) / 4
		}
		for i := range 4 {
			want[4*row+i] = (in[4*row+i]-mean)/math.Sqrt(variance+1e-5)*w[i] + b[i]
		}
	}
	values(t, "normalised", l.Forward(x), want, 3, 4)
}

func TestGELU(t *testing.T) {
	x := []float32{-3, -1, -0.1, 0, 0.5, 2, 6}
	want := make([]float64, len(x))
	for i, v := range x {
		want[i] = float64(v) * 0.5 * math.Erfc(-float64(v)/math.Sqrt2)
	}
	values(t, "gelu", nn.GELU(array.From(x)), want, len(x))
}

func TestCrossEntropy(t *testing.T) {
	logits := normal(2, 2, 3, 5).MulScalar(10)
	targets := []int32{0, 4, 2, 2, 1, 3}
	in, want := floats(t, logits), make([]float64, 6)
	for i, target := range targets {
		sum := 0.0
		for _, v := range in[5*i : 5*i+5] {
			sum += math.Exp(v - in[5*i+int(target)])
		}
		want[i] = math.Log(sum)
	}
	values(t, "losses", nn.CrossEntropy(logits, array.From(targets, 2, 3)), want, 2, 3)
	huge := array.From([]float32{1e30, 0, -1e30})
	values(t, "huge logits", nn.CrossEntropy(huge, array.Scalar(int32(0))), []float64{0})
	values(t, "counted from the end", nn.CrossEntropy(huge, array.Scalar(int32(-1))), []float64{2e30})
}

func TestMistakesInLayers(t *testing.T) {
	logits, key := normal(2, 4, 3), random.NewKey(0)
	model, err := nn.NewLanguageModel(key, nn.LanguageModelConfig{Vocab: 5, Context: 4, Dims: 8, Layers: 1, Heads: 2})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		x    *array.Array
		want string
	}{
		"targets that are floats":    {nn.CrossEntropy(logits, array.Zeros(dtype.Float32, 4)), "cross_entropy at layers_test.go:"},
		"targets that are bool":      {nn.CrossEntropy(logits, array.Zeros(dtype.Bool, 4)), "targets are bool, not integers"},
		"too few targets":            {nn.CrossEntropy(logits, array.Zeros(dtype.Int32, 3)), "targets have shape [3], but logits [4 3] want [4]"},
		"one target":                 {nn.CrossEntropy(logits, array.Zeros(dtype.Int32, 1)), "targets have shape [1], but"},
		"targets in a column":        {nn.CrossEntropy(logits, array.Zeros(dtype.Int32, 4, 1)), "targets have shape [4 1], but"},
		"logits without classes":     {nn.CrossEntropy(array.Scalar(1.0), array.Scalar(int32(0))), "logits without an axis of classes"},
		"an earlier mistake":         {nn.CrossEntropy(logits.Add(normal(1, 7)), array.Zeros(dtype.Int32, 3)), "add at layers_test.go:"},
		"linear without inputs":      {nn.NewLinear(key, 0, 2, true).Forward(logits), "linear at layers_test.go:"},
		"linear with too few inputs": {nn.NewLinear(key, -1, 2, true).Weight, "-1 inputs and 2 outputs, want 1 or more"},
		"embedding of nothing":       {nn.NewEmbedding(key, 0, 2).Weight, "embedding at layers_test.go:"},
		"a text beyond the context":  {model.Forward(array.Zeros(dtype.Int32, 1, 6)), "language_model at layers_test.go:"},
	} {
		if err := c.x.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want %q in it", name, err, c.want)
		}
	}
}

// attend is attention written as loops over [time, dims] with one head after the
// other.
func attend(q, k, v []float64, time, dims, heads int, causal bool) []float64 {
	out, size := make([]float64, time*dims), dims/heads
	for h := range heads {
		for i := range time {
			weights, total := make([]float64, time), 0.0
			for j := range time {
				if causal && j > i {
					continue
				}
				score := 0.0
				for d := h * size; d < (h+1)*size; d++ {
					score += q[i*dims+d] * k[j*dims+d]
				}
				weights[j] = math.Exp(score / math.Sqrt(float64(size)))
				total += weights[j]
			}
			for d := h * size; d < (h+1)*size; d++ {
				for j := range time {
					out[i*dims+d] += weights[j] / total * v[j*dims+d]
				}
			}
		}
	}
	return out
}

func TestAttention(t *testing.T) {
	const time, dims, heads = 5, 6, 3
	for name, causal := range map[string]bool{"causal": true, "full": false} {
		a, err := nn.NewMultiHeadAttention(random.NewKey(3), dims, heads)
		if err != nil {
			t.Fatal(err)
		}
		a.Causal = causal
		x := normal(4, 1, time, dims)
		q, k, v := floats(t, a.QueryProj.Forward(x)), floats(t, a.KeyProj.Forward(x)), floats(t, a.ValueProj.Forward(x))
		mixed := array.From(attend(q, k, v, time, dims, heads, causal), 1, time, dims).AsType(dtype.Float32)
		values(t, name, a.Forward(x), floats(t, a.OutProj.Forward(mixed)), 1, time, dims)
	}
	if _, err := nn.NewMultiHeadAttention(random.NewKey(0), 6, 4); err == nil || !strings.Contains(err.Error(), "6 dimensions do not divide into 4 heads") {
		t.Errorf("error is %v", err)
	}
}

func TestALanguageModelSeesOnlyThePast(t *testing.T) {
	cfg := nn.LanguageModelConfig{Vocab: 7, Context: 8, Dims: 8, Layers: 2, Heads: 2}
	m, err := nn.NewLanguageModel(random.NewKey(5), cfg)
	if err != nil {
		t.Fatal(err)
	}
	a := m.Forward(array.From([]int32{1, 2, 3, 4, 5, 6}, 1, 6))
	b := m.Forward(array.From([]int32{1, 2, 3, 0, 0, 0}, 1, 6))
	past := a.Sub(b).SliceAxis(1, 0, 3).Abs().Max()
	future := a.Sub(b).SliceAxis(1, 3, 6).Abs().Max()
	if p, f := floats(t, past)[0], floats(t, future)[0]; p > 1e-6 || f < 1e-3 {
		t.Errorf("a change of later tokens moves earlier logits by %v and later ones by %v", p, f)
	}
	if cfg.Heads = 3; true {
		if _, err := nn.NewLanguageModel(random.NewKey(5), cfg); err == nil {
			t.Error("8 dimensions with 3 heads are accepted")
		}
	}
}

func TestEveryParameterOfALanguageModelHasAGradient(t *testing.T) {
	m, err := nn.NewLanguageModel(random.NewKey(6), nn.LanguageModelConfig{Vocab: 5, Context: 4, Dims: 4, Layers: 1, Heads: 2})
	if err != nil {
		t.Fatal(err)
	}
	tokens, next := array.From([]int32{0, 1, 2, 3}, 1, 4), array.From([]int32{1, 2, 3, 4}, 1, 4)
	lossOf := func() *array.Array { return nn.CrossEntropy(m.Forward(tokens), next).Mean() }
	_, grads := nn.ValueAndGrad(m, func(...*array.Array) *array.Array { return lossOf() })()
	for _, leaf := range nn.Parameters(m) {
		// A step along the gradient changes the loss by its squared length.
		g := grads.Get(leaf.Path)
		length := floats(t, g.Square().Sum())[0]
		params := nn.Parameters(m)
		const h = 1e-2
		try := func(sign float64) float64 {
			for i := range params {
				if params[i].Path == leaf.Path {
					moved := append(params[:0:0], params...)
					moved[i].Array = leaf.Array.Add(g.MulScalar(sign * h))
					if err := nn.Update(m, moved); err != nil {
						t.Fatal(err)
					}
				}
			}
			return floats(t, lossOf())[0]
		}
		slope := (try(1) - try(-1)) / (2 * h)
		if err := nn.Update(m, params); err != nil {
			t.Fatal(err)
		}
		if length == 0 || math.Abs(slope-length) > 1e-2*length+1e-4 {
			t.Errorf("%s: slope along the gradient is %v, want %v", leaf.Path, slope, length)
		}
	}
}
