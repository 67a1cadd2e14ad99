package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/internal/conform"
)

func TestInputReachesEveryRank(t *testing.T) {
	conform.Row(t, "X9")
	for _, c := range []struct {
		name, text string
	}{
		{"a line", "abc\n"},
		{"nothing", ""},
		{"bytes that are no text", "\x00\xff\xe6"},
		{"more than a pipe holds", strings.Repeat("0123456789abcdef", 40_000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			const ranks = 3
			r := run(t, strings.NewReader(c.text), []string{"-n", strconv.Itoa(ranks), "--tag-output"}, "cat")
			var got [ranks]strings.Builder
			for line := range strings.Lines(r.stdout) {
				got[line[1]-'0'].WriteString(line[len("[0] "):])
			}
			for rank := range ranks {
				if strings.TrimSuffix(got[rank].String(), "\n") != strings.TrimSuffix(c.text, "\n") {
					t.Errorf("rank %d got %d bytes, want %d", rank, got[rank].Len(), len(c.text))
				}
			}
		})
	}
}

func TestRanksThatDoNotReadHoldUpNobody(t *testing.T) {
	const bytes = 3_000_000
	for _, reader := range []string{"0", "2"} {
		r := run(t, strings.NewReader(strings.Repeat("x", bytes)), []string{"-n", "3"}, "ignore-input-unless", reader)
		if r.code != 0 || r.stdout != strconv.Itoa(bytes)+"\n" {
			t.Errorf("reader %s: code %d, %q; want 0, %d", reader, r.code, r.stdout, bytes)
		}
	}
}

func TestInputGoesToTheRanksThatAreAskedFor(t *testing.T) {
	for _, c := range []struct{ stdin, want string }{
		{"all", "abc\nabc\nabc\n"},
		{"0", "abc\n"},
		{"none", ""},
	} {
		t.Run(c.stdin, func(t *testing.T) {
			r := run(t, strings.NewReader("abc\n"), []string{"-n", "3", "--stdin", c.stdin}, "cat")
			if r.code != 0 || r.stdout != c.want {
				t.Errorf("code %d, %q; want 0, %q", r.code, r.stdout, c.want)
			}
		})
	}
}
