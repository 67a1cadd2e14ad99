package main

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

// jobEnviron is what every rank of the job has: environ without other worlds,
// then the user's variables, then the backend's name. Each variable appears once,
// with its last value; of two, C programs would take the first.
func jobEnviron(o *options, environ []string) []string {
	all := append(withoutWorlds(environ), o.env...)
	if o.dir != "" {
		all = append(all, "PWD="+o.dir)
	}
	all = append(all, env.Backend+"="+o.backend)
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

// rankEnviron is the place of one rank on the ring.
func rankEnviron(rank, size int, m *meeting) []string {
	return []string{
		env.Rank + "=" + strconv.Itoa(rank),
		env.Size + "=" + strconv.Itoa(size),
		env.Coordinator + "=" + m.coordinator,
		env.TokenFile + "=" + m.tokenFile,
	}
}
