package ring

import (
	"slices"
	"time"
)

// answer is how many collectives a rank says it has begun.
type answer struct {
	rank     int
	sequence uint64
}

// censusTime is for how long nobody may answer, and more for each rank, which may
// share a processor with all others. Control connections answer whatever the program
// does, so that only stopped or unreachable ranks are still missing then.
const (
	censusTime    = 500 * time.Millisecond
	censusPerRank = 5 * time.Millisecond
	longestCensus = 3 * time.Second
)

// headStart is for how long a rank leaves the asking to the one below, which will tell
// it: when hundreds reach their deadline at once one of them asks all, and not all all.
const (
	headStart        = 5 * time.Millisecond
	longestHeadStart = 500 * time.Millisecond
)

// census asks all members how far they are and returns those that have not
// begun the collective with this number, and those that do not answer before the
// group ends.
func (c *comm) census(sequence uint64) (absent, silent []int) {
	c.asking.Lock()
	defer c.asking.Unlock()
	for r := range c.ranks {
		if r != c.rank {
			silent = append(silent, r)
		}
	}
	timer := time.NewTimer(min(time.Duration(c.rank)*headStart, longestHeadStart))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.life.Done():
		return nil, silent
	}
	c.forgetAnswers()
	c.tell(notice{kind: asks})
	quiet := censusTime + time.Duration(len(c.ranks))*censusPerRank
	until := time.Now().Add(longestCensus)
	for len(silent) > 0 {
		timer.Reset(min(quiet, time.Until(until)))
		a, ok := c.awaitAnswer(timer.C)
		if !ok {
			break
		}
		i := slices.Index(silent, a.rank)
		if i < 0 {
			continue
		}
		silent = slices.Delete(silent, i, i+1)
		if a.sequence < sequence {
			absent = append(absent, a.rank)
		}
	}
	return sorted(absent), silent
}

// awaitAnswer prefers an answer to the end of its time: both may have come while this
// process had no processor.
func (c *comm) awaitAnswer(timeout <-chan time.Time) (a answer, ok bool) {
	select {
	case a := <-c.answers:
		return a, true
	case <-c.life.Done():
		return a, false
	case <-timeout:
	}
	select {
	case a := <-c.answers:
		return a, true
	default:
		return a, false
	}
}

// forgetAnswers drops those that came after an earlier census.
func (c *comm) forgetAnswers() {
	for {
		select {
		case <-c.answers:
		default:
			return
		}
	}
}

func sorted(ranks []int) []int {
	slices.Sort(ranks)
	return ranks
}

func (c *comm) heardAnswer(r int, m notice) {
	select {
	case c.answers <- answer{r, m.number}:
	default: // more answers than questions
	}
}

// progress is how many collectives have begun here, and the latest.
func (c *comm) progress() (uint64, string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sequence, c.latest.String()
}
