package onehost

import (
	"bytes"
	"testing"
)

// TestPartsOfBlocks cuts blocks in a row into parts of every length and puts them
// together again.
func TestPartsOfBlocks(t *testing.T) {
	blocks := [][]byte{[]byte("one"), nil, []byte("three"), {}, []byte("4")}
	want := []byte("onethree4")
	for step := 1; step <= len(want)+1; step++ {
		var got []byte
		for lo := 0; lo < len(want); lo += step {
			hi := min(lo+step, len(want))
			own := make([]byte, hi-lo)
			eachPart(blocks, lo, hi, func(part []byte, at int) { copy(own[at:], part) })
			got = append(got, own...)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("in steps of %d: %q, want %q", step, got, want)
		}
	}
}
