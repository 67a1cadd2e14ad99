package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/jobs/train/data"
	"github.com/lockstep-go/lockstep/nn"
)

func TestPick(t *testing.T) {
	images := data.Images{
		Height: 1, Width: 2,
		Pixels: []float32{0, 0.1, 1, 0.2, 0.5, 0.3},
		Labels: []int{7, 8, 9},
	}
	inputs := pick(images, []int{2, 0, 2})
	pixels, err := array.Values[float32](t.Context(), inputs[0])
	if err != nil {
		t.Fatal(err)
	}
	if want := []float32{0.5, 0.3, 0, 0.1, 0.5, 0.3}; !slices.Equal(pixels, want) || !slices.Equal(inputs[0].Shape(), []int{3, 2}) {
		t.Errorf("pixels %v of shape %v, want %v of [3 2]", pixels, inputs[0].Shape(), want)
	}
	if labels := ints(t, inputs[1]); !slices.Equal(labels, []int32{9, 7, 9}) {
		t.Errorf("labels %v, want [9 7 9]", labels)
	}
}

func TestAccuracyCountsRightAnswers(t *testing.T) {
	model := nn.Func(func(x *array.Array) *array.Array { return x })
	inputs := []*array.Array{
		array.From([]float32{9, 1, 1, 1, 9, 1, 1, 1, 9, 1, 9, 1}, 4, 3),
		array.From([]int32{0, 1, 2, 2}),
	}
	if s, err := accuracy(t.Context(), model, inputs); err != nil || !strings.HasPrefix(s, "3 of 4 ") {
		t.Errorf("accuracy is %q, %v; want 3 of 4", s, err)
	}
	none := []*array.Array{array.From([]float32{}, 0, 3), array.From([]int32{})}
	if s, err := accuracy(t.Context(), model, none); err != nil || !strings.Contains(s, "no images") {
		t.Errorf("accuracy of nothing is %q, %v", s, err)
	}
}

func TestHeldBackImagesAreNotLearnt(t *testing.T) {
	task, err := newClassifier(options{})
	if err != nil {
		t.Fatal(err)
	}
	if held := data.Digits().Len() - task.examples; held != 179 {
		t.Errorf("%d images are held back of %d, want 179", held, data.Digits().Len())
	}
}

// writeIDX writes a file of unsigned bytes in the format of the MNIST data.
func writeIDX(t *testing.T, path string, body []byte, shape ...uint32) {
	t.Helper()
	content := []byte{0, 0, 8, byte(len(shape))}
	for _, n := range shape {
		content = binary.BigEndian.AppendUint32(content, n)
	}
	if err := os.WriteFile(path, append(content, body...), 0o600); err != nil {
		t.Fatal(err)
	}
}

// writeStripes writes n images of 28×28, of which the i-th has a bright stripe
// where its label says, and returns the path of the images.
func writeStripes(t *testing.T, n int) string {
	t.Helper()
	const side = 28
	pixels, labels := make([]byte, n*side*side), make([]byte, n)
	for i := range n {
		labels[i] = byte(i % 10)
		row := i*side*side + 2*side*(i%10)
		for j := range side {
			pixels[row+j] = 255
		}
	}
	dir := t.TempDir()
	writeIDX(t, filepath.Join(dir, "train-labels-idx1-ubyte"), labels, uint32(n))
	path := filepath.Join(dir, "train-images-idx3-ubyte")
	writeIDX(t, path, pixels, uint32(n), side, side)
	return path
}
