//go:build !race

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWrongUse(t *testing.T) {
	dir := t.TempDir()
	hosts := filepath.Join(dir, "hosts.json")
	if err := os.WriteFile(hosts, []byte("127.0.0.1:9000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	nowhere := filepath.Join(dir, "nowhere.txt")
	for name, c := range map[string]struct {
		variables []string
		args      string
		says      []string
	}{
		"unknown flag":            {nil, "-nosuch", []string{"-nosuch"}},
		"unknown model":           {nil, "-model cnn", []string{`"cnn"`, "gpt or mlp"}},
		"unknown backend":         {nil, "-backend nccl", []string{`"nccl"`, "any, ", "ring"}},
		"unknown backend by env":  {[]string{"LOCKSTEP_BACKEND=nccl"}, "", []string{"LOCKSTEP_BACKEND", "nccl"}},
		"missing data file":       {nil, "-data " + nowhere, []string{nowhere, "no such file"}},
		"missing images":          {nil, "-model mlp -data " + dir + "/images", []string{dir + "/images", "no such file"}},
		"rank is no number":       {[]string{"LOCKSTEP_RANK=abc", "LOCKSTEP_SIZE=2", "LOCKSTEP_COORDINATOR=127.0.0.1:9000"}, "", []string{"LOCKSTEP_RANK", `"abc"`}},
		"rank alone, no number":   {[]string{"LOCKSTEP_RANK=abc"}, "", []string{"LOCKSTEP_"}},
		"rank without a size":     {[]string{"LOCKSTEP_RANK=0"}, "", []string{"LOCKSTEP_SIZE is not set"}},
		"rank outside the world":  {[]string{"LOCKSTEP_RANK=2", "LOCKSTEP_SIZE=2", "LOCKSTEP_COORDINATOR=127.0.0.1:9000"}, "", []string{"LOCKSTEP_RANK", `"2"`, "0 to 1"}},
		"coordinator has no port": {[]string{"LOCKSTEP_RANK=0", "LOCKSTEP_SIZE=2", "LOCKSTEP_COORDINATOR=here"}, "", []string{"LOCKSTEP_COORDINATOR", `"here"`}},
		"timeout is no duration":  {[]string{"LOCKSTEP_TIMEOUT=never"}, "", []string{"LOCKSTEP_TIMEOUT", `"never"`, "90s"}},
		"host file is not JSON":   {[]string{"LOCKSTEP_RANK=0", "LOCKSTEP_HOSTFILE=" + hosts}, "", []string{hosts, "JSON"}},
		"host file is missing":    {[]string{"LOCKSTEP_RANK=0", "LOCKSTEP_HOSTFILE=" + nowhere}, "", []string{nowhere, "no such file"}},
	} {
		t.Run(name, func(t *testing.T) {
			ends := finished(t, c.variables, append([]string{program(t, "train")}, strings.Fields(c.args)...)...)
			if ends.code != codeUsage || ends.stdout != "" {
				t.Errorf("exit code %d, want %d; standard output %q", ends.code, codeUsage, ends.stdout)
			}
			if lines := ends.lines(); len(lines) != 1 || !strings.HasPrefix(lines[0], "train: ") {
				t.Errorf("want one line of train's on standard error:\n%s", ends.stderr)
			}
			for _, says := range c.says {
				if !strings.Contains(ends.stderr, says) {
					t.Errorf("%q lacks %q", ends.stderr, says)
				}
			}
		})
	}
}

// Ranks that end at the same time may each say it, and launch names one of them.
func TestBatchThatRanksDoNotDivide(t *testing.T) {
	ends := finished(t, nil, launched(t, 3, program(t, "train"), "-batch", "16")...)
	if ends.code != codeUsage || ends.stdout != "" {
		t.Errorf("exit code %d, want %d; standard output %q", ends.code, codeUsage, ends.stdout)
	}
	const says = "train: -batch is 16, which 3 ranks do not divide evenly"
	said := 0
	for _, line := range ends.lines() {
		switch {
		case line == says:
			said++
		case !strings.HasPrefix(line, "launch: rank "):
			t.Errorf("unexpected line %q", line)
		}
	}
	if said < 1 || said > 3 {
		t.Errorf("%d times %q:\n%s", said, says, ends.stderr)
	}
}
