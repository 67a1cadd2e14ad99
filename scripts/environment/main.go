// Environment prints docs/environment.md, which lists every variable that lockstep reads.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/lockstep-go/lockstep/internal/env"
)

const head = `# Environment variables

<!-- Written by scripts/generate from internal/env. Change that. -->

All are read strictly: a value that is set but wrong, an empty one included, is an error that quotes it and says what
is allowed. Rank, size and meeting place come from the first of these groups that is set, in the order below.
`

// groups are the sections, by what their variables begin with; the one without takes the rest.
var groups = []struct{ title, prefix, about string }{
	{"lockstep's own", "LOCKSTEP_", "`LOCKSTEP_RANK` comes with `LOCKSTEP_SIZE` and `LOCKSTEP_COORDINATOR`, or with `LOCKSTEP_HOSTFILE`."},
	{"MLX's", "MLX_", "Set by MLX's launcher, and by hand for programs of both kinds."},
	{"torchrun's", "", "Used when both `RANK` and `WORLD_SIZE` are set."},
	{"Open MPI's and PMIx's", "OMPI_ PMIX_", "Set by mpirun, and by srun with `--mpi=pmix`."},
	{"Slurm's", "SLURM_", "Set by srun for every task of a step. [Clusters](cluster.md) says how ranks meet there."},
}

// groupOf is the section of a variable.
func groupOf(name string) int {
	rest := 0
	for i, g := range groups {
		if g.prefix == "" {
			rest = i
		}
		for prefix := range strings.FieldsSeq(g.prefix) {
			if strings.HasPrefix(name, prefix) {
				return i
			}
		}
	}
	return rest
}

func page() string {
	var text strings.Builder
	text.WriteString(head)
	for i, g := range groups {
		fmt.Fprintf(&text, "\n## %s\n\n%s\n\n| variable | value | meaning |\n|---|---|---|\n", g.title, g.about)
		for _, v := range env.Variables {
			if groupOf(v.Name) == i {
				fmt.Fprintf(&text, "| `%s` | %s | %s |\n", v.Name, cell(v.Allowed), cell(v.Meaning))
			}
		}
	}
	return text.String()
}

// cell keeps a text within its column.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func main() {
	if _, err := os.Stdout.WriteString(page()); err != nil {
		fmt.Fprintln(os.Stderr, "environment:", err)
		os.Exit(1)
	}
}
