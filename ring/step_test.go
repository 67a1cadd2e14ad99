package ring

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/lockstep-go/lockstep/internal/env"
)

// TestStepOverTwoHosts is the suite by a Slurm step of two ranks on each of two
// nodes, with no more setting than the job's token.
func TestStepOverTwoHosts(t *testing.T) {
	t.Parallel()
	h := makeHosts(t, 2)
	common := stepOf(env.SlurmStepTasks, "4", env.SlurmNodes, h.address(0)+","+h.address(1), env.SlurmPerNode, "2(x2)")
	ranks := make([]*process, 4)
	for r := range ranks {
		variables := []string{tokenFile(t, secret), roleVariable + "=suite"}
		common[env.SlurmRank], common[env.SlurmNode], common[env.SlurmLocal] = fmt.Sprint(r), fmt.Sprint(r/2), fmt.Sprint(r%2)
		for name, value := range common {
			variables = append(variables, name+"="+value)
		}
		cmd := exec.CommandContext(t.Context(), os.Args[0], suiteOf(len(ranks))...)
		if err := h.on(r/2, cmd); err != nil {
			t.Fatal(err)
		}
		ranks[r] = start(t, cmd, variables)
	}
	expectSuite(t, ranks)
}

// TestStepOnOneHostNeedsNoToken starts a step of two ranks on one node.
func TestStepOnOneHostNeedsNoToken(t *testing.T) {
	t.Parallel()
	ranks := make([]*process, 2)
	for r := range ranks {
		variables := []string{roleVariable + "=sum"}
		for name, value := range stepOf(env.SlurmStep, fmt.Sprint(os.Getpid()), env.SlurmRank, fmt.Sprint(r), env.SlurmLocal, fmt.Sprint(r)) {
			variables = append(variables, name+"="+value)
		}
		ranks[r] = start(t, exec.CommandContext(t.Context(), os.Args[0]), variables)
	}
	for _, p := range ranks {
		p.expect(t, "ready")
	}
}
