// Package docs_test holds the pages of this folder against the packages.
package docs_test

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// packages are those that pages name, by folder.
var packages = map[string]string{
	"array": "array", "transform": "array/transform", "random": "array/random", "tree": "array/tree",
	"dtype": "dtype", "group": "group", "ops": "ops", "nn": "nn", "optim": "nn/optim",
}

func TestEveryNameOfMLXIsMappedOrMarkedAbsent(t *testing.T) {
	rows := rows(t, "mlx.md")
	for _, name := range append(lines(t, "mlx_core.txt"), lines(t, "mlx_nn.txt")...) {
		if strings.HasPrefix(name, "#") {
			continue
		}
		cell, ok := rows[name]
		if !ok {
			t.Errorf("%s has no row", name)
		}
		delete(rows, name)
		if reason, absent := strings.CutPrefix(cell, "absent"); absent && len(reason) < len(": why") {
			t.Errorf("%s is absent without a reason", name)
		} else if !absent && !goName.MatchString(cell) {
			t.Errorf("%s is mapped to %q, which names nothing", name, cell)
		}
	}
	for name := range rows {
		t.Errorf("%s is no name of MLX", name)
	}
}

// goName is a name of one of the packages, in backquotes.
var goName = regexp.MustCompile("`([a-z]+)\\.([A-Z][A-Za-z0-9]*(?:\\.[A-Z][A-Za-z0-9]*)?)`")

func TestNamesOnPagesExist(t *testing.T) {
	exported := map[string]map[string]bool{}
	for pkg, folder := range packages {
		exported[pkg] = names(t, folder)
	}
	var text strings.Builder
	for _, line := range lines(t, "mlx.md") {
		if m := row.FindStringSubmatch(line); m != nil {
			line = m[2] // the first cell is a name of MLX
		}
		text.WriteString(line + "\n")
	}
	found := goName.FindAllStringSubmatch(text.String(), -1)
	if len(found) < 200 {
		t.Fatalf("only %d names found", len(found))
	}
	for _, m := range found {
		if !exported[m[1]][m[2]] {
			t.Errorf("there is no %s.%s", m[1], m[2])
		}
	}
}

// What is marked absent has not been built in the meantime.
func TestAbsentNamesAreAbsent(t *testing.T) {
	built := map[string]string{}
	for _, pkg := range []string{"array", "random", "transform"} {
		for name, exported := range names(t, packages[pkg]) {
			if !exported {
				continue
			}
			name = strings.TrimPrefix(name, "Array.")
			built[strings.ToLower(name)] = pkg + "." + name
		}
	}
	delete(built, "view") // what a kernel sees of an array
	for name, cell := range rows(t, "mlx.md") {
		last := name[strings.LastIndexByte(name, '.')+1:]
		if here := built[strings.ReplaceAll(last, "_", "")]; here != "" && strings.HasPrefix(cell, "absent") {
			t.Errorf("%s is marked absent, but there is %s", name, here)
		}
	}
}

// row is a row of a table with two columns.
var row = regexp.MustCompile("^\\| `([A-Za-z0-9_.]+)` \\| ([^|]*) \\|$")

// rows maps the first cell of each row of the tables with two columns to the
// second.
func rows(t *testing.T, page string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, line := range lines(t, page) {
		if m := row.FindStringSubmatch(line); m != nil {
			if _, twice := all[m[1]]; twice {
				t.Errorf("%s has two rows", m[1])
			}
			all[m[1]] = m[2]
		}
	}
	return all
}

func lines(t *testing.T, path string) (list []string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s := bufio.NewScanner(file)
	for s.Scan() {
		list = append(list, s.Text())
	}
	if err := s.Err(); err != nil || len(list) == 0 {
		t.Fatalf("%s: %d lines (%v)", path, len(list), err)
	}
	return list
}

// names says of the names that a package declares whether they are exported;
// those of methods follow their type's and a point.
func names(t *testing.T, folder string) map[string]bool {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", folder, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in %s (%v)", folder, err)
	}
	all := map[string]bool{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			for _, name := range declared(d) {
				all[name] = token.IsExported(name[strings.LastIndexByte(name, '.')+1:])
			}
		}
	}
	return all
}

func declared(d ast.Decl) (list []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		return []string{typeName(d.Recv.List[0].Type) + "." + d.Name.Name}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				list = append(list, s.Name.Name)
			case *ast.ValueSpec:
				for _, name := range s.Names {
					list = append(list, name.Name)
				}
			}
		}
	}
	return list
}

// typeName is the name of a receiver's type.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
