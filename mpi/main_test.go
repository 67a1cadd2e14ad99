//go:build cgo && mpi

package mpi

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/conform"
	"github.com/lockstep-go/lockstep/internal/env"
)

// world is this process's rank under mpirun, nil without.
var world *comm

// The package's tests run as one process, which starts itself again under mpirun,
// or as one of the ranks there.
func TestMain(m *testing.M) {
	flag.Parse()
	if _, started := env.MPILauncher(); !started {
		os.Exit(m.Run())
	}
	if os.Getenv(endVariable) == startAlone {
		os.Exit(startWithoutRankOne())
	}
	if way, ok := beginnings[os.Getenv(endVariable)]; ok {
		way.begin()
		os.Exit(0)
	}
	c, err := (&backend{}).Init(context.Background(), group.Config{Timeout: time.Minute})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	world = c.(*comm)
	if way := os.Getenv(endVariable); way != "" {
		endings[way].end()
	}
	os.Exit(rankMain(m))
}

// rankMain runs the tests of one rank. Only a rank that fails speaks, unless all
// are asked to.
func rankMain(m *testing.M) int {
	output := os.Stdout
	if !testing.Verbose() {
		file, err := os.CreateTemp("", "rank")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.Remove(file.Name())
		os.Stdout = file
	}
	code := m.Run()
	if err := errors.Join(world.Close(), world.Close()); err != nil {
		fmt.Fprintln(os.Stdout, err)
		code = 1
	}
	if code != 0 && os.Stdout != output {
		os.Stdout.Seek(0, io.SeekStart)
		text, _ := io.ReadAll(os.Stdout)
		for line := range strings.Lines(string(text)) {
			fmt.Fprintf(output, "rank %d: %s", world.rank, line)
		}
	}
	return code
}

// mpirun starts this test binary as n ranks.
func mpirun(t *testing.T, n int, variables []string, args ...string) (output string, code int) {
	t.Helper()
	return mpirunArgs(t, variables, append([]string{"-np", strconv.Itoa(n), os.Args[0]}, args...))
}

func mpirunArgs(t *testing.T, variables, args []string) (output string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	args = append([]string{"--oversubscribe"}, args...)
	if os.Geteuid() == 0 {
		args = append([]string{"--allow-run-as-root"}, args...)
	}
	cmd := exec.CommandContext(ctx, "mpirun", args...)
	cmd.Env = append(os.Environ(), variables...)
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatalf("mpirun: %v", err)
	}
	return text.String(), cmd.ProcessState.ExitCode()
}

// TestWorld runs the cases of every rank, under mpirun.
func TestWorld(t *testing.T) {
	if world != nil {
		runWorld(t)
		return
	}
	for _, n := range []int{1, 2, 3} {
		t.Run(fmt.Sprintf("np=%d", n), func(t *testing.T) { startRanks(t, n, nil) })
		if n > 1 {
			t.Run(fmt.Sprintf("np=%d without shared memory", n), func(t *testing.T) { startRanks(t, n, []string{env.SharedMem + "=0"}) })
		}
	}
}

func startRanks(t *testing.T, n int, variables []string) {
	t.Helper()
	if output, code := mpirun(t, n, variables, "-test.run=^TestWorld$", "-test.timeout=3m"); code != 0 {
		t.Errorf("mpirun ended with code %d\n%s", code, output)
	}
}

// TestOneRankDoesNotShare has one of three ranks keep out of shared memory. Then
// none shares it.
func TestOneRankDoesNotShare(t *testing.T) {
	if world != nil {
		return
	}
	this := []string{os.Args[0], "-test.run=^TestWorld$/^(ranks|sums)"}
	with := append([]string{"-np", "1", "-x", env.SharedMem + "=0"}, this...)
	without := append([]string{"-np", "1"}, this...)
	for away := range 3 {
		parts := [][]string{without, without, without}
		parts[away] = with
		args := slices.Concat(parts[0], []string{":"}, parts[1], []string{":"}, parts[2])
		if output, code := mpirunArgs(t, nil, args); code != 0 {
			t.Errorf("with rank %d away mpirun ended with code %d\n%s", away, code, output)
		}
	}
}

const endVariable = "LOCKSTEP_TEST_END"

// endings are ways to end without a common Close, and what mpirun's code or the
// output then shows.
var endings = map[string]struct {
	end  func()
	code int // 0 for any but 0
	says string
}{
	"exit 1":      {end: func() { endRankOne(func() { os.Exit(1) }) }},
	"goroutine":   {end: func() { endRankOne(func() { go panic("on purpose"); select {} }) }, code: 2, says: "on purpose"},
	"dereference": {end: func() { endRankOne(func() { fmt.Println((*comm)(nil).rank) }) }, code: 2, says: "nil pointer"},
	"exit 0":      {end: func() { endRankOne(func() { os.Exit(0) }) }},
	"panic":       {end: func() { endRankOne(func() { panic("on purpose") }) }, code: 2, says: "on purpose"},
	"killed":      {end: func() { endRankOne(func() { syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} }) }, code: 137},
	"broken":      {end: closeBroken, code: 3, says: "on purpose (MPI is not finalised)"},
	startAlone:    {code: 3, says: "not all ranks have come within 300ms"},
	"close alone": {end: closeAlone, code: 3, says: "rank 1: has not come"},
}

// startAlone is the ending in which rank 1 never starts MPI.
const startAlone = "start alone"

func startWithoutRankOne() int {
	if os.Getenv(env.OpenMPIRank) == "1" {
		select {}
	}
	_, err := (&backend{}).Init(context.Background(), group.Config{ConnectTimeout: 300 * time.Millisecond})
	fmt.Println(err)
	return 3
}

// endsAt stands before the time at which rank 1 ends.
const endsAt = "rank one ends at"

// endRankOne ends rank 1 while the others wait for it.
func endRankOne(end func()) {
	if world.rank == 1 {
		fmt.Println(endsAt, time.Now().UnixMilli())
		end()
	}
	world.Barrier(context.Background())
	os.Exit(0)
}

func closeBroken() {
	world.Break(errors.New("on purpose"))
	fmt.Println(world.Close())
	os.Exit(3)
}

func closeAlone() {
	if world.rank == 1 {
		select {}
	}
	world.job.timeout = 100 * time.Millisecond
	fmt.Println(world.Close(), world.Close())
	os.Exit(3)
}

// names is how mpirun names rank 1 of the only job: in words, or as [[family,job],rank].
var names = regexp.MustCompile(`rank 1\b|\[\[\d+,1\],1\]`)

func TestEveryEndWithoutCloseEndsTheJob(t *testing.T) {
	if world != nil {
		return
	}
	for way, want := range endings {
		t.Run(way, func(t *testing.T) {
			output, code := mpirun(t, 2, []string{endVariable + "=" + way})
			if code == 0 || want.code != 0 && code != want.code || !strings.Contains(output, want.says) {
				t.Errorf("mpirun ended with %d; want %d (0: any other) and %q\n%s", code, want.code, want.says, output)
			}
			_, after, found := strings.Cut(output, endsAt+" ")
			if !found {
				return
			}
			digits, after, _ := strings.Cut(after, "\n")
			at, err := strconv.ParseInt(digits, 10, 64)
			if took := time.Since(time.UnixMilli(at)); err != nil || took > 5*time.Second {
				t.Errorf("the job ended %v after its rank (%v); want at most 5s", took, err)
			}
			if !names.MatchString(after) {
				t.Errorf("nothing names rank 1\n%s", output)
			}
		})
	}
}

// Without the mpirun that its variables speak of, MPI starts as a world of one.
func TestAWorldOfAnotherSizeThanAnnouncedIsRefused(t *testing.T) {
	if world != nil {
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), env.OpenMPISize+"=2", env.OpenMPIRank+"=1")
	output, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "OMPI_COMM_WORLD_SIZE says 2 ranks, but MPI has 1") {
		t.Errorf("ended with %v\n%s", err, output)
	}
}

func TestInitWithoutLauncher(t *testing.T) {
	if world != nil {
		return
	}
	conform.Row(t, "G7")
	b := &backend{}
	if d := b.Detect(); !d.Available || d.Started {
		t.Errorf("Detect gave %+v; want available and not started", d)
	}
	comm, err := b.Init(t.Context(), group.Config{})
	if comm != nil || err == nil || !strings.Contains(err.Error(), "mpirun") {
		t.Errorf("Init gave %v, %v; want an error that mentions mpirun", comm, err)
	}
	if now, err := state(); err != nil || now.started {
		t.Errorf("MPI is %+v, %v after Init without a launcher; want it not started", now, err)
	}
}
