package env

import (
	"fmt"
	"os"
)

// Step is what Slurm tells a task of a step, its lists as they are written.
type Step struct {
	Job, Step   int
	Rank, Size  int
	Node, Local int    // which node of the step, which task of the node
	Nodes       string // such as n[01-03,7]
	PerNode     string // such as 2(x3),1
}

// maxID is the largest job or step that Slurm's 32 bits hold.
const maxID = 1<<32 - 1

// LookupStep reads the variables of a Slurm step. Its lists are for package slurm to
// read.
func LookupStep() (s Step, err error) {
	tasks := stepTasks()
	for _, field := range []struct {
		name    string
		value   *int
		low     int
		high    int
		allowed string
	}{
		{SlurmJob, &s.Job, 0, maxID, "the number of a job"},
		{SlurmStep, &s.Step, 0, maxID, "the number of a step"},
		{tasks, &s.Size, 1, MaxRanks, fmt.Sprintf("a number of ranks from 1 to %d", MaxRanks)},
		{SlurmRank, &s.Rank, 0, MaxRanks - 1, "a rank, 0 or more"},
		{SlurmNode, &s.Node, 0, MaxRanks - 1, "the number of a node, 0 or more"},
		{SlurmLocal, &s.Local, 0, MaxRanks - 1, "the number of a task, 0 or more"},
	} {
		if *field.value, err = integer(field.name, field.low, field.high, field.allowed); err != nil {
			return Step{}, err
		}
	}
	for _, list := range []struct {
		name  string
		value *string
	}{{SlurmNodes, &s.Nodes}, {SlurmPerNode, &s.PerNode}} {
		if *list.value = os.Getenv(list.name); *list.value == "" {
			return Step{}, fmt.Errorf("%s is %s; want a list", list.name, shown(list.name))
		}
	}
	return s, nil
}

// slurmWorld is the last to be asked. A coordinator that is set comes before what
// the step says.
func slurmWorld() (World, bool, error) {
	if !isSet(SlurmStep) {
		return World{}, false, nil
	}
	coordinator := anyCoordinator
	step := !isSet(Coordinator) && !isSet(MasterAddr)
	if step {
		coordinator = func() (string, error) { return "", nil }
	}
	w, found, err := coordinatorWorld(SlurmRank, stepTasks(), coordinator)
	w.Step = found && step
	return w, found, err
}

// stepTasks is the variable that holds the number of ranks. The step's own comes
// first: the other one may be the whole job's.
func stepTasks() string {
	if isSet(SlurmStepTasks) {
		return SlurmStepTasks
	}
	return SlurmTasks
}
