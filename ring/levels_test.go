package ring

import (
	"errors"
	"testing"

	"github.com/lockstep-go/lockstep/group"
)

// TestBrokenWhileOthersMeet has a rank that is alone on its host break a new group
// at once, while those of another host still agree whether they share memory. That
// is for the new group's first call to say: the split is done, and its parent whole.
func TestBrokenWhileOthersMeet(t *testing.T) {
	comms := worldOf(t, 8, func(r int) Config { return Config{host: "aaaaaaab"[r : r+1]} })
	defer everyRank(8, func(r int) { comms[r].Close() })
	for range 40 {
		everyRank(8, func(r int) {
			part, err := comms[r].(group.Splitter).Split(t.Context(), 0, 0)
			if err != nil {
				t.Errorf("rank %d: %v", r, err)
				return
			}
			if r == 7 {
				part.(interface{ Break(error) }).Break(errors.New("no more of this"))
			}
			part.Close()
		})
		if t.Failed() {
			return
		}
	}
	sumAll(t, comms)
}
