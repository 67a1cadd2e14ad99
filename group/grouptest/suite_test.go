package grouptest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

// TestSuiteNoticesFaults runs single cases on communicators that break their rule.
func TestSuiteNoticesFaults(t *testing.T) {
	faults := []struct {
		name  string
		ranks int
		spoil func(*member) group.Communicator
		cases []string // that have to fail
	}{
		{"all_reduce leaves the data alone", 3, func(m *member) group.Communicator { return idle{m} },
			[]string{"sum of ranks", "every type and reduction", "lengths", "large", "back to back", "group: reduce scatter"}},
		{"all_reduce rounds at every step", 4, func(m *member) group.Communicator { return stepwise{m} },
			[]string{"known results", "every type and reduction"}},
		{"one rank gets other bits", 3, func(m *member) group.Communicator { return deviant{m} },
			[]string{"same bits on every rank"}},
		{"NaN is dropped", 3, func(m *member) group.Communicator { return comparing{m} },
			[]string{"NaN on any one rank"}},
		{"all_gather starts at another rank", 3, func(m *member) group.Communicator { return rotated{m} },
			[]string{"gather", "different collectives in turn", "group: gather of typed slices"}},
		{"tags are ignored", 2, func(m *member) group.Communicator { return untagged{m} },
			[]string{"tags out of order"}},
		{"lengths are ignored", 2, func(m *member) group.Communicator { return lax{m} },
			[]string{"another length"}},
		{"arguments are not checked", 2, func(m *member) group.Communicator { return trusting{m} },
			[]string{"wrong reductions", "gather into the wrong length", "wrong peers and tags"}},
		{"keys are ignored", 3, func(m *member) group.Communicator { return keyless{m} },
			[]string{"split with reversed keys", "split of a split"}},
		{"texts are lost", 3, func(m *member) group.Communicator { return mute{m} },
			[]string{"reductions disagree", "same bytes of another record"}},
		{"close does nothing", 2, func(m *member) group.Communicator { return immortal{m} },
			[]string{"close twice"}},
		{"errors say nothing", 2, func(m *member) group.Communicator { return silent{m} },
			[]string{"collective past its deadline", "collective that is cancelled", "receive that is given up", "closed peer in a collective", "break ends collectives"}},
	}
	for _, f := range faults {
		for _, name := range f.cases {
			t.Run(f.name+"/"+name, func(t *testing.T) {
				var world []group.Communicator
				for _, comm := range NewWorld(f.ranks) {
					world = append(world, f.spoil(comm.(*member)))
				}
				s := &suite{size: f.ranks}
				if first(s.everyRank(t, world, caseNamed(t, name))...) == nil {
					t.Error("not noticed")
				}
			})
		}
	}
}

func caseNamed(t *testing.T, name string) check {
	for _, c := range slices.Concat(allCases(), partialCases()) {
		if c.name == name {
			return c.check
		}
	}
	t.Fatalf("no case %q", name)
	return nil
}

type idle struct{ *member }

func (idle) AllReduce(context.Context, group.Op, dtype.Type, []byte) error { return nil }

// stepwise reduces two ranks at a time, with a rounding each time.
type stepwise struct{ *member }

func (m stepwise) AllReduce(ctx context.Context, op group.Op, t dtype.Type, data []byte) error {
	all := make([]byte, len(data)*m.Size())
	if err := m.AllGather(ctx, data, all); err != nil {
		return err
	}
	copy(data, all)
	for r := 1; r < m.Size(); r++ {
		copy(data, expect(op, t, [][]byte{data, all[r*len(data):][:len(data)]}))
	}
	return nil
}

type deviant struct{ *member }

func (m deviant) AllReduce(ctx context.Context, op group.Op, t dtype.Type, data []byte) error {
	err := m.member.AllReduce(ctx, op, t, data)
	if m.rank == 1 && len(data) > 0 {
		data[len(data)-1] ^= 1
	}
	return err
}

// comparing replaces NaN by zero before a reduction.
type comparing struct{ *member }

func (m comparing) AllReduce(ctx context.Context, op group.Op, t dtype.Type, data []byte) error {
	for lo := 0; t.IsFloat() && lo < len(data); lo += t.Size() {
		if e := data[lo : lo+t.Size()]; decodeFloat(t, e) != decodeFloat(t, e) {
			clear(e)
		}
	}
	return m.member.AllReduce(ctx, op, t, data)
}

type rotated struct{ *member }

func (m rotated) AllGather(ctx context.Context, in, out []byte) error {
	all := make([]byte, len(out))
	err := m.member.AllGather(ctx, in, all)
	copy(out[copy(out, all[len(in):]):], all)
	return err
}

type untagged struct{ *member }

func (m untagged) Send(ctx context.Context, dst, _ int, data []byte) error {
	return m.member.Send(ctx, dst, 0, data)
}

func (m untagged) Recv(ctx context.Context, src, _ int, data []byte) error {
	return m.member.Recv(ctx, src, 0, data)
}

type lax struct{ *member }

func (m lax) Recv(ctx context.Context, src, tag int, data []byte) error {
	var length *group.LengthError
	if err := m.member.Recv(ctx, src, tag, data); !errors.As(err, &length) {
		return err
	}
	return nil
}

// trusting turns every error into success.
type trusting struct{ *member }

func (m trusting) AllReduce(ctx context.Context, op group.Op, t dtype.Type, data []byte) error {
	_ = m.member.AllReduce(ctx, op, t, data)
	return nil
}

func (m trusting) AllGather(ctx context.Context, in, out []byte) error {
	_ = m.member.AllGather(ctx, in, out)
	return nil
}

func (m trusting) Send(ctx context.Context, dst, tag int, data []byte) error {
	_ = m.member.Send(ctx, dst, tag, data)
	return nil
}

type keyless struct{ *member }

func (m keyless) Split(ctx context.Context, color, _ int) (group.Communicator, error) {
	return m.member.Split(ctx, color, 0)
}

type mute struct{ *member }

func (mute) Next([]byte, string) {}

type immortal struct{ *member }

func (immortal) Close() error { return nil }

// silent hides what went wrong.
type silent struct{ *member }

var errSilent = errors.New("failed")

func hide(err error) error {
	if err != nil {
		return errSilent
	}
	return nil
}

func (m silent) AllReduce(ctx context.Context, op group.Op, t dtype.Type, data []byte) error {
	return hide(m.member.AllReduce(ctx, op, t, data))
}

func (m silent) AllGather(ctx context.Context, in, out []byte) error {
	return hide(m.member.AllGather(ctx, in, out))
}

func (m silent) Recv(ctx context.Context, src, tag int, data []byte) error {
	return hide(m.member.Recv(ctx, src, tag, data))
}
