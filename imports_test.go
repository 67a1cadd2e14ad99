package lockstep_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/lockstep-go/lockstep"

// room is what one folder's files may import, their tests aside.
type room struct {
	folder string   // "jobs/*" is every folder below jobs that has no row of its own
	module []string // folders of this module; "*" is any but other programs
	others []string // third-party modules or packages, unsafe and C
}

// internals are the internal packages that either tower may build on; env, which
// knows of groups, is not one.
var internals = []string{"internal/buffer", "internal/digest", "internal/kernel", "internal/layout", "internal/onehost", "internal/par", "internal/reduce", "internal/shm", "internal/turn"}

// rooms is the import table of ARCHITECTURE.md. A new folder gets its row here.
var rooms = []room{
	{".", nil, nil},
	{"dtype", nil, []string{"github.com/x448/float16"}},

	{"group", transport("dtype"), nil},
	{"group/grouptest", []string{"group", "dtype", "internal/reduce", "internal/buffer", "internal/conform", "internal/env"}, nil},
	{"group/all", []string{"mpi", "ring"}, nil},
	{"mpi", transport("group", "dtype"), []string{"github.com/sbromberger/gompi", "golang.org/x/sys", "unsafe", "C"}},
	{"ring", transport("group", "dtype", "slurm"), []string{"golang.org/x/sys"}},
	{"slurm", []string{"internal/env"}, nil},

	{"array", append([]string{"dtype"}, internals...), []string{"gonum.org/v1/gonum"}},
	{"array/transform", []string{"array", "array/tree", "dtype"}, nil},
	{"array/random", []string{"array", "dtype", "internal/kernel"}, nil},
	{"array/tree", []string{"array", "dtype"}, nil},
	{"array/arraytest", []string{"array", "array/transform", "array/tree", "array/random", "dtype"}, nil},

	{"ops", []string{"array", "array/transform", "dtype", "group"}, nil},
	{"nn", []string{"array", "array/transform", "array/random", "array/tree", "dtype", "group", "ops"}, nil},
	{"nn/optim", []string{"array", "array/transform", "array/random", "array/tree", "dtype"}, nil},
	{"nn/checkpoint", []string{"array", "array/transform", "array/random", "array/tree", "dtype", "group"}, nil},

	{"jobs/*", []string{"*"}, []string{"gonum.org/v1/gonum", "gonum.org/v1/plot", "golang.org/x/sys"}},
	{"examples/*", []string{"*"}, nil},
	{"benchmarks/*", []string{"*"}, []string{"golang.org/x/sys"}},
	{"scripts/*", []string{"internal/conform", "internal/env"}, nil},

	{"internal/reduce", []string{"dtype", "internal/kernel", "internal/buffer", "internal/par"}, nil},
	{"internal/kernel", []string{"dtype", "internal/buffer", "internal/layout", "internal/par", "internal/env"}, []string{"gonum.org/v1/gonum", "golang.org/x/sys", "unsafe"}},
	{"internal/layout", []string{"dtype", "internal/buffer"}, nil},
	{"internal/onehost", []string{"dtype", "internal/reduce", "internal/shm", "internal/par", "internal/env"}, nil},
	{"internal/shm", []string{"dtype", "internal/buffer"}, []string{"golang.org/x/sys", "unsafe"}},
	{"internal/buffer", []string{"dtype", "internal/env"}, []string{"golang.org/x/sys", "unsafe"}},
	{"internal/program", []string{"group", "internal/env"}, []string{"github.com/schollz/progressbar/v3", "golang.org/x/term"}},
	{"internal/program/programtest", []string{"internal/env"}, nil},
	{"internal/conform", nil, nil},
	{"internal/digest", nil, nil},
	{"internal/turn", nil, nil},
	{"internal/par", nil, nil},
	{"internal/env", nil, nil},
	{"internal/hostlist", []string{"internal/env"}, nil},
}

func transport(below ...string) []string { return append(append(below, internals...), "internal/env") }

func TestImportsFollowTheTable(t *testing.T) {
	files, err := readImports(".")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("found no files to check")
	}
	for _, v := range violations(rooms, files) {
		t.Error(v)
	}
}

// The table itself is held against the lines that no change may move.
func TestTableKeepsTheHardLines(t *testing.T) {
	for _, line := range []struct {
		what   string
		from   func(folder string) bool
		never  []string
		except []string
	}{
		{"array never knows of groups", in("array"), []string{"group", "mpi", "ring", "ops", "nn", "internal/env"}, nil},
		{"group never knows of arrays", in("group"), []string{"array", "ops", "nn"}, nil},
		{"a backend knows neither arrays nor the other backend", in("mpi"), []string{"array", "ring", "ops", "nn"}, nil},
		{"a backend knows neither arrays nor the other backend", in("ring"), []string{"array", "mpi", "ops", "nn"}, nil},
		{"only programs and group/all know backends", in(""), []string{"mpi", "ring"}, []string{"group/all", "jobs/*", "examples/*", "benchmarks/*"}},
		{"nothing imports jobs", in(""), []string{"jobs"}, nil},
		{"memory is reinterpreted in few places", in(""), []string{"unsafe"}, []string{"internal/kernel", "internal/buffer", "internal/shm", "mpi"}},
		{"only mpi is bound to C", in(""), []string{"C", "github.com/sbromberger/gompi"}, []string{"mpi"}},
		{"only programs plot", in(""), []string{"gonum.org/v1/plot"}, []string{"jobs/*"}},
	} {
		for _, r := range rooms {
			if !line.from(r.folder) || slices.Contains(line.except, r.folder) {
				continue
			}
			for _, allowed := range slices.Concat(r.module, r.others) {
				if slices.ContainsFunc(line.never, func(never string) bool { return covers(allowed, never) }) {
					t.Errorf("%s: the table lets %s import %s", line.what, r.folder, allowed)
				}
			}
		}
	}
}

// covers reports whether a cell of the table lets something of never in.
func covers(allowed, never string) bool {
	if allowed == "*" {
		foreign := !isStandard(never)
		return !foreign && never != "jobs"
	}
	return within(allowed, never)
}

func TestViolationsAreFoundAndNamed(t *testing.T) {
	table := []room{
		{"low", nil, []string{"example.org/lib"}},
		{"high", []string{"low"}, nil},
		{"jobs/*", []string{"*"}, nil},
		{"jobs/own", []string{"low"}, nil},
	}
	for _, c := range []struct {
		name, file, path string
		want             string // empty: allowed
	}{
		{"the standard library", "low/a.go", "encoding/json", ""},
		{"a folder below", "high/a.go", module + "/low", ""},
		{"a folder above", "low/a.go", module + "/high", "low/a.go imports " + module + "/high; low may import of this module: nothing"},
		{"a subfolder of what is allowed", "high/a.go", module + "/low/sub", "high may import of this module: low"},
		{"a test may import anything", "low/a_test.go", module + "/high", ""},
		{"a package of an allowed module", "low/a.go", "example.org/lib/sub", ""},
		{"a module that only begins like it", "low/a.go", "example.org/library", "low may import of other modules: example.org/lib"},
		{"a module with no row", "high/a.go", "example.org/lib", "high may import of other modules: nothing"},
		{"unsafe where it is not allowed", "high/a.go", "unsafe", "high/a.go imports unsafe"},
		{"C where it is not allowed", "high/a.go", "C", "high/a.go imports C"},
		{"a program", "jobs/any/a.go", module + "/high", ""},
		{"a subfolder of a program", "jobs/any/data/a.go", module + "/high", ""},
		{"a program with its own row", "jobs/own/a.go", module + "/high", "jobs/own may import of this module: low"},
		{"a program its own subfolder", "jobs/any/a.go", module + "/jobs/any/data", ""},
		{"a program another program's subfolder", "jobs/any/a.go", module + "/jobs/other/data", "jobs/any may import of this module: any but other programs"},
		{"a folder without a row", "new/a.go", "fmt", "new/a.go: folder new is not in the table of imports_test.go; add it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := violations(table, []source{{c.file, []string{c.path}}})
			if c.want == "" && len(got) > 0 {
				t.Errorf("got %q, want none", got)
			}
			if c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
				t.Errorf("got %q, want one with %q", got, c.want)
			}
		})
	}
}

// source is one file and what it imports.
type source struct {
	file    string
	imports []string
}

// readImports reads every Go file of the module below root, whatever its build
// tags; testdata, hidden folders and nested modules are left out.
func readImports(root string) ([]source, error) {
	var files []source
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != root && leftOut(name, entry.Name()):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		s := source{file: filepath.ToSlash(name)}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, imported)
		}
		files = append(files, s)
		return nil
	})
	return files, err
}

func leftOut(name, base string) bool {
	nested, _ := filepath.Glob(filepath.Join(name, "go.mod"))
	return base == "testdata" || base[0] == '.' || base[0] == '_' || len(nested) > 0
}

// violations names every import that the table does not allow. Go itself refuses
// cycles, so tests are left out.
func violations(table []room, files []source) []string {
	var found []string
	for _, f := range files {
		if strings.HasSuffix(f.file, "_test.go") {
			continue
		}
		r, ok := roomOf(table, path.Dir(f.file))
		if !ok {
			found = append(found, fmt.Sprintf("%s: folder %s is not in the table of imports_test.go; add it", f.file, path.Dir(f.file)))
			continue
		}
		for _, imported := range f.imports {
			if fault := r.refuses(imported); fault != "" {
				found = append(found, fmt.Sprintf("%s imports %s; %s", f.file, imported, fault))
			}
		}
	}
	return found
}

// roomOf finds the row of a folder: its own, else the pattern above it.
func roomOf(table []room, folder string) (r room, ok bool) {
	for _, row := range table {
		above, pattern := strings.CutSuffix(row.folder, "/*")
		if row.folder == folder {
			return row, true
		}
		if pattern && strings.HasPrefix(folder, above+"/") {
			r, ok = row, true
		}
	}
	r.folder = folder
	return r, ok
}

// refuses says what is allowed instead; it is empty for an allowed import.
func (r room) refuses(imported string) string {
	folder, ours := strings.CutPrefix(imported, module+"/")
	switch {
	case ours:
		another := within(folder, "jobs") && !within(folder, r.folder)
		if slices.Contains(r.module, folder) || slices.Contains(r.module, "*") && !another {
			return ""
		}
		return fmt.Sprintf("%s may import of this module: %s", r.folder, listed(r.module))
	case isStandard(imported):
		return ""
	case slices.ContainsFunc(r.others, func(other string) bool { return within(imported, other) }):
		return ""
	}
	return fmt.Sprintf("%s may import of other modules: %s", r.folder, listed(r.others))
}

func isStandard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".") && imported != "unsafe" && imported != "C"
}

// within reports whether p is tree or lies below it.
func within(p, tree string) bool { return p == tree || strings.HasPrefix(p, tree+"/") }

// in returns the test for folders within tree; every folder is within "".
func in(tree string) func(string) bool {
	return func(folder string) bool { return tree == "" || within(folder, tree) }
}

func listed(names []string) string {
	switch {
	case len(names) == 0:
		return "nothing"
	case names[0] == "*":
		return "any but other programs"
	}
	return strings.Join(names, ", ")
}
