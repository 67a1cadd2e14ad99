package agent

import (
	"encoding/gob"
	"io"
	"sync"
	"syscall"
)

// Order is what launch tells an agent. One that says nothing is a sign of life.
type Order struct {
	Reserve  []string // addresses at which ranks will listen, with port 0 for any
	Start    *Spec
	Input    []byte // for every rank that reads
	EndInput bool
	Signal   syscall.Signal // for every rank
}

// Kind says what a report is about.
type Kind int

const (
	Reserved Kind = iota + 1 // Addresses are kept for this job's ranks
	Started                  // every rank runs: Processes
	Failed                   // Text says what cannot be done, Usage that it is wrong use
	Taken                    // a rank has the last piece of input
	Output                   // of Rank: Data, on standard error if Err
	Exited                   // Rank ended with Status
	Over                     // nothing is left of the ranks, and all output has been reported
)

// Report is what an agent tells launch.
type Report struct {
	Kind      Kind
	Rank      int
	Err       bool
	Data      []byte
	Status    uint32
	Text      string
	Usage     bool
	Addresses []string
	Processes []int
}

// Spec is a set of ranks on one host. Strings are bytes: they reach the ranks as they are.
type Spec struct {
	Ranks   []int
	Size    int
	Program string   // a path, or a name to be found on PATH
	Args    []string // of which the first is the program as it was given
	Dir     string   // empty: Home if it is there
	Home    string   // launch's own directory
	Env     []string // NAME=value, over the agent's environment
	Input   []int    // the ranks that read input; the others find its end
	// The ring's meeting place: an address where rank 0 listens, or the content of a
	// host file. Neither: the process is not a rank but starts ranks itself.
	Coordinator string
	HostFile    []byte
	Token       []byte // kept where the ranks of this user find it
}

// Greeting goes before the first report, so that what a login prints can be told
// from it. It ends with the one byte that no text has.
const Greeting = "lockstep agent 1\x00"

// talk writes reports. After a failed write, which means that launch has left, it
// swallows the rest.
type talk struct {
	mu     sync.Mutex
	enc    *gob.Encoder
	failed bool
}

func newTalk(w io.Writer) *talk {
	_, err := io.WriteString(w, Greeting)
	return &talk{enc: gob.NewEncoder(w), failed: err != nil}
}

func (t *talk) report(r Report) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.failed {
		t.failed = t.enc.Encode(r) != nil
	}
}
