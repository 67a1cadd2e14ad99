package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEveryRankHasALog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "logs")
	r := run(t, nil, []string{"-n", "3", "--tag-output", "--log-dir", dir}, "lines", "1000")
	for rank := range 3 {
		var want strings.Builder
		for i := range 1000 {
			want.WriteString(line(rank, i) + "\n")
		}
		name := filepath.Join(dir, "rank-"+string(rune('0'+rank))+".log")
		if got, err := os.ReadFile(name); err != nil || string(got) != want.String() {
			t.Errorf("rank %d: %d bytes, %v; want %d", rank, len(got), err, want.Len())
		}
	}
	if r.code != 0 || strings.Count(r.stdout, "\n") != 3000 {
		t.Errorf("code %d, %d lines of output; want 0, 3000", r.code, strings.Count(r.stdout, "\n"))
	}
}

func TestALogHasBothOutputs(t *testing.T) {
	dir := t.TempDir()
	run(t, nil, []string{"--log-dir", dir}, "write", "out", "err")
	got, err := os.ReadFile(filepath.Join(dir, "rank-0.log"))
	if text := string(got); err != nil || text != "outerr" && text != "errout" {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestLogsThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	r := run(t, nil, []string{"--log-dir", file}, "lines", "1")
	if r.code != 1 || r.stdout != "" || !strings.HasPrefix(r.stderr, "launch: --log-dir: mkdir "+file) {
		t.Errorf("code %d, %q, %q", r.code, r.stdout, r.stderr)
	}
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full here")
	}
	dir := t.TempDir()
	if err := os.Symlink("/dev/full", filepath.Join(dir, "rank-0.log")); err != nil {
		t.Fatal(err)
	}
	r = run(t, nil, []string{"--log-dir", dir}, "lines", "1")
	if r.code != 1 || !strings.Contains(r.stderr, "no space left on device") {
		t.Errorf("a full disk: code %d, %q", r.code, r.stderr)
	}
}
