package slurm

import (
	"fmt"
	"net"
	"strconv"

	"github.com/lockstep-go/lockstep/internal/env"
)

// Step is what Slurm says of the step that this process is a task of.
type Step struct {
	Job, Step   int
	Rank, Size  int
	Node, Local int      // which of Nodes, and which of the tasks there, this task is
	Nodes       []string // the names of its nodes
	Tasks       []int    // on each of Nodes
}

// LookupStep reads the step's variables, which srun sets. Those that are missing, wrong or
// contradict each other are an error that names and quotes them.
func LookupStep() (Step, error) {
	said, err := env.LookupStep()
	if err != nil {
		return Step{}, err
	}
	return read(said)
}

func read(said env.Step) (Step, error) {
	s := Step{Job: said.Job, Step: said.Step, Rank: said.Rank, Size: said.Size, Node: said.Node, Local: said.Local}
	var err error
	if s.Nodes, err = ExpandHosts(said.Nodes); err != nil {
		return Step{}, fmt.Errorf("%s: %w", env.SlurmNodes, err)
	}
	if s.Tasks, err = ExpandTasks(said.PerNode); err != nil {
		return Step{}, fmt.Errorf("%s: %w", env.SlurmPerNode, err)
	}
	total := 0
	for _, tasks := range s.Tasks {
		total += tasks
	}
	nodes, perNode := shortened(said.Nodes), shortened(said.PerNode)
	switch {
	case len(s.Tasks) != len(s.Nodes):
		return Step{}, fmt.Errorf("%s=%s has %d nodes, %s=%s has %d", env.SlurmNodes, nodes, len(s.Nodes), env.SlurmPerNode, perNode, len(s.Tasks))
	case total != s.Size:
		return Step{}, fmt.Errorf("%s=%s has %d tasks in all, and the step has %d", env.SlurmPerNode, perNode, total, s.Size)
	case s.Rank >= s.Size:
		return Step{}, fmt.Errorf("%s is %d; want 0 to %d, as the step has %d tasks", env.SlurmRank, s.Rank, s.Size-1, s.Size)
	case s.Node >= len(s.Nodes):
		return Step{}, fmt.Errorf("%s is %d; want 0 to %d, as %s is %s", env.SlurmNode, s.Node, len(s.Nodes)-1, env.SlurmNodes, nodes)
	case s.Local >= s.Tasks[s.Node]:
		return Step{}, fmt.Errorf("%s is %d; want 0 to %d, as %s is %s", env.SlurmLocal, s.Local, s.Tasks[s.Node]-1, env.SlurmPerNode, perNode)
	case s.Rank == 0 && s.Node != 0:
		return Step{}, fmt.Errorf("rank 0 is on %s, not on %s, the first of %s=%s: set %s to an address of its node", s.Nodes[s.Node], s.Nodes[0], env.SlurmNodes, nodes, env.Coordinator)
	}
	return s, nil
}

// Ports of steps: those of two steps differ if they belong to one job and their numbers
// differ by less than Ports, and if their jobs' numbers differ by less than 192 and both
// steps are below 64. The range ends where Linux's own choice of ports begins.
const (
	FirstPort = 20000
	Ports     = 12288
	perJob    = 64
)

// Port is where the ranks of the step meet: one from FirstPort to FirstPort+Ports-1 that
// follows from the numbers of job and step.
func (s Step) Port() int { return FirstPort + (s.Job%Ports*perJob+s.Step%Ports)%Ports }

// MeetingPlace is the address where rank 0 waits for the others: of the step's first node,
// or of loopback when there is no other one.
func (s Step) MeetingPlace() string {
	host := s.Nodes[0]
	if len(s.Nodes) == 1 {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, strconv.Itoa(s.Port()))
}

// Host is the name of this task's node.
func (s Step) Host() string { return s.Nodes[s.Node] }

// String names the step as Slurm does.
func (s Step) String() string { return fmt.Sprintf("Slurm step %d.%d", s.Job, s.Step) }
