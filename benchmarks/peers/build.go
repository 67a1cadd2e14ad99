package main

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed src
var sources embed.FS

// The programs that are compiled, by their source files.
const (
	limitsProgram  = "limits.c"
	openMPIProgram = "openmpi.c"
	glooProgram    = "gloo.cc"
	renoLibrary    = "reno.c"
)

// folder is where the programs lie once they are compiled.
type folder string

// recipe is how a source becomes a program.
type recipe struct {
	source   string
	compiler string
	flags    []string
	after    []string // flags that follow the source
	install  string   // what brings the compiler and the libraries
}

var recipes = []recipe{
	{limitsProgram, "gcc", nil, nil, "gcc"},
	{openMPIProgram, "mpicc", nil, nil, "libopenmpi-dev"},
	{renoLibrary, "gcc", []string{"-shared", "-fPIC"}, []string{"-ldl"}, "gcc"},
	{glooProgram, "g++", nil, []string{"-lgloo", "-pthread"}, "g++ and libgloo-dev"},
}

// compile builds the programs that are needed, for this very processor. What
// cannot be built is noted by source with the reason, and is no error.
func (at folder) compile(ctx context.Context, needed map[string]bool) (missing map[string]string, err error) {
	missing = map[string]string{}
	for _, r := range recipes {
		if !needed[r.source] {
			continue
		}
		text, err := sources.ReadFile("src/" + r.source)
		if err != nil {
			return nil, err
		}
		file := filepath.Join(string(at), r.source)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return nil, err
		}
		if err := r.build(ctx, file, at.path(r.source)); err != nil {
			missing[r.source] = fmt.Sprintf("%v (Debian's packages: %s)", err, r.install)
		}
	}
	return missing, ctx.Err()
}

func (r recipe) build(ctx context.Context, source, program string) error {
	args := append([]string{"-O3", "-march=native", "-w", "-o", program}, r.flags...)
	args = append(append(args, source), r.after...)
	output, err := exec.CommandContext(ctx, r.compiler, args...).CombinedOutput()
	if _, failed := err.(*exec.ExitError); !failed {
		return err
	}
	return fmt.Errorf("%s: %s", r.compiler, complaint(string(output)))
}

// complaint is the line of a compiler's output that says what is wrong.
func complaint(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for _, line := range lines {
		if strings.Contains(line, "error") || strings.Contains(line, "cannot find") {
			return strings.TrimSpace(line)
		}
	}
	return lines[len(lines)-1]
}

// path is where the program of a source lies.
func (at folder) path(source string) string {
	name := strings.TrimSuffix(source, filepath.Ext(source))
	if source == renoLibrary {
		name += ".so"
	}
	return filepath.Join(string(at), name)
}
