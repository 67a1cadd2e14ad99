package array_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every exported operation occurs in some test of this package or of those
// below it.
func TestEveryOperationIsTested(t *testing.T) {
	var tests strings.Builder
	for _, path := range append(files(t, "*_test.go"), files(t, "*/*_test.go")...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		tests.Write(text)
	}
	for _, name := range operations(t) {
		if !regexp.MustCompile(`\.` + name + `\b`).MatchString(tests.String()) {
			t.Errorf("no test mentions %s", name)
		}
	}
}

func files(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// operations lists the exported functions, and methods of arrays, that return an
// array.
func operations(t *testing.T) (names []string) {
	t.Helper()
	for _, f := range declared(t, "*.go") {
		if isArray(receiver(f)) && returnsArray(f.Type.Results) {
			names = append(names, f.Name.Name)
		}
	}
	if len(names) < 100 {
		t.Fatalf("only %d operations found", len(names))
	}
	return names
}

// declared lists the exported functions and methods of the files that are no tests.
func declared(t *testing.T, pattern string) (list []*ast.FuncDecl) {
	t.Helper()
	for _, path := range files(t, pattern) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.IsExported() {
				list = append(list, f)
			}
		}
	}
	return list
}

// receiver is the type that f is a method of; *Array for a function.
func receiver(f *ast.FuncDecl) ast.Expr {
	if f.Recv == nil {
		return &ast.StarExpr{X: ast.NewIdent("Array")}
	}
	return f.Recv.List[0].Type
}

func returnsArray(results *ast.FieldList) bool {
	return results != nil && len(results.List) == 1 && isArray(results.List[0].Type)
}

func isArray(e ast.Expr) bool {
	star, ok := e.(*ast.StarExpr)
	if !ok {
		return false
	}
	name, ok := star.X.(*ast.Ident)
	return ok && name.Name == "Array"
}
