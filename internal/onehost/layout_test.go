package onehost

import (
	"reflect"
	"testing"

	"github.com/lockstep-go/lockstep/internal/shm"
)

// TestLayoutsDoNotOverlap also sees that the structures have the size that the
// layout counts on.
func TestLayoutsDoNotOverlap(t *testing.T) {
	if got := int(reflect.TypeFor[desk]().Size()); got != deskBytes {
		t.Errorf("a desk has %d bytes, want %d", got, deskBytes)
	}
	if got := int(reflect.TypeFor[shm.Fence]().Size()); got != fenceBytes {
		t.Errorf("a fence has %d bytes, want %d", got, fenceBytes)
	}
	for _, n := range []int{2, 3, 7, 64, 500} {
		l := layoutOf(n)
		at := fenceBytes
		next := func(what string, offset, bytes int) {
			if offset < at || offset%shm.Line != 0 || bytes <= 0 {
				t.Errorf("%d ranks: %s of %d bytes at %d, after %d", n, what, bytes, offset, at)
			}
			at = offset + bytes
		}
		for r := range n {
			next("desk", l.desk(r), deskBytes)
		}
		for _, turn := range []int{0, 1} {
			for r := range n {
				next("inbox", l.inboxAt(turn, r), l.inbox)
			}
		}
		for _, turn := range []int{0, 1} {
			for r := range n {
				next("outbox", l.outboxAt(turn, r), l.piece)
			}
		}
		if at > l.total() || n*l.piece > l.inbox || wholeBytes/n > l.inbox {
			t.Errorf("%d ranks: %+v of %d bytes, %d used", n, l, l.total(), at)
		}
	}
}
