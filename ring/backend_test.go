package ring

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/conform"
	"github.com/lockstep-go/lockstep/internal/env"
	"github.com/lockstep-go/lockstep/slurm"
)

// alone is an environment without any of the variables that name a rank.
func alone(t *testing.T) {
	for _, v := range env.Variables {
		t.Setenv(v.Name, "") // so that it is restored
		os.Unsetenv(v.Name)
	}
}

func TestEnvironments(t *testing.T) {
	hosts := filepath.Join(t.TempDir(), "hosts.json")
	if err := os.WriteFile(hosts, []byte(`[["127.0.0.1:1"],["127.0.0.1:2"]]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		variables map[string]string
		want      []string
		rows      []string // of the conformance list
	}{
		"rank without a host file":  {map[string]string{env.MLXRank: "1"}, []string{env.MLXRank, "1", env.MLXHostFile, "not set"}, []string{"G4"}},
		"host file without a rank":  {map[string]string{env.MLXHostFile: hosts}, []string{env.MLXRank, "not set"}, nil},
		"rank beyond the host file": {map[string]string{env.MLXRank: "3", env.MLXHostFile: hosts}, []string{env.MLXRank + "=3", hosts, "2 ranks", "0 to 1"}, []string{"G11"}},
		"negative rank":             {map[string]string{env.MLXRank: "-1", env.MLXHostFile: hosts}, []string{env.MLXRank, `"-1"`, "0 to"}, []string{"G11"}},
		"MLX rank that is a word":   {map[string]string{env.MLXRank: "abc", env.MLXHostFile: hosts}, []string{env.MLXRank, `"abc"`, "0 to"}, []string{"G11"}},
		"MLX rank that is empty":    {map[string]string{env.MLXRank: "", env.MLXHostFile: hosts}, []string{env.MLXRank, `""`, "0 to"}, []string{"G11"}},
		"rank that is no number":    {map[string]string{env.Rank: "abc", env.Size: "2", env.Coordinator: "127.0.0.1:1"}, []string{env.Rank, `"abc"`, "0 to 1"}, nil},
		"rank beyond the size":      {map[string]string{env.Rank: "2", env.Size: "2", env.Coordinator: "127.0.0.1:1"}, []string{env.Rank, `"2"`, "0 to 1"}, nil},
		"no meeting place":          {map[string]string{env.Rank: "0", env.Size: "2"}, []string{env.Coordinator, "not set"}, nil},
		"mpirun, no meeting place":  {map[string]string{env.OpenMPIRank: "0", env.OpenMPISize: "2"}, []string{env.OpenMPISize, env.Coordinator}, nil},
		"step without its nodes":    {stepOf(env.SlurmNodes, ""), []string{env.SlurmNodes, "want a list", env.Coordinator}, nil},
		"step with wrong nodes":     {stepOf(env.SlurmNodes, "n[2-1]"), []string{env.SlurmNodes, `"n[2-1]"`}, nil},
		"step of nodes, no token":   {stepOf(env.SlurmNodes, "n[1-2]", env.SlurmPerNode, "1(x2)"), []string{"step 7.3", "2 nodes", env.TokenFile, "0600", env.Insecure}, nil},
		"token that is not there":   {map[string]string{env.Rank: "0", env.Size: "1", env.TokenFile: "/nowhere/token"}, []string{env.TokenFile, "/nowhere/token"}, nil},
		"insecure with a word":      {map[string]string{env.Rank: "0", env.Size: "1", env.Insecure: "yes"}, []string{env.Insecure, `"yes"`}, nil},
		"shared memory by a word":   {map[string]string{env.Rank: "0", env.Size: "1", env.SharedMem: "off"}, []string{env.SharedMem, `"off"`}, nil},
		"timeout that is none":      {map[string]string{env.Rank: "0", env.Size: "1", env.Timeout: "soon"}, []string{env.Timeout, `"soon"`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			conform.Row(t, c.rows...)
			alone(t)
			for k, v := range c.variables {
				t.Setenv(k, v)
			}
			if d := (backend{}).Detect(); !d.Started || !d.Available || d.Found == "" {
				t.Errorf("detected %+v, want a start that Init explains", d)
			}
			_, err := backend{}.Init(t.Context(), group.Config{ConnectTimeout: 50 * time.Millisecond})
			wantError(t, err, c.want...)
			if errors.Is(err, group.ErrNotConfigured) {
				t.Errorf("%v is not the absence of an environment", err)
			}
		})
	}
}

func TestNoEnvironment(t *testing.T) {
	alone(t)
	d := backend{}.Detect()
	if d.Started || !d.Available || d.Found != env.Looked {
		t.Errorf("detected %+v", d)
	}
	if _, err := (backend{}).Init(t.Context(), group.Config{}); !errors.Is(err, group.ErrNotConfigured) {
		t.Errorf("error %v, want ErrNotConfigured", err)
	}
	if !group.IsAvailable("ring") {
		t.Error("ring is not registered")
	}
}

func TestWorldOfOneFromTheEnvironment(t *testing.T) {
	hosts := filepath.Join(t.TempDir(), "hosts.json")
	if err := os.WriteFile(hosts, []byte(`[["127.0.0.1:1"]]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, variables := range map[string]map[string]string{
		"size one":       {env.Rank: "0", env.Size: "1"},
		"host file":      {env.MLXRank: "0", env.MLXHostFile: hosts},
		"mpirun -np one": {env.OpenMPIRank: "0", env.OpenMPISize: "1"},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t)
			for k, v := range variables {
				t.Setenv(k, v)
			}
			before := openFiles(t)
			comm, err := backend{}.Init(t.Context(), group.Config{})
			if err != nil {
				t.Fatal(err)
			}
			if after := openFiles(t); after > before {
				t.Errorf("%d files are open, %d before", after, before)
			}
			sumAll(t, []group.Communicator{comm})
			comm.Close()
		})
	}
}

// stepOf is what Slurm tells the first of two tasks on one node, but for the pairs given.
func stepOf(pairs ...string) map[string]string {
	variables := map[string]string{
		env.SlurmJob: "7", env.SlurmStep: "3", env.SlurmStepTasks: "2", env.SlurmRank: "0", env.SlurmNode: "0",
		env.SlurmLocal: "0", env.SlurmNodes: "n1", env.SlurmPerNode: "2",
	}
	for i := 0; i < len(pairs); i += 2 {
		variables[pairs[i]] = pairs[i+1]
	}
	return variables
}

// TestStepFindsItsPortTaken is about two steps with one port, and other programs.
func TestStepFindsItsPortTaken(t *testing.T) {
	alone(t)
	for k, v := range stepOf() {
		t.Setenv(k, v)
	}
	s, err := slurm.LookupStep()
	if err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", s.MeetingPlace())
	if err != nil {
		t.Skipf("the step's own port cannot be had: %v", err)
	}
	defer taken.Close()
	_, err = backend{}.Init(t.Context(), group.Config{ConnectTimeout: 50 * time.Millisecond})
	wantError(t, err, "step 7.3", s.MeetingPlace(), "in use", env.Coordinator)
}
