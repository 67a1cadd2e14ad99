package agent

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-go/lockstep/internal/env"
)

// worldVariables are those by which launchers tell a process its place; a rank
// that inherited them could take itself for a member of another world.
var worldVariables = []string{
	env.Backend, env.Rank, env.Size, env.Coordinator, env.HostFile, env.TokenFile,
	env.MLXRank, env.MLXHostFile, env.TorchRank, env.TorchSize, env.MasterAddr, env.MasterPort,
	env.SlurmStep, env.SlurmRank, env.SlurmTasks,
}

// withoutWorlds returns the variables of environ that announce no world. Of Open
// MPI's it keeps settings (OMPI_MCA_ and the like) unless this process is itself
// under mpirun, which uses the same names to talk to its own ranks.
func withoutWorlds(environ []string) []string {
	nested := false
	for _, assignment := range environ {
		nested = nested || strings.HasPrefix(assignment, env.OpenMPIRank+"=")
	}
	var kept []string
	for _, assignment := range environ {
		name, _, _ := strings.Cut(assignment, "=")
		if !announcesWorld(name, nested) {
			kept = append(kept, assignment)
		}
	}
	return kept
}

func announcesWorld(name string, nested bool) bool {
	if slices.Contains(worldVariables, name) {
		return true
	}
	setting := strings.HasPrefix(name, "OMPI_MCA_") || strings.HasPrefix(name, "PMIX_MCA_")
	if setting && !nested {
		return false
	}
	return strings.HasPrefix(name, "OMPI_") || strings.HasPrefix(name, "PMIX_") || strings.HasPrefix(name, "PMI_")
}

// environ is what every rank has: the agent's own environment without other worlds,
// then the job's variables. Each appears once, with its last value; of two, C
// programs would take the first.
func (s *Spec) environ(own []string, dir string) []string {
	all := append(withoutWorlds(own), s.Env...)
	if dir != "" {
		all = append(all, "PWD="+dir)
	}
	slices.Reverse(all)
	seen := map[string]bool{}
	all = slices.DeleteFunc(all, func(assignment string) bool {
		name, _, _ := strings.Cut(assignment, "=")
		before := seen[name]
		seen[name] = true
		return before
	})
	slices.Reverse(all)
	return all
}

// place is where one rank stands on the ring; nothing where the process is no rank.
func (s *Spec) place(rank int, m meeting) []string {
	if s.Size == 0 {
		return nil
	}
	vars := []string{env.Rank + "=" + strconv.Itoa(rank)}
	if m.hostFile != "" {
		vars = append(vars, env.HostFile+"="+m.hostFile)
	} else {
		vars = append(vars, env.Size+"="+strconv.Itoa(s.Size), env.Coordinator+"="+s.Coordinator)
	}
	return append(vars, env.TokenFile+"="+m.tokenFile)
}
