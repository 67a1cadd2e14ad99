package main

import (
	"fmt"
	"syscall"
	"time"

	"github.com/lockstep-go/lockstep/jobs/launch/internal/agent"
)

const (
	// settling is how long the first failure waits for others that explain it.
	settling = 200 * time.Millisecond
	// patience is how long ranks that were killed, and agents that were told to
	// leave, may stay before launch leaves.
	patience = 3 * time.Second
)

// ending is how a job comes to its end: what happened, and what is due next.
type ending struct {
	failures    []exit
	verdict     *verdict // nil while nothing ends the job
	interrupted bool
	done        chan struct{}    // closed when every rank is over
	settled     <-chan time.Time // time to ask the others to end
	forced      <-chan time.Time // time to kill them
	left        <-chan time.Time // time to leave whoever is still there
}

// verdict is launch's exit code and the line that explains it.
type verdict struct {
	code int
	text string
}

// await returns when every rank is over or has outlasted its end by force.
func (j *job) await() verdict {
	for {
		select {
		case e := <-j.exits:
			j.note(e)
		case <-j.settled:
			j.finish(syscall.SIGTERM, verdict{})
		case s := <-j.signals:
			j.interrupt(s.(syscall.Signal))
		case err := <-j.lost:
			j.finish(syscall.SIGTERM, verdict{codeFailure, err.Error()})
		case err := <-j.broken:
			j.finish(syscall.SIGTERM, verdict{codeFailure, fmt.Sprintf("passing on output: %v", err)})
		case <-j.forced:
			j.kill()
		case <-j.left:
			if j.interrupted || !j.passing() {
				return j.conclude()
			}
			j.left = time.After(patience)
		case <-j.done:
			return j.conclude()
		}
	}
}

func (j *job) note(e exit) {
	if !e.failed() {
		return
	}
	j.failures = append(j.failures, e)
	if len(j.failures) == 1 && j.verdict == nil {
		j.settled = time.After(settling)
	}
}

// finish asks all ranks to end by sig. A failure seen before explains the end
// better than v does.
func (j *job) finish(sig syscall.Signal, v verdict) {
	if j.verdict != nil {
		return
	}
	if len(j.failures) > 0 {
		v = verdictOn(cause(j.failures))
	}
	j.verdict = &v
	j.signal(sig)
	j.forced = time.After(j.grace)
}

// interrupt passes a signal on; one that comes while the job ends already ends it
// by force.
func (j *job) interrupt(s syscall.Signal) {
	j.interrupted = true
	if j.verdict != nil {
		j.kill()
		return
	}
	j.finish(s, interrupted(s))
}

func interrupted(s syscall.Signal) verdict {
	return verdict{128 + int(s), fmt.Sprintf("ended by signal %d (%v)", int(s), s)}
}

func (j *job) kill() {
	j.signal(syscall.SIGKILL)
	j.left = time.After(patience)
}

func (j *job) signal(s syscall.Signal) {
	for _, h := range j.hosts {
		h.tell(agent.Order{Signal: s})
	}
}

// passing reports whether launch waits for whoever reads its output, behind which
// an agent's word that all is over may stand.
func (j *job) passing() bool { return j.stdout.writing.Load() || j.stderr.writing.Load() }

func (j *job) conclude() verdict {
	for len(j.exits) > 0 {
		j.note(<-j.exits)
	}
	switch {
	case j.verdict != nil:
		return *j.verdict
	case len(j.failures) > 0:
		return verdictOn(cause(j.failures))
	}
	return verdict{}
}

func verdictOn(e exit) verdict { return verdict{e.code(), e.String()} }

// report prints the line that explains v, if there is one, and returns the code.
func (j *job) report(v verdict) int {
	if v.text != "" {
		j.stderr.printf("%s", v.text)
	}
	return v.code
}
