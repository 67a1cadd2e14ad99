package data

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadText(t *testing.T) {
	defer func(n int64) { maxText = n }(maxText)
	maxText = 8
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct{ path, want, fails string }{
		"a text":            {file("a", "grüße"), "grüße", ""},
		"as long as it may": {file("b", "12345678"), "12345678", ""},
		"nothing":           {file("c", ""), "", ""},
		"a byte too long":   {file("d", "123456789"), "", "holds more than 8 bytes"},
		"without end":       {"/dev/zero", "", "/dev/zero holds more than 8 bytes"},
		"a directory":       {dir, "", dir},
		"not there":         {filepath.Join(dir, "e"), "", "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ReadText(c.path)
			if got != c.want || (err == nil) != (c.fails == "") {
				t.Fatalf("%q, %v", got, err)
			}
			if err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Errorf("error %q lacks %q", err, c.fails)
			}
		})
	}
}
