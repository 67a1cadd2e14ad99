package random

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// listed are the draws of every function, of 6 numbers each. where says which test
// compares their values, and with what.
var listed = map[string]struct {
	draw  func(k Key, t dtype.Type) *array.Array
	types string // as the list shows them
	takes func(t dtype.Type) bool
	where string
}{
	"Bits":            {func(k Key, t dtype.Type) *array.Array { return Bits(k, t, 6) }, "unsigned integers", dtype.Type.IsUnsigned, "those of MLX and JAX"},
	"Uniform":         {func(k Key, t dtype.Type) *array.Array { return Uniform(k, 0, 1, t, 6) }, "floats", dtype.Type.IsFloat, "scaled bits; moments and limits"},
	"Normal":          {func(k Key, t dtype.Type) *array.Array { return Normal(k, t, 6) }, "floats", dtype.Type.IsFloat, "within 2 ulp of exact quantiles; moments"},
	"TruncatedNormal": {func(k Key, t dtype.Type) *array.Array { return TruncatedNormal(k, -1, 2, t, 6) }, "floats", dtype.Type.IsFloat, "quantiles in the tail; moments and limits"},
	"Gumbel":          {func(k Key, t dtype.Type) *array.Array { return Gumbel(k, t, 6) }, "floats", dtype.Type.IsFloat, "within 2 ulp of exact quantiles; moments"},
	"Laplace":         {func(k Key, t dtype.Type) *array.Array { return Laplace(k, t, 6) }, "floats", dtype.Type.IsFloat, "within 2 ulp of exact quantiles; moments"},
	"RandInt":         {func(k Key, t dtype.Type) *array.Array { return RandInt(k, 0, 100, t, 6) }, "integers", dtype.Type.IsInteger, "frequencies and limits"},
	"Shuffle": {func(k Key, t dtype.Type) *array.Array {
		return Shuffle(k, array.Arange(0, 6, 1, dtype.Int32).AsType(t), 0)
	}, "all", dtype.Type.Valid, "what goes in comes out, in another order"},
	"Categorical": {func(k Key, t dtype.Type) *array.Array { return Categorical(k, array.Zeros(t, 6, 4), -1) }, "all but complex64", func(t dtype.Type) bool { return !t.IsComplex() }, "frequencies"},
	"Bernoulli":   {func(k Key, _ dtype.Type) *array.Array { return Bernoulli(k, 0.5, 6) }, "", nil, "frequencies"},
	"Permutation": {func(k Key, _ dtype.Type) *array.Array { return Permutation(k, 6) }, "", nil, "every number once"},
}

func TestEveryFunctionIsListed(t *testing.T) {
	var found []string
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.IsExported() && f.Name.Name != "NewKey" {
				found = append(found, f.Name.Name)
			}
		}
	}
	slices.Sort(found)
	if have := slices.Sorted(maps.Keys(listed)); !slices.Equal(found, have) {
		t.Errorf("the package has %v, the list %v", found, have)
	}
}

func TestDrawsTakeTheTypesThatAreListed(t *testing.T) {
	for name, l := range listed {
		for _, kind := range dtype.All() {
			if err := l.draw(NewKey(1), kind).Err(); (err == nil) != (l.takes == nil || l.takes(kind)) {
				t.Errorf("%s of %v: error is %v", name, kind, err)
			}
		}
	}
}

// A draw is the same whenever, however often and under whatever transform it is
// evaluated.
func TestDrawsAreTheSameUnderTransforms(t *testing.T) {
	for name, l := range listed {
		for _, kind := range dtype.All() {
			if l.takes != nil && !l.takes(kind) {
				continue
			}
			draw := func(xs ...*array.Array) []*array.Array {
				return []*array.Array{array.Depends(l.draw(NewKey(5), kind), xs...)}
			}
			want := elements(t, l.draw(NewKey(5), kind))
			x := array.Scalar(1.0)
			compiled, mapped := transform.Compile(draw), transform.VMap(draw, []int{0}, []int{0})
			for what, y := range map[string]*array.Array{
				"again": draw()[0], "compiled": compiled(x)[0], "compiled again": compiled(x)[0],
				"recomputed": transform.Checkpoint(draw)(x)[0], "for each example": mapped(array.Ones(dtype.Float64, 2))[0].SliceAxis(0, 1, 2),
			} {
				if got := elements(t, y); !bytes.Equal(got, want) {
					t.Errorf("%s of %v, %s: %v, want %v", name, kind, what, got, want)
				}
			}
			if other := elements(t, l.draw(NewKey(6), kind)); bytes.Equal(other, want) && kind != dtype.Bool && name != "Bernoulli" && name != "Categorical" {
				t.Errorf("%s of %v: two keys give the same", name, kind)
			}
		}
	}
}

func elements(t *testing.T, x *array.Array) []byte {
	t.Helper()
	data, err := array.Bytes(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestGoldenListOfDraws(t *testing.T) {
	const path = "../../docs/random.md"
	var page strings.Builder
	page.WriteString(`# Random draws

Every function of package random, the element types that it draws, and what its values are compared with. Each is also
compared with itself evaluated again, compiled, recomputed and under vmap, in each of these types. Draws take
no array that they could be derived by: they are constants to vjp and jvp. A test writes this page.

| function | types | values are compared with |
|---|---|---|
`)
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		l := listed[name]
		if l.types == "" {
			l.types = "gives one type"
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s |\n", name, l.types, l.where)
	}
	if *update {
		if err := os.WriteFile(path, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(path); err != nil || string(have) != page.String() {
		t.Errorf("%s is not what the list says; rewrite it with -update (%v)", path, err)
	}
}
