package section_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstep-go/lockstep/benchmarks/section"
)

func TestSectionNeedsItsMarkers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "document.md")
	for _, c := range []struct{ name, text string }{
		{"neither", "text\n"},
		{"no end", section.Begin("peers")},
		{"the wrong way round", section.End("peers") + section.Begin("peers")},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := section.Replace(file, "peers", "new\n"); err == nil {
				t.Error("it was written")
			}
			if got, _ := os.ReadFile(file); string(got) != c.text {
				t.Errorf("the document is now %q", got)
			}
		})
	}
}
