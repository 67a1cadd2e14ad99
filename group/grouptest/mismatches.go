package grouptest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

// plan is a collective with the text that describes it.
type plan struct {
	text string
	call func(ctx context.Context, comm group.Communicator) error
}

func reducePlan(op group.Op, t dtype.Type, elems int) plan {
	return plan{
		fmt.Sprintf("all_%v %v [%d]", op, t, elems),
		func(ctx context.Context, comm group.Communicator) error {
			return comm.AllReduce(ctx, op, t, make([]byte, elems*t.Size()))
		},
	}
}

func gatherPlan(bytes int) plan {
	return plan{
		fmt.Sprintf("all_gather of %d bytes", bytes),
		func(ctx context.Context, comm group.Communicator) error {
			return comm.AllGather(ctx, make([]byte, bytes), make([]byte, bytes*comm.Size()))
		},
	}
}

// mismatchCases let the last rank call something else than the others.
func mismatchCases() []testCase {
	sum := reducePlan(group.Sum, dtype.Float32, 4)
	cases := []testCase{
		mismatch("reductions disagree", "R24", sum, reducePlan(group.Max, dtype.Float32, 4)),
		mismatch("types disagree", "R23", sum, reducePlan(group.Sum, dtype.Int32, 4)),
		mismatch("lengths disagree", "R22", sum, reducePlan(group.Sum, dtype.Float32, 8)),
		mismatch("a short and a long reduction", "", sum, reducePlan(group.Sum, dtype.Float32, 30_000)),
		mismatch("a long and a short reduction", "", reducePlan(group.Sum, dtype.Float32, 30_000), sum),
		mismatch("reduce meets gather", "", sum, gatherPlan(16)),
		mismatch("gathers of different lengths", "A7", gatherPlan(16), gatherPlan(100_000)),
		mismatch("same bytes of another record", "", sum, plan{"all_sum #2 of another array", sum.call}),
	}
	return append(cases, testCase{
		name:  "fingerprints that agree",
		rule:  "Ranks whose fingerprints agree do not notice them, with or without one before every collective.",
		least: 1,
		needs: fingerprinter,
		check: agreeing,
	})
}

// mismatch is a case in which the last rank calls odd and the others most; row is
// one of the conformance list, or empty.
func mismatch(name, row string, most, odd plan) testCase {
	var rows []string
	if row != "" {
		rows = []string{row}
	}
	return testCase{
		name:  name,
		rows:  rows,
		rule:  "When ranks disagree, the collective is a MismatchError on every rank, with every rank's text, before any data is used; later calls fail at once.",
		least: 2,
		needs: fingerprinter,
		check: func(ctx context.Context, comm group.Communicator) error {
			mine := most
			want := slices.Repeat([]string{most.text}, comm.Size())
			want[comm.Size()-1] = odd.text
			if isLast(comm) {
				mine = odd
			}
			comm.(group.Fingerprinter).Next(fingerprint(mine.text), mine.text)
			err := mine.call(ctx, comm)
			var disagree *group.MismatchError
			if !errors.As(err, &disagree) || !slices.Equal(disagree.Calls, want) {
				return fmt.Errorf("error %q (%T), want a MismatchError with the calls %q", fmt.Sprint(err), err, want)
			}
			return failsAtOnce(ctx, comm)
		},
	}
}

// fingerprint is sixteen bytes that depend on all of text.
func fingerprint(text string) []byte {
	salt := 0
	for _, c := range text {
		salt = salt*31 + int(c)
	}
	return seeded(0, salt).bytes(16)
}

func agreeing(ctx context.Context, comm group.Communicator) error {
	for round := range 6 {
		text := fmt.Sprint("round ", round)
		if round%3 != 2 {
			comm.(group.Fingerprinter).Next(fingerprint(text), text)
		}
		if err := countRound(ctx, comm, round, 1+round*300); err != nil {
			return err
		}
	}
	return nil
}
