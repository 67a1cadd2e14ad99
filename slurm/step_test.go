package slurm_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/internal/env"
	"github.com/lockstep-go/lockstep/slurm"
)

// told is what srun told one task of a step of four on two nodes.
var told = map[string]string{
	env.SlurmJob: "17", env.SlurmStep: "2", env.SlurmStepTasks: "4", env.SlurmTasks: "4", env.SlurmRank: "3",
	env.SlurmNode: "1", env.SlurmLocal: "0", env.SlurmNodes: "n[01-02]", env.SlurmPerNode: "3,1",
}

// only leaves exactly these of the variables set for the test.
func only(t *testing.T, set map[string]string) {
	t.Helper()
	for _, v := range env.Variables {
		if value, ok := os.LookupEnv(v.Name); ok {
			t.Setenv(v.Name, value) // restores it after the test
			os.Unsetenv(v.Name)
		}
	}
	for name, value := range set {
		t.Setenv(name, value)
	}
}

func TestLookupStep(t *testing.T) {
	only(t, told)
	s, err := slurm.LookupStep()
	if err != nil {
		t.Fatal(err)
	}
	want := slurm.Step{Job: 17, Step: 2, Rank: 3, Size: 4, Node: 1, Local: 0, Nodes: []string{"n01", "n02"}, Tasks: []int{3, 1}}
	if fmt.Sprintf("%#v", s) != fmt.Sprintf("%#v", want) {
		t.Errorf("%#v", s)
	}
	if s.Host() != "n02" || s.MeetingPlace() != "n01:21090" || s.String() != "Slurm step 17.2" {
		t.Errorf("%s, %s, %s", s.Host(), s.MeetingPlace(), s)
	}
}

func TestWrongSteps(t *testing.T) {
	for _, c := range []struct {
		name, value string
		words       []string
	}{
		{env.SlurmJob, "", []string{`SLURM_JOB_ID is ""`}},
		{env.SlurmJob, "-1", []string{`SLURM_JOB_ID is "-1"`}},
		{env.SlurmJob, "4294967296", []string{"SLURM_JOB_ID"}},
		{env.SlurmStep, "batch", []string{`SLURM_STEP_ID is "batch"`}},
		{env.SlurmStep, "03", []string{`SLURM_STEP_ID is "03"`}},
		{env.SlurmStepTasks, "0", []string{"SLURM_STEP_NUM_TASKS", "1 to 65536"}},
		{env.SlurmStepTasks, "5", []string{"SLURM_STEP_TASKS_PER_NODE=3,1", "4 tasks", "the step has 5"}},
		{env.SlurmRank, "4", []string{"SLURM_PROCID is 4", "0 to 3"}},
		{env.SlurmRank, "0", []string{"rank 0 is on n02, not on n01", env.Coordinator}},
		{env.SlurmNode, "2", []string{"SLURM_NODEID is 2", "0 to 1", "n[01-02]"}},
		{env.SlurmLocal, "1", []string{"SLURM_LOCALID is 1", "0 to 0"}},
		{env.SlurmNodes, "n[1-3]", []string{"n[1-3] has 3 nodes", "has 2"}},
		{env.SlurmNodes, "n[3-1]", []string{"SLURM_STEP_NODELIST", `"n[3-1]"`}},
		{env.SlurmPerNode, "3;1", []string{"SLURM_STEP_TASKS_PER_NODE", `"3;1"`}},
		{env.SlurmPerNode, "", []string{`SLURM_STEP_TASKS_PER_NODE is ""`}},
	} {
		t.Run(c.name+"="+c.value, func(t *testing.T) {
			set := maps.Clone(told)
			set[c.name] = c.value
			only(t, set)
			s, err := slurm.LookupStep()
			if err == nil {
				t.Fatalf("read as %+v", s)
			}
			for _, word := range c.words {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not say %q", err, word)
				}
			}
		})
	}
	for name := range told {
		if name == env.SlurmStepTasks || name == env.SlurmTasks {
			continue // one stands for the other
		}
		set := maps.Clone(told)
		delete(set, name)
		t.Run("no "+name, func(t *testing.T) {
			only(t, set)
			if _, err := slurm.LookupStep(); err == nil || !strings.Contains(err.Error(), name+" is not set") {
				t.Errorf("%v", err)
			}
		})
	}
}

// Steps that may run at the same time on one node meet at different ports, all in the
// range that is written down.
func TestPortsOfStepsDiffer(t *testing.T) {
	for _, first := range []int{0, 1, 100, 12287, 1<<32 - 200} {
		taken := map[int]string{}
		for job := first; job < first+192; job++ {
			for step := range 64 {
				s := slurm.Step{Job: job, Step: step}
				port := s.Port()
				if other, ok := taken[port]; ok {
					t.Fatalf("%v meets at the port of %s", s, other)
				}
				taken[port] = s.String()
				if port < slurm.FirstPort || port >= slurm.FirstPort+slurm.Ports || port > 32767 {
					t.Fatalf("%v meets at port %d", s, port)
				}
			}
		}
	}
	if s := (slurm.Step{Job: 5, Step: 9, Nodes: []string{"n1"}}); s.MeetingPlace() != "127.0.0.1:"+strconv.Itoa(slurm.FirstPort+329) {
		t.Error(s.MeetingPlace())
	}
}

// What is accepted is a place in a step whose lists agree.
func FuzzLookupStep(f *testing.F) {
	names := slices.Sorted(maps.Keys(told))
	f.Add(0, "17")
	f.Add(3, "n[01-02]")
	f.Add(6, "2(x2)")
	f.Fuzz(func(t *testing.T, which int, value string) {
		if strings.ContainsRune(value, 0) {
			return // no variable can hold it
		}
		set := maps.Clone(told)
		set[names[uint(which)%uint(len(names))]] = value
		only(t, set)
		s, err := slurm.LookupStep()
		if err != nil {
			return
		}
		total := 0
		for _, n := range s.Tasks {
			total += n
		}
		if len(s.Nodes) != len(s.Tasks) || total != s.Size || s.Rank < 0 || s.Rank >= s.Size || s.Node < 0 || s.Node >= len(s.Nodes) || s.Local < 0 || s.Local >= s.Tasks[s.Node] {
			t.Fatalf("%s=%q: %+v", names[uint(which)%uint(len(names))], value, s)
		}
		if p := s.Port(); p < slurm.FirstPort || p >= slurm.FirstPort+slurm.Ports {
			t.Fatalf("%v: port %d", s, p)
		}
	})
}
