// Package section writes results of benchmarks into documents.
package section

import (
	"fmt"
	"os"
	"strings"
)

// Begin is the line of a document behind which the section of that name starts.
func Begin(name string) string { return "<!-- " + name + ": begin -->\n" }

// End is the line before which it ends.
func End(name string) string { return "<!-- " + name + ": end -->\n" }

// Replace puts text, whole lines, between these lines of a file. A file without them is
// left as it is, which is an error.
func Replace(file, name, text string) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, begun := strings.Cut(string(old), Begin(name))
	_, after, ended := strings.Cut(rest, End(name))
	if !begun || !ended {
		return fmt.Errorf("%s: no lines %q and %q to write between", file, strings.TrimSpace(Begin(name)), strings.TrimSpace(End(name)))
	}
	return os.WriteFile(file, []byte(before+Begin(name)+text+End(name)+after), 0o644)
}
