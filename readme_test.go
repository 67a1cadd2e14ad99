package lockstep_test

import (
	"os"
	"strings"
	"testing"
)

// The program that the README shows is the one in examples/hello.
func TestREADMEShowsTheHelloProgram(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("examples/hello/main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, program2, _ := strings.Cut(string(program), "\npackage main")
	if !strings.Contains(string(readme), "```go\npackage main"+program2+"```") {
		t.Error("README.md does not hold examples/hello/main.go as it is")
	}
}
