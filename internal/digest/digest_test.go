package digest_test

import (
	"fmt"
	"testing"

	"github.com/lockstep-go/lockstep/internal/digest"
)

// TestTellsApart digests texts and numbers that are alike.
func TestTellsApart(t *testing.T) {
	seen := map[[16]byte]string{}
	note := func(sum [16]byte, what string) {
		if other, again := seen[sum]; again && other != what {
			t.Errorf("%s and %s have the same digest", what, other)
		}
		seen[sum] = what
	}
	texts := func(all ...string) {
		d := digest.New()
		for _, s := range all {
			d.Text(s)
		}
		note(d.Sum(), fmt.Sprintf("%q", all))
	}
	texts()
	for _, s := range []string{"", "a", "a\x00", "\x00a", "abcdefgh", "abcdefghi", "hgfedcba", "abcdefgh\x00"} {
		texts(s)
		texts(s, "")
		texts("", s)
	}
	texts("ab", "c")
	texts("a", "bc")
	for run := uint64(1); run <= 1000; run++ {
		for _, bytes := range []uint64{0, 4, 8, 1 << 20, 1 << 40} {
			d := digest.New()
			d.Word(run)
			d.Word(bytes)
			note(d.Sum(), fmt.Sprintf("%d %d", run, bytes))
		}
		texts(fmt.Sprintf("all_sum #%d float32[4]", run))
	}
}

// TestEveryBitCounts flips each bit of a word and wants many bits of the sum to
// flip, in both halves.
func TestEveryBitCounts(t *testing.T) {
	sum := func(w uint64) [16]byte {
		d := digest.New()
		d.Word(w)
		d.Text("all_reduce")
		return d.Sum()
	}
	for bit := range 64 {
		a, b := sum(0), sum(1<<bit)
		for half := range 2 {
			if [8]byte(a[8*half:]) == [8]byte(b[8*half:]) {
				t.Errorf("bit %d leaves half %d as it is", bit, half)
			}
		}
	}
}

func TestSameForTheSame(t *testing.T) {
	a, b := digest.New(), digest.New()
	for _, d := range []*digest.Digest{&a, &b} {
		d.Word(7)
		d.Text("all_reduce")
	}
	if a.Sum() != b.Sum() {
		t.Error("two digests of the same differ")
	}
}
