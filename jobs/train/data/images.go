package data

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// Images are labelled grey images of one size.
type Images struct {
	Pixels        []float32 // [Len, Height*Width] row by row, 0 background to 1 ink
	Height, Width int
	Labels        []int // [Len], each from 0 up
}

// Len returns the number of images.
func (m Images) Len() int { return len(m.Labels) }

// Features returns the number of pixels of one image.
func (m Images) Features() int { return m.Height * m.Width }

// Classes returns one more than the largest label, 0 when there are no images.
func (m Images) Classes() int {
	classes := 0
	for _, label := range m.Labels {
		classes = max(classes, label+1)
	}
	return classes
}

// Bytes returns the size, the labels and the pixels in grey levels of 0 to 255, so
// that the same images give the same bytes.
func (m Images) Bytes() []byte {
	b := fmt.Appendf(nil, "%d*%d*%d", m.Len(), m.Height, m.Width)
	for _, label := range m.Labels {
		b = binary.LittleEndian.AppendUint32(b, uint32(label))
	}
	for _, ink := range m.Pixels {
		b = append(b, byte(math.Round(255*float64(ink))))
	}
	return b
}

// OpenImages reads a pair of IDX files, plain or gzipped, as MNIST publishes them. Given the path of
// the images it finds the labels beside them: "images" and "idx3" in the file's name become
// "labels" and "idx1". Errors name the file.
func OpenImages(path string) (Images, error) {
	labelsPath, err := labelsBeside(path)
	if err != nil {
		return Images{}, err
	}
	images, err := openIDX(path)
	if err != nil {
		return Images{}, err
	}
	labels, err := openIDX(labelsPath)
	if err != nil {
		return Images{}, err
	}
	m, err := pairImages(images, labels)
	if err != nil {
		return Images{}, fmt.Errorf("%s with %s: %w", path, labelsPath, err)
	}
	return m, nil
}

// ReadImages is OpenImages for readers: images of shape [n, height, width], labels of shape [n].
func ReadImages(images, labels io.Reader) (Images, error) {
	pixels, err := ReadIDX(images)
	if err != nil {
		return Images{}, fmt.Errorf("images: %w", err)
	}
	classes, err := ReadIDX(labels)
	if err != nil {
		return Images{}, fmt.Errorf("labels: %w", err)
	}
	return pairImages(pixels, classes)
}

func labelsBeside(path string) (string, error) {
	dir, name := filepath.Split(path)
	if !strings.Contains(name, "images") {
		return "", fmt.Errorf("%s: no labels to be found for it: the name of a file of images has the word images in it", path)
	}
	return dir + strings.NewReplacer("images", "labels", "idx3", "idx1").Replace(name), nil
}

func openIDX(path string) (IDX, error) {
	file, err := os.Open(path)
	if err != nil {
		return IDX{}, err
	}
	x, err := ReadIDX(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return IDX{}, fmt.Errorf("%s: %w", path, err)
	}
	return x, nil
}

func pairImages(images, labels IDX) (Images, error) {
	if len(images.Shape) != 3 || len(labels.Shape) != 1 || images.Shape[0] != labels.Shape[0] {
		return Images{}, fmt.Errorf("images of shape %v and labels of shape %v: want [n height width] and [n]", images.Shape, labels.Shape)
	}
	m := Images{
		Pixels: make([]float32, len(images.Data)),
		Height: images.Shape[1],
		Width:  images.Shape[2],
		Labels: make([]int, len(labels.Data)),
	}
	for i, grey := range images.Data {
		m.Pixels[i] = float32(grey) / 255
	}
	for i, label := range labels.Data {
		m.Labels[i] = int(label)
	}
	return m, nil
}
