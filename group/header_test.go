package group

import (
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
)

func TestHeaderRoundTrip(t *testing.T) {
	shapes := [][]int{{}, {0}, {7}, {2, 3}, {1 << 40, 0, 1 << 40}, slices.Repeat([]int{1}, maxDims)}
	for _, dt := range dtype.All() {
		for _, shape := range shapes {
			sent := header{dt, shape}
			n, err := sent.bytes()
			if err != nil {
				t.Fatalf("%v: %v", sent, err)
			}
			got, length, err := decodeHeader(sent.encode(make([]byte, headerBytes), make([]byte, n)), new([maxDims]int))
			if err != nil || !got.equal(sent) || length != n {
				t.Errorf("%v of %d bytes arrives as %v of %d, %v", sent, n, got, length, err)
			}
		}
	}
}

func FuzzHeader(f *testing.F) {
	f.Add(header{dtype.Float32, []int{2, 3}}.encode(make([]byte, headerBytes), make([]byte, 24)))
	f.Add(header{dtype.Bool, nil}.encode(make([]byte, headerBytes), []byte{1}))
	f.Add(make([]byte, headerBytes))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, n, err := decodeHeader(b, new([maxDims]int))
		if err != nil {
			return
		}
		if again, err := h.bytes(); err != nil || again != n || n < 0 {
			t.Errorf("accepted %v of %d bytes, which has %d, %v", h, n, again, err)
		}
		if elements := n / h.t.Size(); slices.Contains(h.shape, 0) != (elements == 0) {
			t.Errorf("accepted %v of %d bytes", h, n)
		}
	})
}
