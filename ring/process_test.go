package ring

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
	"github.com/lockstep-go/lockstep/internal/env"
)

// roleVariable names what a process started by these tests does.
const roleVariable = "RING_TEST_ROLE"

// roles are the programs that the tests run as ranks, each in its own process.
// What they return is printed; their ranks come from the environment.
var roles = map[string]func(comm group.Communicator) error{
	"sum":   sumUntilError,
	"flush": flushAndExit,
}

// helpers are programs that the tests run as processes of another kind.
var helpers = map[string]func() error{}

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if run, ok := helpers[role]; ok {
		fmt.Println("end:", run())
		return
	}
	run, ok := roles[role]
	if !ok {
		atOnce()
		os.Exit(m.Run())
	}
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		l.Close() // what the runtime opens with the first socket stays
	}
	atStart = holds()
	comm, err := place()
	if err == nil {
		fmt.Println("ready")
		err = run(comm)
	}
	fmt.Println("end:", err)
}

// atOnce has more tests run side by side than there are processors, as most of them
// wait, unless the command line says how many.
func atOnce() {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if !said {
		flag.Set("test.parallel", "8")
	}
}

// Variables by which a test has a rank be impatient at the start, or listen
// elsewhere than its peers dial.
const (
	connectVariable = "RING_TEST_CONNECT"
	listenVariable  = "RING_TEST_LISTEN"
	dialVariable    = "RING_TEST_DIAL"
	filesVariable   = "RING_TEST_FILES" // that it may have open beside those at the start
)

// place forms the world that the environment describes.
func place() (group.Communicator, error) {
	patience, _ := time.ParseDuration(os.Getenv(connectVariable))
	if err := limitFiles(os.Getenv(filesVariable)); err != nil {
		return nil, err
	}
	address, behindProxies := os.LookupEnv(listenVariable)
	if !behindProxies {
		return backend{}.Init(context.Background(), group.Config{ConnectTimeout: patience})
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	cfg, err := configOf(group.Config{ConnectTimeout: patience})
	if err != nil {
		return nil, err
	}
	w, _, err := env.LookupWorld()
	if err != nil {
		return nil, err
	}
	return FromListener(context.Background(), w.Rank, w.Size, listener, strings.Fields(os.Getenv(dialVariable)), cfg)
}

func limitFiles(more string) error {
	if more == "" {
		return nil
	}
	n, err := strconv.Atoi(more)
	if err != nil {
		return err
	}
	limit := uint64(holds().files + n)
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: limit, Max: limit})
}

// sumUntilError is a training loop, as far as the ring can see. It exits on the
// error without a Close.
func sumUntilError(comm group.Communicator) error {
	data := make([]byte, 1<<20)
	for {
		if err := comm.AllReduce(context.Background(), group.Sum, dtype.Float32, data); err != nil {
			return err
		}
	}
}

const flushed = 3 << 20

// flushAndExit has rank 0 send, close and exit at once, and rank 1 receive when
// it is told to.
func flushAndExit(comm group.Communicator) error {
	ctx := context.Background()
	for tag := range 3 {
		if comm.Rank() == 0 {
			if err := comm.Send(ctx, 1, tag, bytes.Repeat([]byte{byte(tag + 1)}, flushed)); err != nil {
				return err
			}
			continue
		}
		if tag == 0 {
			io.ReadAll(os.Stdin)
		}
		got := make([]byte, flushed)
		if err := comm.Recv(ctx, 0, tag, got); err != nil {
			return err
		}
		if !bytes.Equal(got, bytes.Repeat([]byte{byte(tag + 1)}, flushed)) {
			return fmt.Errorf("message %d differs", tag)
		}
	}
	if comm.Rank() == 1 {
		err := comm.Recv(ctx, 0, 0, nil)
		if err == nil || !strings.Contains(err.Error(), "rank 0") || !strings.Contains(err.Error(), "has left") {
			return fmt.Errorf("receive from a rank that has left: %w", err)
		}
	}
	return comm.Close()
}

// process is a rank that runs.
type process struct {
	*exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner
}

// startRanks runs this test binary n times, with the meeting place in the
// environment.
func startRanks(t *testing.T, n int, role string, variables ...string) []*process {
	t.Helper()
	variables = append(variables, roleOf(t, role, n)...)
	ranks := make([]*process, n)
	for r := range ranks {
		ranks[r] = startRank(t, append(variables, env.Rank+"="+fmt.Sprint(r)))
	}
	return ranks
}

// roleOf is what ranks of a world of n have in their environment.
func roleOf(t *testing.T, role string, n int) []string {
	t.Helper()
	variables := []string{roleVariable + "=" + role, env.Size + "=" + fmt.Sprint(n), env.Coordinator + "=" + freeAddress(t)}
	return variables[:len(variables):len(variables)]
}

func startRank(t *testing.T, variables []string, args ...string) *process {
	t.Helper()
	return start(t, exec.CommandContext(t.Context(), os.Args[0], args...), variables)
}

// startLogging is startRank with what the rank writes to its standard error kept.
func startLogging(t *testing.T, log io.Writer, variables []string) *process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Stderr = log
	return start(t, cmd, variables)
}

func start(t *testing.T, cmd *exec.Cmd, variables []string) *process {
	t.Helper()
	p := &process{Cmd: cmd}
	// A race detector waits a second before it lets a process end.
	p.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0"), variables...)
	p.Stderr = cmp.Or[io.Writer](cmd.Stderr, os.Stderr)
	out, err := p.StdoutPipe()
	if err == nil {
		p.stdin, err = p.StdinPipe()
	}
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(out)
	t.Cleanup(func() {
		p.Process.Kill()
		p.Wait()
	})
	return p
}

// expect reads one line and checks how it begins.
func (p *process) expect(t *testing.T, prefix string) (rest string) {
	t.Helper()
	if !p.lines.Scan() {
		t.Fatalf("process ended, want a line %q", prefix)
	}
	rest, ok := strings.CutPrefix(p.lines.Text(), prefix)
	if !ok {
		t.Fatalf("line %q, want %q", p.lines.Text(), prefix)
	}
	return rest
}

// ways are those in which ranks of one host move data.
var ways = map[string]string{"shared memory": env.SharedMem + "=1", "sockets": env.SharedMem + "=0"}

// TestKilledRank kills one process of three in the middle of its work. The
// deadline of an operation is far away.
func TestKilledRank(t *testing.T) {
	t.Parallel()
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killRank(t, way)
		})
	}
}

func killRank(t *testing.T, way string) {
	ranks := startRanks(t, 3, "sum", way)
	for _, p := range ranks {
		p.expect(t, "ready")
	}
	time.Sleep(50 * time.Millisecond)
	killed := time.Now()
	ranks[1].Process.Kill()
	for _, r := range []int{0, 2} {
		text := ranks[r].expect(t, "end: ")
		if !strings.Contains(text, "rank 1 (127.0.0.1:") || !strings.Contains(text, "all_reduce #") {
			t.Errorf("rank %d: %s", r, text)
		}
	}
	t.Logf("both knew after %v", time.Since(killed))
}

// TestStoppedRank stops one process of three: only the deadline tells.
func TestStoppedRank(t *testing.T) {
	t.Parallel()
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stopRank(t, way)
		})
	}
}

func stopRank(t *testing.T, way string) {
	ranks := startRanks(t, 3, "sum", env.Timeout+"=1s", way)
	for _, p := range ranks {
		p.expect(t, "ready")
	}
	ranks[1].stop(t)
	for _, r := range []int{0, 2} {
		text := ranks[r].expect(t, "end: ")
		if !strings.Contains(text, "rank 1 (127.0.0.1:") || !strings.Contains(text, "does not answer: 1s passed") {
			t.Errorf("rank %d: %s", r, text)
		}
	}
}

// stop stops a process, and returns when all of it stands still.
func (p *process) stop(t *testing.T) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for runtime.GOOS == "linux" {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(stat), ") T ") {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// TestSendCloseExit has a sender gone for good before its receiver asks.
func TestSendCloseExit(t *testing.T) {
	t.Parallel()
	ranks := startRanks(t, 2, "flush")
	ranks[0].expect(t, "ready")
	ranks[0].expect(t, "end: <nil>")
	if err := ranks[0].Wait(); err != nil {
		t.Fatal(err)
	}
	ranks[1].expect(t, "ready")
	ranks[1].stdin.Close()
	ranks[1].expect(t, "end: <nil>")
}

// TestConformanceAsRank is the suite as one of several processes, which
// TestConformanceOfProcesses starts.
func TestConformanceAsRank(t *testing.T) {
	run, ok := map[string]func(*testing.T, grouptest.MakeWorld){"suite": grouptest.Run, "partial": grouptest.RunPartialSums}[os.Getenv(roleVariable)]
	if !ok {
		return
	}
	world, err := backend{}.Init(t.Context(), group.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer world.Close()
	run(t, func(t *testing.T, n int) []group.Communicator {
		if n > world.Size() {
			return nil
		}
		color := 0
		if world.Rank() >= n {
			color = group.NoColor
		}
		comm, err := world.(group.Splitter).Split(t.Context(), color, 0)
		if err != nil {
			t.Fatal(err)
		}
		if comm == nil {
			return []group.Communicator{}
		}
		return []group.Communicator{comm}
	})
}

func TestConformanceOfProcesses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		ranks int
		place func(t *testing.T, n int) []string
	}{
		{"two with a coordinator", 2, coordinatorPlace},
		{"three with a host file", 3, hostFilePlace},
		{"three over sockets", 3, socketsPlace},
		{"four with a coordinator and a token", 4, tokenPlace},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			place := append(c.place(t, c.ranks), roleVariable+"=suite")
			ranks := make([]*process, c.ranks)
			for r := range ranks {
				ranks[r] = startRank(t, append(place, env.Rank+"="+fmt.Sprint(r)), suiteOf(c.ranks)...)
			}
			expectSuite(t, ranks)
		})
	}
}

// suiteOf are the arguments of a rank that runs the suite of so many.
func suiteOf(ranks int) []string {
	return []string{fmt.Sprintf("-test.run=^TestConformanceAsRank$/ranks=%d$", ranks), "-test.v"}
}

// expectSuite waits for ranks that run the suite.
func expectSuite(t *testing.T, ranks []*process) {
	t.Helper()
	for r, p := range ranks {
		var out strings.Builder
		for p.lines.Scan() {
			fmt.Fprintln(&out, p.lines.Text())
		}
		if err := p.Wait(); err != nil || !strings.Contains(out.String(), fmt.Sprintf("--- PASS: TestConformanceAsRank/ranks=%d ", len(ranks))) {
			t.Errorf("rank %d: %v\n%s", r, err, out.String())
		}
	}
}

func coordinatorPlace(t *testing.T, n int) []string {
	return []string{env.Size + "=" + fmt.Sprint(n), env.Coordinator + "=" + freeAddress(t)}
}

func socketsPlace(t *testing.T, n int) []string {
	return append(coordinatorPlace(t, n), env.SharedMem+"=0")
}

func tokenPlace(t *testing.T, n int) []string {
	return append(coordinatorPlace(t, n), tokenFile(t, secret))
}

// tokenFile is the variable that names a file with a token.
func tokenFile(t *testing.T, secret []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, secret, 0o600); err != nil {
		t.Fatal(err)
	}
	return env.TokenFile + "=" + path
}

func hostFilePlace(t *testing.T, n int) []string {
	hosts := make([][]string, n)
	for r := range hosts {
		hosts[r] = []string{freeAddress(t)}
	}
	return []string{env.HostFile + "=" + hostFileOf(t, hosts)}
}

func hostFileOf(t *testing.T, list [][]string) string {
	t.Helper()
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "hosts.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
