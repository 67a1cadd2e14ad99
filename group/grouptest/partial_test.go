package grouptest

import (
	"context"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

// summing adds one rank at a time, with a rounding each time, and has a mean
// divided at the end.
type summing struct{ *member }

func (m summing) AllReduce(ctx context.Context, op group.Op, t dtype.Type, data []byte) error {
	if op != group.Mean {
		return stepwise(m).AllReduce(ctx, op, t, data)
	}
	err := stepwise(m).AllReduce(ctx, group.Sum, t, data)
	if t.IsComplex() {
		t = dtype.Float32
	}
	for lo := 0; lo < len(data); lo += t.Size() {
		e := data[lo : lo+t.Size()]
		copy(e, encodeFloat(t, decodeFloat(t, e)/float64(m.Size())))
	}
	return err
}

// TestPartialSumsAreJudged runs cases on communicators that add partial sums, and
// on some that do not add well, under the weaker promise.
func TestPartialSumsAreJudged(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*member) group.Communicator
		cases []string
		fails bool
	}{
		{"rounding at every step is allowed", func(m *member) group.Communicator { return summing{m} },
			[]string{"sum of ranks", "every type and reduction", "every type in a long message", "lengths", "large", "same bits on every rank",
				"NaN on any one rank", "signed zeros and infinities", "group: reduce scatter", "known results, by partial sums"}, false},
		{"so is one rounding", func(m *member) group.Communicator { return m },
			[]string{"every type and reduction", "signed zeros and infinities", "known results, by partial sums"}, false},
		{"other bits on one rank are not", func(m *member) group.Communicator { return deviant{m} },
			[]string{"same bits on every rank", "every type and reduction", "every type in a long message"}, true},
		{"nor are sums of nothing", func(m *member) group.Communicator { return idle{m} },
			[]string{"sum of ranks", "every type and reduction", "lengths", "large", "group: reduce scatter", "known results, by partial sums"}, true},
		{"nor is a NaN that is dropped", func(m *member) group.Communicator { return comparing{m} },
			[]string{"NaN on any one rank"}, true},
	} {
		for _, name := range c.cases {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				var world []group.Communicator
				for _, comm := range NewWorld(4) {
					world = append(world, c.spoil(comm.(*member)))
				}
				s := &suite{size: 4, partial: true}
				if err := first(s.everyRank(t, world, caseNamed(t, name))...); (err != nil) != c.fails {
					t.Errorf("error %v, want one: %v", err, c.fails)
				}
			})
		}
	}
}

// TestOriginalsAreLeftOut sees that the weaker suite lacks what needs originals,
// and nothing else.
func TestOriginalsAreLeftOut(t *testing.T) {
	if less := len(allCases()) + 1 - len(partialCases()); less != len(ofOriginals) {
		t.Errorf("%d cases are left out, want %d, and one in their place", less, len(ofOriginals))
	}
}
