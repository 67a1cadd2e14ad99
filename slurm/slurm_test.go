package slurm_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/slurm"
)

var hostLists = map[string]string{
	"n1":                 "n1",
	"n1,n2":              "n1 n2",
	"n[1-3]":             "n1 n2 n3",
	"n[01-03,7],m[1-2]x": "n01 n02 n03 n7 m1x m2x",
	"n[9-11]":            "n9 n10 n11",
	"n[09-11]":           "n09 n10 n11",
	"n[001-3]":           "n001 n002 n003",
	"n[5]":               "n5",
	"r[1-2]n[1-2]":       "r1n1 r1n2 r2n1 r2n2",
	"rack-1.node_2":      "rack-1.node_2",
	"a[1,3],b,a[2]":      "a1 a3 b a2",
	"n1.example.org,x":   "n1.example.org x",
	"[1-2]":              "1 2",
	"n[7,7]":             "n7 n7",
}

func TestExpandHosts(t *testing.T) {
	for list, want := range hostLists {
		if got, err := slurm.ExpandHosts(list); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v; want %q", list, got, err, want)
		}
	}
}

// Slurm itself is the other reading of the same lists.
func TestExpandHostsAsSlurmDoes(t *testing.T) {
	scontrol, err := exec.LookPath("scontrol")
	if err != nil {
		t.Skip("there is no scontrol here")
	}
	conf := filepath.Join(t.TempDir(), "slurm.conf") // it reads one before anything else
	if err := os.WriteFile(conf, []byte("ClusterName=test\nSlurmctldHost=localhost\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLURM_CONF", conf)
	for list := range hostLists {
		if strings.Contains(list, "]x") {
			continue // there are versions that know nothing behind a bracket
		}
		out, err := exec.Command(scontrol, "show", "hostnames", list).CombinedOutput()
		if err != nil {
			t.Fatalf("scontrol show hostnames %s: %v: %s", list, err, out)
		}
		got, err := slurm.ExpandHosts(list)
		if want := strings.Fields(string(out)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; Slurm says %q", list, got, err, want)
		}
	}
}

func TestWrongHostLists(t *testing.T) {
	for list, words := range map[string]string{
		"":                       "is empty",
		"a,":                     "is empty",
		",a":                     "is empty",
		"a,,b":                   "is empty",
		"n[1-3":                  "no ]",
		"n[":                     "no ]",
		"n]":                     `"]"`,
		"n[[1]]":                 "neither a number nor a range",
		"n[]":                    "neither a number nor a range",
		"n[3-1]":                 "counts up",
		"n[-1]":                  "counts up",
		"n[1-]":                  "counts up",
		"n[a]":                   `"a"`,
		"n[1-2-3]":               "counts up",
		"n[+1]":                  "counts up",
		"n 1":                    `" "`,
		"n;rm":                   `";"`,
		"n[0-99999999]":          "more than 65536",
		"n[0-9][0-9][0-9][0-99]": "more than 65536",
		"n[0-65535],m":           "more than 65536",
		"n[9999999999]":          "neither a number",
	} {
		got, err := slurm.ExpandHosts(list)
		if err == nil || got != nil || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), "host list") {
			t.Errorf("%q: %d hosts, %v; want %q", list, len(got), err, words)
		}
	}
}

func TestExpandTasks(t *testing.T) {
	for list, want := range map[string][]int{
		"1": {1}, "2(x3),1": {2, 2, 2, 1}, "4,2": {4, 2}, "1(x1)": {1}, "03": {3},
	} {
		if got, err := slurm.ExpandTasks(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", list, got, err, want)
		}
	}
	for _, list := range []string{"", "0", "2(x0)", "2(x3", "2x3", "2(3)", "2(x3)1", "a", "-1", "1,", "2(x-1)", "65537", "2(x65536)", "256(x256),1", "99999999999"} {
		if got, err := slurm.ExpandTasks(list); err == nil || !strings.Contains(err.Error(), "tasks per node") {
			t.Errorf("%q: %v, %v", list, got, err)
		}
	}
}

// What is read stays within its limits and, written plainly, reads the same again.
func FuzzExpandHosts(f *testing.F) {
	for list := range hostLists {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		hosts, err := slurm.ExpandHosts(list)
		if err != nil {
			return
		}
		if len(hosts) == 0 || len(hosts) > slurm.MaxHosts {
			t.Fatalf("%d hosts", len(hosts))
		}
		again, err := slurm.ExpandHosts(strings.Join(hosts, ","))
		if err != nil || !slices.Equal(hosts, again) {
			t.Fatalf("%q became %q, then %q, %v", list, hosts, again, err)
		}
	})
}

func FuzzExpandTasks(f *testing.F) {
	f.Add("2(x3),1")
	f.Fuzz(func(t *testing.T, list string) {
		tasks, err := slurm.ExpandTasks(list)
		if err != nil {
			return
		}
		again, err := slurm.ExpandTasks(strings.Trim(strings.ReplaceAll(fmt.Sprint(tasks), " ", ","), "[]"))
		if err != nil || !slices.Equal(tasks, again) {
			t.Fatalf("%q became %v, then %v, %v", list, tasks, again, err)
		}
	})
}
