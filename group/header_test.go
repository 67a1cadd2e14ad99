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
			first, rest := make([]byte, headerBytes), make([]byte, allDims)
			rest = sent.encode(first, rest, make([]byte, n))
			if follows(first) != len(rest) {
				t.Errorf("%v: %d bytes follow, the header says %d", sent, len(rest), follows(first))
			}
			got, length, err := decodeHeader(first, rest, new([maxDims]int))
			if err != nil || !got.equal(sent) || length != n {
				t.Errorf("%v of %d bytes arrives as %v of %d, %v", sent, n, got, length, err)
			}
		}
	}
}

func FuzzHeader(f *testing.F) {
	for _, h := range []header{{dtype.Float32, []int{2, 3}}, {dtype.Bool, nil}, {dtype.Int8, []int{1, 1, 1, 1, 7}}} {
		first, rest := make([]byte, headerBytes), make([]byte, allDims)
		n, _ := h.bytes()
		rest = h.encode(first, rest, make([]byte, n))
		f.Add(append(first, rest...))
	}
	f.Add(make([]byte, headerBytes))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < headerBytes || len(b) < headerBytes+follows(b) {
			return
		}
		h, n, err := decodeHeader(b[:headerBytes], b[headerBytes:], new([maxDims]int))
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
