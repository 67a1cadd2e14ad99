package main

import (
	"encoding/gob"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"github.com/lockstep-go/lockstep/jobs/launch/internal/agent"
)

// hear takes what a host's agent reports, until it has no more to say, and sees the
// agent to its end.
func (j *job) hear(h *host) {
	over := false
	for reports := gob.NewDecoder(h.stdout); ; {
		var r agent.Report
		if reports.Decode(&r) != nil {
			break
		}
		over = over || r.Kind == agent.Over
		j.take(h, r)
	}
	for _, rank := range h.ranks {
		for _, s := range j.streams[rank] {
			s.end()
		}
	}
	h.close()
	h.process.Wait()
	close(h.answers)
	if !over {
		j.lost <- fmt.Errorf("host %s: %w; %s ran there", h.title(), h.lost(), numbered(h.ranks))
	}
}

func (j *job) take(h *host, r agent.Report) {
	switch r.Kind {
	case agent.Output:
		s := j.streams[r.Rank][0]
		if r.Err {
			s = j.streams[r.Rank][1]
		}
		s.pass(r.Data)
	case agent.Exited:
		j.exits <- exit{j.name(h, r.Rank), syscall.WaitStatus(r.Status)}
	case agent.Taken:
		h.taken++
		j.taken.reach(h.taken)
	case agent.Reserved, agent.Started, agent.Failed:
		h.answers <- r
	}
}

// numbered names ranks in a message.
func numbered(ranks []int) string {
	var numbers []string
	for _, rank := range ranks {
		numbers = append(numbers, strconv.Itoa(rank))
	}
	if len(numbers) == 1 {
		return "rank " + numbers[0]
	}
	return "ranks " + strings.Join(numbers, ", ")
}
