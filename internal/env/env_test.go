package env

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

type vars map[string]string

// only leaves exactly these of our variables set for the test.
func only(t *testing.T, set vars) {
	t.Helper()
	for _, v := range Variables {
		if value, ok := os.LookupEnv(v.Name); ok {
			t.Setenv(v.Name, value) // restores it after the test
			os.Unsetenv(v.Name)
		}
	}
	for name, value := range set {
		t.Setenv(name, value)
	}
}

// wantError checks that err is one line that holds every word.
func wantError(t *testing.T, err error, words []string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want one with %q", words)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not say %q", err, word)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q has more than one line", err)
	}
}

func TestLookupWorld(t *testing.T) {
	coordinated := func(rank, size string) vars {
		return vars{Rank: rank, Size: size, Coordinator: "host:5000"}
	}
	cases := []struct {
		name  string
		env   vars
		want  World
		found bool
		fails []string
	}{
		{name: "nothing set"},
		{name: "settings without a world", env: vars{Backend: "ring", Timeout: "1s", Coordinator: "h:1", Insecure: "1"}},

		{name: "lockstep with a coordinator", env: coordinated("1", "2"), found: true,
			want: World{Rank: 1, Size: 2, Coordinator: "host:5000", Source: "LOCKSTEP_RANK=1, LOCKSTEP_SIZE=2"}},
		{name: "lockstep on IPv6", env: vars{Rank: "0", Size: "2", Coordinator: "[::1]:5000"}, found: true,
			want: World{Rank: 0, Size: 2, Coordinator: "[::1]:5000", Source: "LOCKSTEP_RANK=0, LOCKSTEP_SIZE=2"}},
		{name: "lockstep alone needs no coordinator", env: vars{Rank: "0", Size: "1"}, found: true,
			want: World{Size: 1, Source: "LOCKSTEP_RANK=0, LOCKSTEP_SIZE=1"}},
		{name: "lockstep with a host file", env: vars{Rank: "3", HostFile: "/h"}, found: true,
			want: World{Rank: 3, HostFile: "/h", Source: "LOCKSTEP_RANK=3, LOCKSTEP_HOSTFILE=/h"}},
		{name: "rank without size", env: vars{Rank: "0"}, fails: []string{"LOCKSTEP_SIZE is not set"}},
		{name: "rank is a word and nothing else is set", env: vars{Rank: "abc"}, fails: []string{`LOCKSTEP_RANK is "abc"`}},
		{name: "size without rank", env: vars{Size: "2"}, fails: []string{"LOCKSTEP_RANK is not set"}},
		{name: "host file without rank", env: vars{HostFile: "/h"}, fails: []string{"LOCKSTEP_RANK is not set"}},
		{name: "no coordinator", env: vars{Rank: "0", Size: "2"}, fails: []string{"LOCKSTEP_COORDINATOR", "LOCKSTEP_HOSTFILE"}},
		{name: "coordinator and host file", env: vars{Rank: "0", Coordinator: "h:1", HostFile: "/h"}, fails: []string{"both set"}},
		{name: "coordinator without port", env: vars{Rank: "0", Size: "2", Coordinator: "host"}, fails: []string{`LOCKSTEP_COORDINATOR is "host"`, "host:port"}},
		{name: "coordinator is empty", env: vars{Rank: "0", Size: "2", Coordinator: ""}, fails: []string{`LOCKSTEP_COORDINATOR is ""`}},
		{name: "host file is empty", env: vars{Rank: "0", HostFile: ""}, fails: []string{`LOCKSTEP_HOSTFILE is ""`}},
		{name: "rank is a word", env: coordinated("abc", "2"), fails: []string{`LOCKSTEP_RANK is "abc"`, "0 to 1"}},
		{name: "rank is empty", env: coordinated("", "2"), fails: []string{`LOCKSTEP_RANK is ""`, "0 to 1"}},
		{name: "rank is negative", env: coordinated("-1", "2"), fails: []string{`LOCKSTEP_RANK is "-1"`, "0 to 1"}},
		{name: "rank is the size", env: coordinated("2", "2"), fails: []string{`LOCKSTEP_RANK is "2"`, "0 to 1"}},
		{name: "rank has a sign", env: coordinated("+1", "2"), fails: []string{`LOCKSTEP_RANK is "+1"`}},
		{name: "rank has a zero before it", env: coordinated("01", "2"), fails: []string{`LOCKSTEP_RANK is "01"`}},
		{name: "rank has a space", env: coordinated(" 1", "2"), fails: []string{`LOCKSTEP_RANK is " 1"`}},
		{name: "size beyond all worlds", env: coordinated("0", "65537"), fails: []string{`LOCKSTEP_SIZE is "65537"`, "from 1 to 65536"}},
		{name: "size is nothing", env: coordinated("0", "0"), fails: []string{`LOCKSTEP_SIZE is "0"`, "from 1 to 65536"}},
		{name: "size is enormous", env: coordinated("0", "99999999999"), fails: []string{`LOCKSTEP_SIZE is "99999999999"`}},

		{name: "MLX", env: vars{MLXRank: "1", MLXHostFile: "/h"}, found: true,
			want: World{Rank: 1, HostFile: "/h", Source: "MLX_RANK=1, MLX_HOSTFILE=/h"}},
		{name: "MLX without host file", env: vars{MLXRank: "1"}, fails: []string{`MLX_RANK is "1"`, "MLX_HOSTFILE is not set"}},
		{name: "MLX without rank", env: vars{MLXHostFile: "/h"}, fails: []string{"MLX_RANK is not set"}},
		{name: "MLX rank is a word", env: vars{MLXRank: "abc", MLXHostFile: "/h"}, fails: []string{`MLX_RANK is "abc"`}},
		{name: "MLX rank is negative", env: vars{MLXRank: "-1", MLXHostFile: "/h"}, fails: []string{`MLX_RANK is "-1"`}},
		{name: "MLX rank is empty", env: vars{MLXRank: "", MLXHostFile: "/h"}, fails: []string{`MLX_RANK is ""`}},

		{name: "torch", env: vars{TorchRank: "1", TorchSize: "2", MasterAddr: "host", MasterPort: "29500"}, found: true,
			want: World{Rank: 1, Size: 2, Coordinator: "host:29500", Source: "RANK=1, WORLD_SIZE=2"}},
		{name: "torch on IPv6", env: vars{TorchRank: "0", TorchSize: "2", MasterAddr: "fe80::1", MasterPort: "29500"}, found: true,
			want: World{Size: 2, Coordinator: "[fe80::1]:29500", Source: "RANK=0, WORLD_SIZE=2"}},
		{name: "a RANK of something else", env: vars{TorchRank: "captain"}},
		{name: "torch without address", env: vars{TorchRank: "0", TorchSize: "2", MasterPort: "1"}, fails: []string{"MASTER_ADDR is not set"}},
		{name: "torch with an empty address", env: vars{TorchRank: "0", TorchSize: "2", MasterAddr: "", MasterPort: "1"}, fails: []string{`MASTER_ADDR is ""`}},
		{name: "torch without port", env: vars{TorchRank: "0", TorchSize: "2", MasterAddr: "h"}, fails: []string{"MASTER_PORT is not set"}},
		{name: "torch port too high", env: vars{TorchRank: "0", TorchSize: "2", MasterAddr: "h", MasterPort: "65536"}, fails: []string{`MASTER_PORT is "65536"`, "65535"}},
		{name: "torch size is a word", env: vars{TorchRank: "0", TorchSize: "two"}, fails: []string{`WORLD_SIZE is "two"`}},

		{name: "mpirun with our coordinator", env: vars{OpenMPIRank: "1", OpenMPISize: "4", Coordinator: "h:1"}, found: true,
			want: World{Rank: 1, Size: 4, Coordinator: "h:1", Source: "OMPI_COMM_WORLD_RANK=1, OMPI_COMM_WORLD_SIZE=4"}},
		{name: "mpirun with torch's coordinator", env: vars{OpenMPIRank: "1", OpenMPISize: "4", MasterAddr: "h", MasterPort: "1"}, found: true,
			want: World{Rank: 1, Size: 4, Coordinator: "h:1", Source: "OMPI_COMM_WORLD_RANK=1, OMPI_COMM_WORLD_SIZE=4"}},
		{name: "mpirun of one", env: vars{OpenMPIRank: "0", OpenMPISize: "1"}, found: true,
			want: World{Size: 1, Source: "OMPI_COMM_WORLD_RANK=0, OMPI_COMM_WORLD_SIZE=1"}},
		{name: "mpirun without coordinator", env: vars{OpenMPIRank: "1", OpenMPISize: "4"}, fails: []string{"OMPI_COMM_WORLD_SIZE=4", "LOCKSTEP_COORDINATOR"}},
		{name: "mpirun without size", env: vars{OpenMPIRank: "1"}, fails: []string{"OMPI_COMM_WORLD_SIZE is not set"}},

		{name: "a Slurm step", env: vars{SlurmStep: "0", SlurmRank: "1", SlurmTasks: "2", Coordinator: "h:1"}, found: true,
			want: World{Rank: 1, Size: 2, Coordinator: "h:1", Source: "SLURM_PROCID=1, SLURM_NTASKS=2"}},
		{name: "Slurm outside a step", env: vars{SlurmRank: "0", SlurmTasks: "2"}},
		{name: "a Slurm step without coordinator", env: vars{SlurmStep: "0", SlurmRank: "1", SlurmTasks: "2"}, found: true,
			want: World{Rank: 1, Size: 2, Step: true, Source: "SLURM_PROCID=1, SLURM_NTASKS=2"}},
		{name: "a Slurm step smaller than its job", env: vars{SlurmStep: "0", SlurmRank: "1", SlurmStepTasks: "2", SlurmTasks: "8"}, found: true,
			want: World{Rank: 1, Size: 2, Step: true, Source: "SLURM_PROCID=1, SLURM_STEP_NUM_TASKS=2"}},
		{name: "a Slurm step with a wrong coordinator", env: vars{SlurmStep: "0", SlurmRank: "1", SlurmTasks: "2", Coordinator: "h"}, fails: []string{`LOCKSTEP_COORDINATOR is "h"`}},
		{name: "a Slurm step without rank", env: vars{SlurmStep: "0", SlurmTasks: "2"}, fails: []string{"SLURM_PROCID is not set"}},

		{name: "lockstep before mpirun", env: vars{Rank: "0", HostFile: "/h", OpenMPIRank: "1", OpenMPISize: "4"}, found: true,
			want: World{HostFile: "/h", Source: "LOCKSTEP_RANK=0, LOCKSTEP_HOSTFILE=/h"}},
		{name: "a wrong source is not skipped", env: vars{Rank: "x", Size: "2", MLXRank: "0", MLXHostFile: "/h"}, fails: []string{`LOCKSTEP_RANK is "x"`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			only(t, c.env)
			w, found, err := LookupWorld()
			if c.fails != nil {
				wantError(t, err, c.fails)
				return
			}
			if err != nil || found != c.found || w != c.want {
				t.Errorf("got %+v, %v, %v; want %+v, %v", w, found, err, c.want, c.found)
			}
		})
	}
}

func TestLookupTimeout(t *testing.T) {
	cases := []struct {
		name  string
		env   vars
		want  time.Duration
		fails bool
	}{
		{"not set", nil, 0, false},
		{"right", vars{Timeout: "1m30s"}, 90 * time.Second, false},
		{"empty", vars{Timeout: ""}, 0, true},
		{"no unit", vars{Timeout: "90"}, 0, true},
		{"zero", vars{Timeout: "0s"}, 0, true},
		{"negative", vars{Timeout: "-1s"}, 0, true},
		{"a word", vars{Timeout: "soon"}, 0, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			only(t, c.env)
			got, err := LookupTimeout()
			if c.fails {
				wantError(t, err, []string{"LOCKSTEP_TIMEOUT is " + strconv.Quote(c.env[Timeout]), "90s"})
			} else if err != nil || got != c.want {
				t.Errorf("%v, %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestLookupStall(t *testing.T) {
	only(t, nil)
	if d, err := LookupStall(); d != 0 || err != nil {
		t.Errorf("not set: %v, %v", d, err)
	}
	only(t, vars{Stall: "2m"})
	if d, err := LookupStall(); d != 2*time.Minute || err != nil {
		t.Errorf("2m: %v, %v", d, err)
	}
	for _, v := range []string{"", "0s", "-1s", "60", "never"} {
		only(t, vars{Stall: v})
		_, err := LookupStall()
		wantError(t, err, []string{"LOCKSTEP_STALL_WARNING is " + strconv.Quote(v), "30s"})
	}
}

func TestLookupBackend(t *testing.T) {
	only(t, nil)
	if v, err := LookupBackend(); v != "" || err != nil {
		t.Errorf("not set: %q, %v", v, err)
	}
	t.Setenv(Backend, "ring")
	if v, err := LookupBackend(); v != "ring" || err != nil {
		t.Errorf("set: %q, %v", v, err)
	}
	t.Setenv(Backend, "")
	_, err := LookupBackend()
	wantError(t, err, []string{`LOCKSTEP_BACKEND is ""`, "any"})
}

func TestLookupSharedMemory(t *testing.T) {
	only(t, nil)
	if on, err := LookupSharedMemory(); !on || err != nil {
		t.Errorf("not set: %v, %v; want true", on, err)
	}
	for value, want := range map[string]bool{"0": false, "1": true} {
		t.Setenv(SharedMem, value)
		if on, err := LookupSharedMemory(); on != want || err != nil {
			t.Errorf("%q: %v, %v; want %v", value, on, err, want)
		}
	}
	for _, value := range []string{"", "no", "2"} {
		t.Setenv(SharedMem, value)
		if _, err := LookupSharedMemory(); err == nil || !strings.Contains(err.Error(), SharedMem) {
			t.Errorf("%q: error %v, want one that names the variable", value, err)
		}
	}
}

func TestLookupInsecure(t *testing.T) {
	only(t, nil)
	if on, err := LookupInsecure(); on || err != nil {
		t.Errorf("not set: %v, %v", on, err)
	}
	for value, want := range map[string]bool{"0": false, "1": true} {
		t.Setenv(Insecure, value)
		if on, err := LookupInsecure(); on != want || err != nil {
			t.Errorf("%q: %v, %v", value, on, err)
		}
	}
	for _, value := range []string{"", "yes", "true", "2"} {
		t.Setenv(Insecure, value)
		_, err := LookupInsecure()
		wantError(t, err, []string{"LOCKSTEP_INSECURE is " + strconv.Quote(value), "0 or 1"})
	}
}

func TestLookupToken(t *testing.T) {
	only(t, nil)
	if token, err := LookupToken(); token != nil || err != nil {
		t.Errorf("not set: %q, %v", token, err)
	}
	path := filepath.Join(t.TempDir(), "token")
	write := func(content string) {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(TokenFile, path)
	_, err := LookupToken()
	wantError(t, err, []string{TokenFile, path})
	write(" secret\n")
	if token, err := LookupToken(); string(token) != "secret" || err != nil {
		t.Errorf("set: %q, %v", token, err)
	}
	write(" \n")
	_, err = LookupToken()
	wantError(t, err, []string{TokenFile, path, "no token"})
	for mode, allowed := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o604: false, 0o620: false, 0o666: false} {
		write("secret")
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		token, err := LookupToken()
		if allowed != (err == nil) || allowed != (string(token) == "secret") {
			t.Errorf("mode %04o: %q, %v", mode, token, err)
		}
		if !allowed {
			wantError(t, err, []string{TokenFile, path, "0600", "chmod"})
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(strings.Repeat("x", maxToken))
	if token, err := LookupToken(); len(token) != maxToken || err != nil {
		t.Errorf("longest: %d bytes, %v", len(token), err)
	}
	write(strings.Repeat("x", maxToken+1))
	_, err = LookupToken()
	wantError(t, err, []string{TokenFile, path, "more than 65536 bytes"})
	t.Setenv(TokenFile, "/dev/zero")
	_, err = LookupToken()
	wantError(t, err, []string{TokenFile, "/dev/zero", "more than"})
}

func TestLookupLog(t *testing.T) {
	only(t, nil)
	if level, err := LookupLog(); level != slog.LevelWarn || err != nil {
		t.Errorf("not set: %v, %v", level, err)
	}
	for v, want := range map[string]slog.Level{"debug": -4, "info": 0, "warn": 4, "error": 8} {
		t.Setenv(Log, v)
		if level, err := LookupLog(); level != want || err != nil {
			t.Errorf("%s: %v, %v", v, level, err)
		}
	}
	for _, v := range []string{"", "loud", "WARN", "warn+1"} {
		t.Setenv(Log, v)
		_, err := LookupLog()
		wantError(t, err, []string{Log, strconv.Quote(v), "debug, info, warn or error"})
	}
}

func TestLongValuesAreCutInMessages(t *testing.T) {
	only(t, vars{Timeout: strings.Repeat("9", 100_000)})
	_, err := LookupTimeout()
	wantError(t, err, []string{Timeout, "999…"})
	if n := len(err.Error()); n > 400 {
		t.Errorf("message of %d bytes", n)
	}
}

func TestMPILauncher(t *testing.T) {
	cases := []struct {
		name  string
		env   vars
		ok    bool
		found string
	}{
		{"nothing", nil, false, OpenMPISize},
		{"mpirun", vars{OpenMPISize: "4"}, true, "OMPI_COMM_WORLD_SIZE=4"},
		{"srun with PMIx", vars{SlurmStep: "0", PMIxSpace: "slurm.1.0"}, true, "PMIX_NAMESPACE=slurm.1.0"},
		{"srun without PMIx", vars{SlurmStep: "0"}, false, PMIxSpace},
		{"PMIx without srun", vars{PMIxSpace: "x"}, false, SlurmStep},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			only(t, c.env)
			found, ok := MPILauncher()
			if ok != c.ok || !strings.Contains(found, c.found) {
				t.Errorf("%q, %v; want %q, %v", found, ok, c.found, c.ok)
			}
		})
	}
}

func TestMPISize(t *testing.T) {
	for _, c := range []struct {
		name  string
		env   vars
		size  int
		found string
		fails []string
	}{
		{name: "nothing"},
		{name: "mpirun", env: vars{OpenMPISize: "4"}, size: 4, found: OpenMPISize},
		{name: "mpirun in a Slurm step", env: vars{OpenMPISize: "4", SlurmStep: "0", SlurmTasks: "2"}, size: 4, found: OpenMPISize},
		{name: "srun", env: vars{SlurmStep: "0", SlurmTasks: "2"}, size: 2, found: SlurmTasks},
		{name: "srun of a part of the job", env: vars{SlurmStep: "0", SlurmStepTasks: "2", SlurmTasks: "8"}, size: 2, found: SlurmStepTasks},
		{name: "an allocation without a step", env: vars{SlurmTasks: "2"}},
		{name: "no number", env: vars{OpenMPISize: "four"}, found: OpenMPISize, fails: []string{OpenMPISize, `"four"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			only(t, c.env)
			size, found, err := MPISize()
			if size != c.size || found != c.found {
				t.Errorf("%d by %q, want %d by %q", size, found, c.size, c.found)
			}
			if c.fails != nil || err != nil {
				wantError(t, err, c.fails)
			}
		})
	}
}

func TestLaunchers(t *testing.T) {
	cases := []struct {
		name string
		env  vars
		want []string
	}{
		{"nothing", nil, nil},
		{"settings only", vars{Backend: "ring", Coordinator: "h:1"}, nil},
		{"our launcher", vars{Rank: "1", Size: "2"}, []string{"LOCKSTEP_RANK=1"}},
		{"host files", vars{HostFile: "/a", MLXHostFile: "/b"}, []string{"LOCKSTEP_HOSTFILE=/a", "MLX_HOSTFILE=/b"}},
		{"mpirun of four", vars{OpenMPIRank: "0", OpenMPISize: "4"}, []string{"OMPI_COMM_WORLD_SIZE=4"}},
		{"mpirun of one", vars{OpenMPIRank: "0", OpenMPISize: "1"}, nil},
		{"a world size of one", vars{TorchSize: "1"}, nil},
		{"torch and Slurm", vars{TorchSize: "2", SlurmStep: "0"}, []string{"WORLD_SIZE=2", "SLURM_STEP_ID=0"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			only(t, c.env)
			if got := Launchers(); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestVariablesAreDescribedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range Variables {
		if v.Name == "" || v.Allowed == "" || v.Meaning == "" || seen[v.Name] {
			t.Errorf("%+v is incomplete or listed twice", v)
		}
		seen[v.Name] = true
	}
}

func TestSplitHostPort(t *testing.T) {
	right := []struct {
		address, host string
		port          int
	}{
		{"host:5000", "host", 5000},
		{"10.0.0.1:0", "10.0.0.1", 0},
		{"[::1]:5000", "::1", 5000},
		{"[fe80::1%eth0]:65535", "fe80::1%eth0", 65535},
	}
	for _, c := range right {
		host, port, err := SplitHostPort("entry", c.address)
		if host != c.host || port != c.port || err != nil {
			t.Errorf("%q: %q, %d, %v", c.address, host, port, err)
		}
	}
	for _, address := range []string{"two words:1", "tab\t:1", "line\nend:1", "zero\x00:1", "no\u00a0break:1", strings.Repeat("h", 100) + "\n:1", "", "host", ":5000", "host:", "host:port", "host:-1", "host:65536", "::1:5000", "[::1]", "host:50:00", "host:+5"} {
		_, _, err := SplitHostPort("entry 3", address)
		wantError(t, err, []string{"entry 3 is " + strconv.Quote(address), "host:port"})
	}
}

func TestLongestHost(t *testing.T) {
	longest := strings.Repeat("h", maxHost)
	if host, _, err := SplitHostPort("entry", longest+":1"); host != longest || err != nil {
		t.Errorf("%d bytes, %v", len(host), err)
	}
	_, _, err := SplitHostPort("entry", longest+"h:1")
	wantError(t, err, []string{"entry is", "host:port"})
}

func FuzzSplitHostPort(f *testing.F) {
	for _, seed := range []string{"host:5000", "[::1]:5000", "::1:5000", "host:", "[", "a:65536"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		host, port, err := SplitHostPort("entry", address)
		if err != nil {
			if host != "" || port != 0 {
				t.Errorf("%q: %q and %d beside an error", address, host, port)
			}
			return
		}
		if host == "" || port < 0 || port > 65535 {
			t.Fatalf("%q: accepted %q, %d", address, host, port)
		}
		again, same, err := SplitHostPort("entry", net.JoinHostPort(host, strconv.Itoa(port)))
		if again != host || same != port || err != nil {
			t.Errorf("%q: %q, %d becomes %q, %d, %v", address, host, port, again, same, err)
		}
	})
}

func TestLookupCacheLimit(t *testing.T) {
	only(t, nil)
	if _, set, err := LookupCacheLimit(); set || err != nil {
		t.Errorf("not set: %v, %v", set, err)
	}
	for v, want := range map[string]int64{"0": 0, "4096": 4096, "3KiB": 3072, "512MiB": 512 << 20, "2GiB": 2 << 30} {
		only(t, map[string]string{CacheLimit: v})
		if n, set, err := LookupCacheLimit(); n != want || !set || err != nil {
			t.Errorf("%q: %d, %v, %v, want %d", v, n, set, err, want)
		}
	}
	for _, v := range []string{"", "-1", "MiB", "1.5GiB", "1 GiB", "9000000000GiB", "99999999999999999999"} {
		only(t, map[string]string{CacheLimit: v})
		_, _, err := LookupCacheLimit()
		wantError(t, err, []string{CacheLimit, "512MiB"})
	}
}

func TestLookupHowRanksTalk(t *testing.T) {
	for _, c := range []struct {
		name   string
		lookup func() (string, error)
		values []string
	}{
		{Topology, LookupTopology, Topologies},
		{Reduce, LookupReduce, Reductions},
		{Schedule, LookupSchedule, Schedules},
	} {
		t.Run(c.name, func(t *testing.T) {
			only(t, nil)
			if got, err := c.lookup(); got != "" || err != nil {
				t.Errorf("not set: %q, %v", got, err)
			}
			for _, value := range c.values {
				t.Setenv(c.name, value)
				if got, err := c.lookup(); got != value || err != nil {
					t.Errorf("%q, %v, want %q", got, err, value)
				}
			}
			for _, value := range []string{"", "Ring", "star", " ring", "auto "} {
				t.Setenv(c.name, value)
				_, err := c.lookup()
				if err == nil || !strings.Contains(err.Error(), c.name) || !strings.Contains(err.Error(), c.values[1]) {
					t.Errorf("%q: error %v, want one that names %s and what is allowed", value, err, c.name)
				}
			}
		})
	}
}
