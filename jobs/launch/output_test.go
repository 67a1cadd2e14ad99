package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lockstep-go/lockstep/internal/conform"
)

func TestOutputPassesByteForByte(t *testing.T) {
	conform.Row(t, "X11")
	for _, c := range []struct {
		name           string
		stdout, stderr string
	}{
		{"nothing", "", ""},
		{"a line each", "out\n", "err\n"},
		{"no line end", "out", "err"},
		{"only on standard error", "", "warning: something\n"},
		{"bytes that are no text", "\xff\xfe\n\x01\xc3", "\xe6\xbc"},
		{"carriage returns and empty lines", "1\r2\r\n\n\n3", "\n"},
		{"more than any buffer", strings.Repeat("漢", 40_000), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, nil, nil, "write", c.stdout, c.stderr)
			if r.stdout != c.stdout || r.stderr != c.stderr || r.code != 0 {
				t.Errorf("got %q, %q, code %d", r.stdout, r.stderr, r.code)
			}
		})
	}
}

func TestTaggedLinesStayWhole(t *testing.T) {
	conform.Row(t, "X10")
	const ranks = 4
	lines := 1_000_000
	if testing.Short() {
		lines = 50_000
	}
	r := run(t, nil, []string{"-n", strconv.Itoa(ranks), "--tag-output"}, "lines", strconv.Itoa(lines))
	var next [ranks]int
	for text := range strings.Lines(r.stdout) {
		rank := int(text[1] - '0')
		if rank < 0 || rank >= ranks || text != fmt.Sprintf("[%d] %s\n", rank, line(rank, next[rank])) {
			t.Fatalf("torn, lost or foreign line %q", text)
		}
		next[rank]++
	}
	if next != [ranks]int{lines, lines, lines, lines} {
		t.Errorf("lines by rank: %v, want %d of each", next, lines)
	}
}

func TestPlainOutputOfManyRanksLosesNothing(t *testing.T) {
	const ranks, lines = 3, 20_000
	r := run(t, nil, []string{"-n", strconv.Itoa(ranks)}, "lines", strconv.Itoa(lines))
	want := 0
	for rank := range ranks {
		for i := range lines {
			want += len(line(rank, i)) + 1
		}
	}
	if len(r.stdout) != want || strings.Count(r.stdout, "\n") != ranks*lines {
		t.Errorf("%d bytes in %d lines; want %d in %d", len(r.stdout), strings.Count(r.stdout, "\n"), want, ranks*lines)
	}
}

func TestTagsAreOnBothOutputsAndEndTheLastLine(t *testing.T) {
	r := run(t, nil, []string{"--tag-output"}, "write", "a\n\nb", "c")
	if r.stdout != "[0] a\n[0] \n[0] b\n" || r.stderr != "[0] c\n" {
		t.Errorf("got %q and %q", r.stdout, r.stderr)
	}
}

func TestAReaderThatLeavesEndsTheJob(t *testing.T) {
	cmd := launcher(t, []string{"-n", "2"}, "lines", "100000000")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stdout, cmd.Stderr = write, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	read.Read(make([]byte, 10))
	read.Close()
	cmd.Wait()
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "launch: passing on output: ") {
		t.Errorf("code %d, standard error %q", cmd.ProcessState.ExitCode(), stderr.String())
	}
}

// through sends text through a stream and returns what its sink got.
func through(tag string, text []byte) string {
	var out bytes.Buffer
	s := &stream{tag: tag, sink: &sink{w: &out, broken: make(chan error, 1)}}
	for piece := range slices.Chunk(text, 1000) {
		s.pass(piece)
	}
	s.end()
	return out.String()
}

func TestLinesLongerThanTheLimitAreCutBetweenCharacters(t *testing.T) {
	text := strings.Repeat("a漢🎈", longestLine/3)
	got := through("[7] ", []byte(text))
	if !utf8.ValidString(got) {
		t.Error("a character was cut")
	}
	whole := strings.ReplaceAll(strings.ReplaceAll(got, "[7] ", ""), "\n", "")
	if whole != text {
		t.Errorf("%d bytes came through, want %d", len(whole), len(text))
	}
	if parts := strings.Count(got, "\n"); parts < 2 || parts > 4 {
		t.Errorf("%d parts of %d bytes", parts, len(text))
	}
}

func TestAnUnfinishedLinePassesWhileItsWriterWaits(t *testing.T) {
	prompt, launchSide, _ := os.Pipe()
	s := &stream{sink: &sink{w: launchSide, broken: make(chan error, 1)}}
	s.pass([]byte("name? "))
	buf := make([]byte, 6)
	if _, err := io.ReadFull(prompt, buf); err != nil || string(buf) != "name? " {
		t.Errorf("got %q, %v", buf, err)
	}
}

func TestWholeRunes(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"nothing", "", 0},
		{"letters", "abc", 3},
		{"a whole character at the end", "ab漢", 5},
		{"two bytes of three", "ab\xe6\xbc", 2},
		{"three bytes of four", "ab\xf0\x9f\x8e", 2},
		{"one byte of two", "ab\xc3", 2},
		{"no text at all", "\xff\xff\xff", 3},
		{"bytes that only continue", "a\x80\x80\x80\x80", 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := wholeRunes([]byte(c.text)); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}
