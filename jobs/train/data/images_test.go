package data

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestOpenImagesFindsTheLabels(t *testing.T) {
	images := idx(8, []uint32{2, 1, 3}, 0, 51, 255, 102, 0, 0)
	labels := idx(8, []uint32{2}, 4, 1)
	for _, name := range []string{"train-images-idx3-ubyte", "t10k-images.idx3-ubyte.gz", "images"} {
		t.Run(name, func(t *testing.T) {
			// The folder's own name has the word too, and must stay.
			dir := filepath.Join(t.TempDir(), "images")
			write(t, filepath.Join(dir, name), zipped(t, images))
			beside := strings.ReplaceAll(strings.ReplaceAll(name, "images", "labels"), "idx3", "idx1")
			write(t, filepath.Join(dir, beside), labels)
			m, err := OpenImages(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if m.Height != 1 || m.Width != 3 || m.Features() != 3 || m.Classes() != 5 || !slices.Equal(m.Labels, []int{4, 1}) {
				t.Errorf("images %+v", m)
			}
			if want := []float32{0, 0.2, 1, 0.4, 0, 0}; !slices.Equal(m.Pixels, want) {
				t.Errorf("pixels %v, want %v", m.Pixels, want)
			}
		})
	}
}

func TestOpenImagesNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x-images")
	cases := []struct {
		name           string
		images, labels []byte
		want           string
	}{
		{"no images", nil, nil, "x-images: no such file"},
		{"no labels", idx(8, []uint32{0, 1, 1}), nil, "x-labels: no such file"},
		{"damaged labels", idx(8, []uint32{0, 1, 1}), []byte("text"), "x-labels: idx: starts with"},
		{"too few labels", idx(8, []uint32{1, 1, 1}, 9), idx(8, []uint32{0}), "x-labels: images of shape [1 1 1] and labels of shape [0]: want [n height width] and [n]"},
		{"labels as images", idx(8, []uint32{1}, 9), idx(8, []uint32{1}, 9), "images of shape [1]"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.images != nil {
				write(t, path, c.images)
			}
			if c.labels != nil {
				write(t, filepath.Join(dir, "x-labels"), c.labels)
			}
			if _, err := OpenImages(path); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
	if _, err := OpenImages("digits.idx"); err == nil || !strings.Contains(err.Error(), "digits.idx: no labels to be found") {
		t.Errorf("a name without the word images: error %v", err)
	}
}

func TestReadImages(t *testing.T) {
	images, labels := idx(8, []uint32{1, 1, 1}, 255), idx(8, []uint32{1}, 3)
	m, err := ReadImages(bytes.NewReader(images), bytes.NewReader(labels))
	if err != nil || m.Len() != 1 || m.Pixels[0] != 1 || m.Labels[0] != 3 {
		t.Errorf("images %+v, error %v", m, err)
	}
	if _, err := ReadImages(bytes.NewReader(nil), bytes.NewReader(labels)); err == nil || !strings.HasPrefix(err.Error(), "images: idx: ") {
		t.Errorf("empty images: error %v", err)
	}
	if _, err := ReadImages(bytes.NewReader(images), bytes.NewReader(nil)); err == nil || !strings.HasPrefix(err.Error(), "labels: idx: ") {
		t.Errorf("empty labels: error %v", err)
	}
}

func TestNoImagesHaveNoClasses(t *testing.T) {
	if got := (Images{}).Classes(); got != 0 {
		t.Errorf("%d classes", got)
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}
