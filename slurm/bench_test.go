//go:build linux && !race

package slurm_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// backends are those that the programs under test have, of the two in bench.sbatch.
func backends() []string {
	if buildTags == "" {
		return []string{"ring"}
	}
	return []string{"ring", "mpi"}
}

func TestBench(t *testing.T) {
	c := needCluster(t)
	dir := c.workplace(t)
	text, err := os.ReadFile("bench.sbatch")
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(text), "\nbackends=(ring mpi)", "\nbackends=("+strings.Join(backends(), " ")+")", 1)
	if len(backends()) < 2 && edited == string(text) {
		t.Fatal("the line is not there")
	}
	script := filepath.Join(dir, "bench.sbatch")
	if err := os.WriteFile(script, []byte(edited), 0o700); err != nil {
		t.Fatal(err)
	}
	j := c.submit(t, dir, script, nil, "-only", "latency,all_reduce", "-sizes", "1KiB,16KiB", "-iterations", "10")
	j.completed(t)
	for _, backend := range backends() {
		for _, words := range []string{"Latency Test, 2 ranks on " + backend, "Allreduce Latency Test, 2 ranks on " + backend} {
			if !strings.Contains(j.output(t), words) {
				t.Errorf("the output has no %q", words)
			}
		}
		var figures struct {
			Backend string
			Ranks   int
			Results []struct {
				Operation string
				Bytes     int
				Mean      float64
			}
		}
		data, err := os.ReadFile(filepath.Join(dir, "bench-"+backend+"-"+j.id+".json"))
		if err == nil {
			err = json.Unmarshal(data, &figures)
		}
		if err != nil {
			t.Fatal(err)
		}
		if figures.Backend != backend || figures.Ranks != 2 || len(figures.Results) != 4 {
			t.Errorf("figures of %s: %+v", backend, figures)
		}
		for _, r := range figures.Results {
			if !(r.Mean > 0) || r.Bytes != 1<<10 && r.Bytes != 16<<10 {
				t.Errorf("figures of %s: %+v", backend, r)
			}
		}
		picture, err := os.ReadFile(filepath.Join(dir, "bench-"+backend+"-"+j.id+".png"))
		if err != nil || !bytes.HasPrefix(picture, []byte("\x89PNG")) {
			t.Errorf("no picture of %s: %v", backend, err)
		}
	}
}
