package main

import (
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/internal/env"
)

func TestEveryVariableIsThereOnce(t *testing.T) {
	text := page()
	for _, v := range env.Variables {
		if n := strings.Count(text, "\n| `"+v.Name+"` | "); n != 1 {
			t.Errorf("%s has %d rows", v.Name, n)
		}
	}
	for name, want := range map[string]string{
		env.Backend: "lockstep's own", env.MLXRank: "MLX's", env.MasterAddr: "torchrun's", env.PMIxSpace: "Open MPI's and PMIx's", env.SlurmJob: "Slurm's",
	} {
		if got := groups[groupOf(name)].title; got != want {
			t.Errorf("%s is one of %s, not of %s", name, got, want)
		}
	}
}
