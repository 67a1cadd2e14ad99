package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/env"
	"github.com/lockstep-go/lockstep/jobs/launch/internal/agent"
	_ "github.com/lockstep-go/lockstep/ring"
)

// The test binary is the launcher, the rank program, or the tests, as this says.
const roleVariable = "LAUNCH_TEST_ROLE"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == agent.Word {
		main()
	}
	switch os.Getenv(roleVariable) {
	case "launch":
		main()
	case "rank":
		actAsRank(os.Args[1], os.Args[2:])
	default:
		code := m.Run()
		if err := fixture.end(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
		os.Exit(code)
	}
}

// launcher is a command that runs launch with the given arguments and, behind
// them, the rank program.
func launcher(t *testing.T, flags []string, act ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := append(flags, "--env", roleVariable+"=rank", "--", self)
	cmd := exec.Command(self, append(args, act...)...)
	// A process built with the race detector otherwise waits a second at its end.
	quick := "GORACE=atexit_sleep_ms=0"
	cmd.Env = append(os.Environ(), quick, roleVariable+"=launch", "TMPDIR="+t.TempDir())
	return cmd
}

// result is what a finished launcher left.
type result struct {
	code           int
	stdout, stderr string
}

func run(t *testing.T, stdin io.Reader, flags []string, act ...string) result {
	t.Helper()
	return finish(t, stdin, launcher(t, flags, act...))
}

func finish(t *testing.T, stdin io.Reader, cmd *exec.Cmd) result {
	t.Helper()
	var stdout, stderr strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// actAsRank is the rank program.
func actAsRank(act string, args []string) {
	rank, _ := strconv.Atoi(os.Getenv(env.Rank))
	switch act {
	case "each": // one action for each rank
		do(args[rank])
	case "do": // one action, whatever the rank
		do(args[0])
	case "print": // the values of variables
		for _, name := range args {
			value, set := os.LookupEnv(name)
			fmt.Printf("%s %t %q\n", name, set, value)
		}
	case "secret": // mode and content of the token's file
		path := os.Getenv(env.TokenFile)
		info, _ := os.Stat(path)
		secret, _ := os.ReadFile(path)
		fmt.Printf("%04o %s\n", info.Mode().Perm(), secret)
	case "quote":
		for _, arg := range args {
			fmt.Printf("%q\n", arg)
		}
	case "pwd":
		dir, err := os.Getwd()
		fmt.Println(dir)
		check(err)
	case "hostfile":
		text, err := os.ReadFile(os.Getenv(env.HostFile))
		fmt.Printf("%s\n", text)
		check(err)
	case "sum": // over the ranks, of their numbers plus one
		g, err := group.Init(context.Background(), group.Config{Strict: true})
		check(err)
		sum := []int64{int64(g.Rank()) + 1}
		err = group.AllReduce(context.Background(), g, group.Sum, sum)
		check(err)
		fmt.Printf("rank %d of %d: %d\n", g.Rank(), g.Size(), sum[0])
		check(g.Close())
	case "cat":
		io.Copy(os.Stdout, os.Stdin)
	case "ignore-input-unless": // one rank reads and counts, the others wait for it
		if args[0] == strconv.Itoa(rank) {
			n, _ := io.Copy(io.Discard, os.Stdin)
			fmt.Println(n)
		}
	case "write": // bytes to standard output and standard error
		os.Stderr.WriteString(args[1])
		os.Stdout.WriteString(args[0])
	case "lines":
		n, _ := strconv.Atoi(args[0])
		out := bufio.NewWriterSize(os.Stdout, 1000)
		for i := range n {
			fmt.Fprintln(out, line(rank, i))
		}
		out.Flush()
	}
	os.Exit(0)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// line is the i-th line of a rank: characters of one to four bytes, and lengths
// that fit no buffer.
func line(rank, i int) string {
	return fmt.Sprintf("%d:%d %s", rank, i, strings.Repeat("aé漢🎈", i%7))
}

// do is one action of a rank. Every action that waits first prints its process.
func do(action string) {
	switch action {
	case "kill":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "sleep":
		announce(os.Getpid())
		time.Sleep(time.Hour)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
		announce(os.Getpid())
		time.Sleep(time.Hour)
	case "parent": // with a stubborn child in the same group
		child(os.Args[0])
		announce(os.Getpid())
		time.Sleep(time.Hour)
	case "daemon": // with a stubborn child in a session of its own, whose parent ended
		daemon(os.Args[0])
		announce(os.Getpid())
		time.Sleep(time.Hour)
	case "daemon-orphan": // leaves such a daemon behind
		daemon(os.Args[0])
		os.Exit(0)
	case "stop":
		announce(os.Getpid())
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		time.Sleep(time.Hour)
	case "session": // what daemon starts: it starts the daemon and ends
		child(os.Args[0])
		os.Exit(0)
	case "orphan": // leaves such a child behind
		child(os.Args[0])
		os.Exit(0)
	}
	code, _ := strconv.Atoi(action)
	os.Exit(code)
}

func child(self string) {
	cmd := exec.Command(self, "do", "stubborn")
	ready, _ := cmd.StdoutPipe()
	cmd.Start()
	text, _ := bufio.NewReader(ready).ReadString('\n')
	fmt.Print(text)
}

func daemon(self string) {
	cmd := exec.Command(self, "do", "session")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, _ := cmd.Output()
	os.Stdout.Write(out)
}

func announce(pid int) {
	fmt.Printf("process %d of rank %s\n", pid, cmp.Or(os.Getenv(env.Rank), os.Getenv(env.OpenMPIRank)))
}
