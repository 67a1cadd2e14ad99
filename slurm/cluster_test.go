//go:build linux && !race

package slurm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/internal/env"
)

// The tests of this file and its neighbours submit the scripts of this folder to a Slurm of
// four nodes, which is started when first needed and ended with the tests.

func TestMain(m *testing.M) {
	for _, v := range env.Variables {
		os.Unsetenv(v.Name) // a step around the tests is not the jobs' step
	}
	code := m.Run()
	if err := fixture.end(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// cluster is the Slurm of these tests, and the programs that they submit.
type cluster struct {
	once    sync.Once
	missing string // why there is none here
	err     error
	dir     string
	bin     string // the programs
}

var fixture cluster

const clusterScript = "../scripts/slurm-cluster"

// needCluster starts the cluster unless it is there. Where none can be, the test is skipped; where
// packages can be installed, CI=true makes that a failure.
func needCluster(t *testing.T) *cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("real Slurm jobs are left out of short tests")
	}
	c := &fixture
	c.once.Do(c.start)
	if c.missing != "" {
		_, err := exec.LookPath("apt-get")
		if os.Getenv("CI") == "true" && os.Geteuid() == 0 && err == nil {
			t.Fatalf("no Slurm: %s; scripts/setup installs it", c.missing)
		}
		t.Skipf("no Slurm: %s", c.missing)
	}
	if c.err != nil {
		t.Fatal(c.err)
	}
	return c
}

func (c *cluster) start() {
	if out, err := exec.Command(clusterScript, "check").CombinedOutput(); err != nil {
		c.missing = strings.TrimSpace(string(out))
		return
	}
	if c.dir, c.err = os.MkdirTemp("", "slurm"); c.err != nil {
		return
	}
	if c.err = os.Chmod(c.dir, 0o755); c.err != nil { // munge wants to be able to get through
		return
	}
	c.bin = filepath.Join(c.dir, "bin")
	if err := os.Mkdir(c.bin, 0o755); err != nil {
		c.err = err
		return
	}
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-tags", buildTags, "-o", c.bin, "../jobs/...").CombinedOutput(); err != nil {
		c.err = fmt.Errorf("go build: %w\n%s", err, out)
		return
	}
	if out, err := exec.Command(clusterScript, "up", c.home()).CombinedOutput(); err != nil {
		c.err = fmt.Errorf("%s up: %w\n%s", clusterScript, err, out)
	}
}

func (c *cluster) home() string { return filepath.Join(c.dir, "cluster") }

func (c *cluster) end() error {
	if c.dir == "" {
		return nil
	}
	out, err := exec.Command(clusterScript, "down", c.home()).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s down: %w\n%s", clusterScript, err, out)
	}
	return os.RemoveAll(c.dir)
}

// command is one of Slurm's, run in a folder.
func (c *cluster) command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	// As root, Open MPI wants to be told that this is meant.
	cmd.Env = append(os.Environ(), "SLURM_CONF="+filepath.Join(c.home(), "slurm.conf"), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	return cmd
}

func (c *cluster) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	var out, failed bytes.Buffer
	cmd := c.command(t.TempDir(), name, args...)
	cmd.Stdout, cmd.Stderr = &out, &failed
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %q: %v: %s", name, args, err, &failed)
	}
	return strings.TrimSpace(out.String())
}

// job is one that was submitted.
type job struct {
	c        *cluster
	id       string
	dir, out string // where it runs, and its output there
}

// workplace is a folder that holds the programs.
func (c *cluster) workplace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	programs, err := os.ReadDir(c.bin)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		if err := os.Symlink(filepath.Join(c.bin, p.Name()), filepath.Join(dir, p.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// submit submits a script of this folder, as it is, to run in dir. The test's end ends it.
func (c *cluster) submit(t *testing.T, dir, script string, options []string, args ...string) *job {
	t.Helper()
	path, err := filepath.Abs(script)
	if err != nil {
		t.Fatal(err)
	}
	j := &job{c: c, dir: dir, out: filepath.Join(dir, "out")}
	all := append([]string{"--parsable", "--chdir=" + dir, "--output=" + j.out}, options...)
	j.id = c.run(t, "sbatch", append(append(all, path), args...)...)
	t.Cleanup(func() {
		c.command(dir, "scancel", j.id).Run()
		j.wait(t)
		if t.Failed() {
			t.Logf("job %s, %s:\n%s", j.id, script, j.output(t))
		}
	})
	return j
}

// patience is far longer than any job here takes.
const patience = 4 * time.Minute

// pause is between two looks at a job.
func pause() { time.Sleep(100 * time.Millisecond) }

// wait waits for the job's end and returns how Slurm says that it went, such as COMPLETED.
func (j *job) wait(t *testing.T) string {
	t.Helper()
	for until := time.Now().Add(patience); time.Now().Before(until); pause() {
		switch state := j.property(t, "JobState"); state {
		case "PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "REQUEUED":
		default:
			return state
		}
	}
	t.Fatalf("job %s has not ended after %v:\n%s", j.id, patience, j.output(t))
	return ""
}

// property is one of those that scontrol shows.
func (j *job) property(t *testing.T, name string) string {
	t.Helper()
	out, err := j.c.command(j.dir, "scontrol", "show", "job", "-o", j.id).CombinedOutput()
	if err != nil {
		t.Fatalf("scontrol show job %s: %v: %s", j.id, err, out)
	}
	for field := range strings.FieldsSeq(string(out)) {
		if value, ok := strings.CutPrefix(field, name+"="); ok {
			return value
		}
	}
	return ""
}

func (j *job) output(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(j.out)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// await waits until the output has some text in it.
func (j *job) await(t *testing.T, text string) {
	t.Helper()
	for until := time.Now().Add(patience); !strings.Contains(j.output(t), text); pause() {
		if state := j.property(t, "JobState"); time.Now().After(until) || state != "PENDING" && state != "RUNNING" && state != "COMPLETING" {
			t.Fatalf("job %s is %s and has not written %q:\n%s", j.id, state, text, j.output(t))
		}
	}
}

// completed waits for the job, which is to end well and leave no token behind.
func (j *job) completed(t *testing.T) {
	t.Helper()
	if state := j.wait(t); state != "COMPLETED" {
		t.Fatalf("job %s is %s:\n%s", j.id, state, j.output(t))
	}
	j.leavesNoToken(t)
}

// keepsASecret checks that a job that runs has one token, which nobody but its owner can read.
func (j *job) keepsASecret(t *testing.T) {
	t.Helper()
	tokens, err := filepath.Glob(filepath.Join(j.dir, ".token*"))
	if err != nil || len(tokens) != 1 {
		t.Fatalf("tokens %q, %v; want one", tokens, err)
	}
	if info, err := os.Stat(tokens[0]); err != nil || info.Mode() != 0o600 || info.Size() < 32 {
		t.Errorf("%s is %v of %d bytes, %v; want mode 0600", tokens[0], info.Mode(), info.Size(), err)
	}
}

func (j *job) leavesNoToken(t *testing.T) {
	t.Helper()
	if left, _ := filepath.Glob(filepath.Join(j.dir, ".token*")); len(left) > 0 {
		t.Errorf("the job leaves %q", left)
	}
}

// task finds the process of a rank of the job.
func (j *job) task(t *testing.T, rank int) int {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		environ, err := os.ReadFile(filepath.Join(dir, "environ"))
		name, err2 := os.ReadFile(filepath.Join(dir, "comm"))
		if err != nil || err2 != nil || strings.TrimSpace(string(name)) != "train" {
			continue // it has ended, or is another user's
		}
		set := "\x00" + string(environ)
		if strings.Contains(set, "\x00SLURM_JOB_ID="+j.id+"\x00") && strings.Contains(set, "\x00SLURM_PROCID="+strconv.Itoa(rank)+"\x00") &&
			strings.Contains(set, "\x00SLURM_CONF="+j.c.home()) {
			pid, err := strconv.Atoi(filepath.Base(dir))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
	}
	t.Fatalf("found no process of rank %d of job %s", rank, j.id)
	return 0
}

// outcome is the last line of train -json.
type outcome struct {
	Done    bool    `json:"done"`
	Loss    float64 `json:"loss"`
	Backend string  `json:"backend"`
	Size    int     `json:"size"`
	SHA256  string  `json:"params_sha256"`
	Equal   bool    `json:"ranks_equal"`
}

// outcomeOf finds it in some output.
func outcomeOf(t *testing.T, text string) (o outcome) {
	t.Helper()
	for line := range strings.Lines(text) {
		if json.Unmarshal([]byte(line), &o) == nil && o.Done {
			return o
		}
	}
	t.Fatalf("no outcome in\n%s", text)
	return o
}

// here trains with so many ranks under ./launch.
func (c *cluster) here(t *testing.T, ranks int, args ...string) outcome {
	t.Helper()
	all := append([]string{"-n", strconv.Itoa(ranks), "--backend", "ring", filepath.Join(c.bin, "train"), "-json"}, args...)
	out, err := exec.Command(filepath.Join(c.bin, "launch"), all...).CombinedOutput()
	if err != nil {
		t.Fatalf("launch: %v\n%s", err, out)
	}
	return outcomeOf(t, string(out))
}

// check compares a job's outcome with that of as many ranks here.
func (o outcome) check(t *testing.T, here outcome, backend string) {
	t.Helper()
	if o.Backend != backend || o.Size != here.Size || !o.Equal || o.SHA256 != here.SHA256 || o.Loss != here.Loss {
		t.Errorf("under Slurm %+v; want backend %s and otherwise as here %+v", o, backend, here)
	}
}
