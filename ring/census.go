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

// censusTime is how long ranks have to answer. Their control connections answer
// whatever the program does, so that only a stopped or unreachable one is late.
const censusTime = 100 * time.Millisecond

// census asks all members how far they are and returns those that have not
// begun the collective with this number, and those that do not answer.
func (c *comm) census(sequence uint64) (absent, silent []int) {
	c.asking.Lock()
	defer c.asking.Unlock()
	c.forgetAnswers()
	for r := range c.ranks {
		if r != c.rank {
			silent = append(silent, r)
		}
	}
	c.tell(notice{kind: asks})
	timer := time.NewTimer(censusTime)
	defer timer.Stop()
	for len(silent) > 0 {
		select {
		case a := <-c.answers:
			i := slices.Index(silent, a.rank)
			if i < 0 {
				continue
			}
			silent = slices.Delete(silent, i, i+1)
			if a.sequence < sequence {
				absent = append(absent, a.rank)
			}
		case <-timer.C:
			return sorted(absent), silent
		}
	}
	return sorted(absent), silent
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
