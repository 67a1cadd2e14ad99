//go:build !race

package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/internal/env"
	"github.com/lockstep-go/lockstep/internal/program"
	"github.com/lockstep-go/lockstep/internal/program/programtest"
)

// The tests of this file and its neighbours run real processes. They are left out under the race
// detector, which would not see into them.

func TestMain(m *testing.M) { os.Exit(programtest.Main(m)) }

// command is one that writes with a model that has learnt nothing.
func command(t *testing.T, flags ...string) []string {
	return append([]string{programtest.Path(t, "generate"), "-checkpoint", saved(t, func(map[string]string) {}), "-prompt", "ab ñ"}, flags...)
}

var pace = regexp.MustCompile(`^generate: 40 letters in [0-9.]+ s, [0-9]+ a second\n$`)

// sameText runs a command on worlds that start makes and wants the same text from all.
func sameText(t *testing.T, start func(n int, command ...string) []string) {
	t.Helper()
	for _, flags := range []string{"", "-bits 8", "-bits 4"} {
		all := command(t, append(strings.Fields(flags), "-n", "40", "-seed", "11")...)
		one := programtest.Finished(t, nil, all...)
		if one.Code != 0 || !pace.MatchString(one.Stderr) {
			t.Fatalf("%+v", one)
		}
		for _, n := range []int{2, 4} {
			if many := programtest.Finished(t, nil, start(n, all...)...); many.Code != 0 || many.Stdout != one.Stdout || !pace.MatchString(many.Stderr) {
				t.Errorf("%s on %d ranks: %+v; alone %q", flags, n, many, one.Stdout)
			}
		}
	}
}

func TestRingRanksWriteTheSameText(t *testing.T) {
	sameText(t, func(n int, command ...string) []string { return programtest.Launched(t, n, command...) })
}

func TestQuiet(t *testing.T) {
	if ends := programtest.Finished(t, nil, command(t, "-n", "5", "-quiet")...); ends.Code != 0 || ends.Stderr != "" || len([]rune(ends.Stdout)) != 10 {
		t.Errorf("%+v", ends)
	}
}

// endless writes for longer than any test takes.
func endless(t *testing.T) []string { return command(t, "-n", "16777216") }

// letters waits until a command has written more than n bytes, while it goes on.
func letters(t *testing.T, r *programtest.Running, n int) int {
	t.Helper()
	for len(r.Stdout.String()) <= n {
		select {
		case <-r.Done:
			t.Fatalf("it ends too early: %+v", r.Wait(t))
		case <-time.After(time.Millisecond):
		}
	}
	return len(r.Stdout.String())
}

func TestLettersAppearAsTheyAreDrawn(t *testing.T) {
	r := programtest.Start(t, nil, programtest.Launched(t, 2, endless(t)...)...)
	seen := 0
	for range 20 {
		seen = letters(t, r, seen)
	}
	r.Cmd.Process.Signal(syscall.SIGTERM)
	r.Wait(t)
}

// Without a launcher that ends the others, whoever is left says one line that names the dead.
func TestADeadRankEndsAll(t *testing.T) {
	for dead := range 2 {
		t.Run(fmt.Sprint("rank ", dead), func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			address := listener.Addr().String()
			listener.Close()
			write := endless(t)
			var ranks []*programtest.Running
			for rank := range 2 {
				world := []string{fmt.Sprint(env.Rank, "=", rank), env.Size + "=2", env.Coordinator + "=" + address}
				ranks = append(ranks, programtest.Start(t, world, write...))
			}
			letters(t, ranks[0], 10)
			ranks[dead].Cmd.Process.Kill()
			left := 1 - dead
			select {
			case <-ranks[left].Done:
			case <-time.After(20 * time.Second):
				t.Fatalf("rank %d goes on 20 s after rank %d was killed", left, dead)
			}
			ends := ranks[left].Wait(t)
			if ends.Code != program.CodeFailure || len(ends.Lines()) != 1 || !strings.HasPrefix(ends.Stderr, fmt.Sprintf("generate: rank %d: ", left)) || !strings.Contains(ends.Stderr, fmt.Sprint("rank ", dead)) {
				t.Errorf("rank %d: %+v", left, ends)
			}
		})
	}
}

func TestWrongUse(t *testing.T) {
	for name, c := range map[string]struct {
		variables []string
		flags     []string
		says      string
	}{
		"unknown flag":      {nil, []string{"-nosuch"}, "-nosuch"},
		"unknown backend":   {nil, []string{"-backend", "nccl"}, `"nccl"`},
		"bits between":      {nil, []string{"-bits", "5"}, "-bits is 5; want 4 or 8"},
		"rank is no number": {[]string{"LOCKSTEP_RANK=abc"}, nil, "LOCKSTEP_"},
		"log level unknown": {[]string{"LOCKSTEP_LOG=loud"}, nil, `"loud"`},
		"kernels unknown":   {[]string{"LOCKSTEP_KERNEL=gpu"}, nil, `"gpu"`},
		"timeout is never":  {[]string{"LOCKSTEP_TIMEOUT=never"}, nil, `"never"`},
		"empty prompt":      {nil, []string{"-prompt", ""}, "-prompt is missing or empty"},
		"unseen letters":    {nil, []string{"-prompt", "日"}, "-prompt has '日'"},
	} {
		t.Run(name, func(t *testing.T) {
			ends := programtest.Finished(t, c.variables, command(t, c.flags...)...)
			if ends.Code != program.CodeUsage || ends.Stdout != "" || len(ends.Lines()) != 1 || !strings.HasPrefix(ends.Stderr, "generate: ") || !strings.Contains(ends.Stderr, c.says) {
				t.Errorf("%+v; want %q", ends, c.says)
			}
		})
	}
}

func TestRanksStartedDifferently(t *testing.T) {
	const other = `[ $LOCKSTEP_RANK = 1 ] && set -- "$@" -prompt b; exec "$0" "$@"`
	ends := programtest.Finished(t, nil, programtest.Launched(t, 2, append([]string{"sh", "-c", other}, command(t)...)...)...)
	if ends.Code != program.CodeUsage || ends.Stdout != "" || !strings.Contains(ends.Stderr, "started differently") {
		t.Errorf("%+v", ends)
	}
}

func TestRanksThatCannotShareTheModel(t *testing.T) {
	ends := programtest.Finished(t, nil, programtest.Launched(t, 3, command(t)...)...)
	if ends.Code != program.CodeUsage || ends.Stdout != "" || !strings.Contains(ends.Stderr, "3 ranks cannot share the model: layers.0: attention: ") {
		t.Errorf("%+v", ends)
	}
}

// Alone it is one line; of two ranks each says the same.
func TestACheckpointThatCannotBeRead(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(saved(t, func(map[string]string) {}), "checkpoint.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		content []byte // nil for no file
		says    string
	}{
		"missing":            {nil, "no such file"},
		"empty":              {[]byte{}, "no safetensors file"},
		"cut short":          {whole[:len(whole)-1], "checkpoint.safetensors"},
		"a header of 2^63":   {append([]byte{0, 0, 0, 0, 0, 0, 0, 0x80}, whole[8:]...), "checkpoint.safetensors"},
		"noise":              {bytes.Repeat([]byte("noise"), 1000), "checkpoint.safetensors"},
		"longer than it was": {append(bytes.Clone(whole), 0), "checkpoint.safetensors"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if c.content != nil {
				if err := os.WriteFile(filepath.Join(dir, "checkpoint.safetensors"), c.content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write := []string{programtest.Path(t, "generate"), "-checkpoint", dir, "-prompt", "a"}
			ends := programtest.Finished(t, nil, write...)
			if ends.Code != program.CodeFailure || ends.Stdout != "" || len(ends.Lines()) != 1 || !strings.HasPrefix(ends.Stderr, "generate: ") || !strings.Contains(ends.Stderr, c.says) {
				t.Errorf("%+v; want %q", ends, c.says)
			}
			ends = programtest.Finished(t, nil, programtest.Launched(t, 2, write...)...)
			if ends.Code != program.CodeFailure || ends.Stdout != "" || !strings.Contains(ends.Stderr, c.says) || strings.Contains(ends.Stderr, "goroutine") {
				t.Errorf("on two ranks: %+v; want %q", ends, c.says)
			}
		})
	}
}

func TestAFullOutputIsAFailure(t *testing.T) {
	ends := programtest.Finished(t, nil, append([]string{"sh", "-c", `exec "$0" "$@" >/dev/full`}, command(t)...)...)
	if ends.Code != program.CodeFailure || len(ends.Lines()) != 1 || !strings.Contains(ends.Stderr, "no space left") {
		t.Errorf("%+v", ends)
	}
}
