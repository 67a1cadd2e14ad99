package array_test

import (
	"flag"
	"fmt"
	"go/ast"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/arraytest"
	"github.com/lockstep-go/lockstep/array/transform"
	"github.com/lockstep-go/lockstep/dtype"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// columns are the checks that the list shows, and what it calls them.
var columns = []struct{ name, check string }{
	{"value", "values"}, {"vjp", "gradient"}, {"jvp", "tangent"}, {"vmap", "batching"}, {"compile", "compiling"},
}

func TestEveryOperationConforms(t *testing.T) {
	for _, e := range catalogue() {
		arraytest.Check(t, e.plain())
		if c, ok := e.inComplex(); ok {
			arraytest.Check(t, c)
		}
		t.Run(e.names, func(t *testing.T) {
			for _, kind := range e.types() {
				if kind != e.except {
					e.checkType(t, kind)
				}
			}
		})
	}
}

// plain is the case for float64, or for a type that the operation accepts.
func (e entry) plain() arraytest.Case {
	xs := e.inputs()
	return arraytest.Case{Name: e.names, F: e.f, Inputs: xs, Types: []dtype.Type{}, Without: e.without, Want: func(in ...[]float64) [][]float64 {
		numbers := make([][]complex128, len(in))
		for i, x := range in {
			for _, v := range x {
				numbers[i] = append(numbers[i], complex(v, 0))
			}
		}
		want := [][]float64{}
		outs := e.f(xs...)
		for i, y := range e.want(numbers...) {
			want = append(want, parts(y, outs[i].DType()))
		}
		return want
	}}
}

// inComplex is the case for complex numbers, if the operation accepts them.
func (e entry) inComplex() (arraytest.Case, bool) {
	in := e.argumentsIn(dtype.Complex64)
	without := map[string]string{"second derivative": "float32 is too coarse for differences of a gradient"}
	maps.Copy(without, e.without)
	c := arraytest.Case{Name: e.names + " of complex numbers", F: e.f, Inputs: in, Types: []dtype.Type{}, Without: without}
	return c, slices.Contains(e.types(), dtype.Complex64) && !slices.ContainsFunc(e.f(in...), func(y *array.Array) bool { return y.Err() != nil })
}

// types lists those that the operation accepts.
func (e entry) types() (list []dtype.Type) {
	if !slices.ContainsFunc(e.in, func(x *array.Array) bool { return x.DType() == dtype.Float64 }) {
		return []dtype.Type{e.in[0].DType()}
	}
	for _, kind := range dtype.All() {
		if !slices.ContainsFunc(e.f(e.argumentsIn(kind)...), func(y *array.Array) bool { return y.Err() != nil }) {
			list = append(list, kind)
		}
	}
	return list
}

// argumentsIn converts the float64 arguments: unsigned numbers are magnitudes,
// and complex ones get an imaginary part.
func (e entry) argumentsIn(kind dtype.Type) []*array.Array {
	in := slices.Clone(e.in)
	for i, x := range in {
		switch {
		case x.DType() != dtype.Float64:
		case kind.IsUnsigned():
			in[i] = x.Abs().AsType(kind)
		case kind.IsComplex():
			in[i] = x.AsType(kind).Mul(array.Scalar(complex64(1 + 0.25i))).Add(array.Scalar(complex64(0.125i)))
		default:
			in[i] = x.AsType(kind)
		}
	}
	return in
}

// checkType compares values in one type.
func (e entry) checkType(t *testing.T, kind dtype.Type) {
	t.Helper()
	in := e.argumentsIn(kind)
	numbers := make([][]complex128, len(in))
	for i, x := range in {
		numbers[i] = complexElements(t, x)
	}
	outs, want := e.f(in...), e.want(numbers...)
	if len(outs) != len(want) {
		t.Fatalf("%v: %d results, want %d", kind, len(outs), len(want))
	}
	for i, y := range outs {
		stored := array.From(parts(want[i], y.DType()))
		if !y.DType().IsComplex() {
			stored = stored.AsType(y.DType())
		}
		got, wanted := arrayParts(t, y), arrayParts(t, stored)
		if !slices.EqualFunc(got, wanted, func(a, b float64) bool { return alike(a, b, y.DType()) }) {
			t.Errorf("result %d in %v is %v, want %v", i, kind, got, wanted)
		}
	}
}

// parts are numbers as arraytest compares those of a type: for complex ones real
// and imaginary parts, for others the real ones.
func parts(x []complex128, kind dtype.Type) []float64 {
	list := []float64{}
	for _, v := range x {
		list = append(list, real(v))
		if kind.IsComplex() {
			list = append(list, imag(v))
		}
	}
	return list
}

func arrayParts(t *testing.T, x *array.Array) []float64 {
	t.Helper()
	values, err := arraytest.Elements(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func complexElements(t *testing.T, x *array.Array) []complex128 {
	t.Helper()
	values := arrayParts(t, x)
	if !x.DType().IsComplex() {
		list := make([]complex128, len(values))
		for i, v := range values {
			list[i] = complex(v, 0)
		}
		return list
	}
	list := make([]complex128, len(values)/2)
	for i := range list {
		list[i] = complex(values[2*i], values[2*i+1])
	}
	return list
}

// alike reports whether numbers agree as well as the type allows.
func alike(got, want float64, kind dtype.Type) bool {
	tolerance := map[dtype.Type]float64{
		dtype.Float16: 1.0 / (1 << 9), dtype.BFloat16: 1.0 / (1 << 6), dtype.Float32: 1.0 / (1 << 20), dtype.Float64: 1e-12, dtype.Complex64: 1e-5,
	}[kind]
	if math.IsNaN(want) || math.IsInf(want, 0) {
		return got == want || math.IsNaN(got) && math.IsNaN(want)
	}
	return math.Abs(got-want) <= tolerance*max(1, math.Abs(want))
}

// listedApart are functions that no entry needs.
var listedApart = []string{"Apply", "Apply1", "Fail", "WithError"} // they serve operations

func TestCatalogueIsComplete(t *testing.T) {
	missing := map[string]bool{}
	for _, f := range declared(t, "*.go") {
		if isArray(receiver(f)) && givesArrays(f.Type.Results) && !slices.Contains(listedApart, f.Name.Name) {
			missing[f.Name.Name] = true
		}
	}
	for _, e := range catalogue() {
		for name := range strings.FieldsSeq(e.names) {
			delete(missing, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("%s is not in the catalogue", name)
	}
}

// rowOf is a line of the list of operations or of that of primitives.
type rowOf struct {
	checked map[string]bool
	types   map[dtype.Type]bool
	why     map[string]bool
}

func newRow() *rowOf {
	return &rowOf{map[string]bool{}, map[dtype.Type]bool{}, map[string]bool{}}
}

// noteEntry adds what an entry checks.
func (r *rowOf) noteEntry(e entry) {
	for _, name := range e.plain().Checks() {
		r.checked[name] = true
	}
	for _, kind := range e.types() {
		r.types[kind] = true
	}
	for _, reason := range e.without {
		r.why[reason] = true
	}
	if !r.checked["gradient"] && len(e.without) == 0 {
		r.why["the result is no real number"] = true
	}
}

func (r *rowOf) cells() []string {
	var list []string
	for _, column := range columns {
		mark := ""
		if r.checked[column.check] {
			mark = "x"
		}
		list = append(list, mark)
	}
	return list
}

// empty lists the columns without a check.
func (r *rowOf) empty() (names []string) {
	for i, cell := range r.cells() {
		if cell == "" {
			names = append(names, columns[i].name)
		}
	}
	return names
}

func (r *rowOf) remarks() string {
	if len(r.empty()) == 0 {
		return ""
	}
	return strings.Join(slices.Sorted(maps.Keys(r.why)), "; ")
}

// named shortens a set of types.
func (r *rowOf) named() string {
	var words []string
	classes := []struct {
		name string
		is   func(dtype.Type) bool
	}{{"bool", dtype.Type.IsBool}, {"integers", dtype.Type.IsInteger}, {"floats", dtype.Type.IsFloat}, {"complex64", dtype.Type.IsComplex}}
	for _, class := range classes {
		all := slices.DeleteFunc(dtype.All(), func(t dtype.Type) bool { return !class.is(t) })
		have := slices.DeleteFunc(slices.Clone(all), func(t dtype.Type) bool { return !r.types[t] })
		if len(have) == len(all) {
			words = append(words, class.name)
			continue
		}
		for _, t := range have {
			words = append(words, t.String())
		}
	}
	if len(words) == len(classes) {
		return "all"
	}
	return strings.Join(words, ", ")
}

func operationRows() map[string]*rowOf {
	rows := map[string]*rowOf{}
	for _, e := range catalogue() {
		for name := range strings.FieldsSeq(e.names) {
			if rows[name] == nil {
				rows[name] = newRow()
			}
			rows[name].noteEntry(e)
		}
	}
	return rows
}

// reasons are why a primitive lacks checks.
var reasons = map[string]string{
	"argExtremum": "gives integers", "argRunning": "gives integers", "argSort": "gives integers",
	"ramp":         "has no argument",
	"Program":      "a compiled function's instructions, which transforms see instead of it",
	"copyRows":     "a step of a Program, in no graph",
	"ravel":        "takes and gives integers",
	"quantize":     "rounding to steps has no derivative",
	"standIn":      "stands for the argument of a function while that is transformed; computes nothing",
	"stopGradient": "is a constant to derivatives",
}

// primitiveRows lists the types that are primitives, with the checks that reach
// each of them in the graphs of the catalogue.
func primitiveRows(t *testing.T) map[string]*rowOf {
	rows := map[string]*rowOf{}
	for _, name := range primitiveTypes(t) {
		rows[name] = newRow()
		rows[name].why[reasons[name]] = true
	}
	for _, e := range catalogue() {
		reachBoth(rows, e.plain())
		if c, ok := e.inComplex(); ok {
			reachBoth(rows, c)
		}
	}
	return rows
}

// reachBoth marks the primitives in the graphs of a case and of its gradient.
func reachBoth(rows map[string]*rowOf, c arraytest.Case) {
	checks := c.Checks()
	reach(rows, c.F, c.Inputs, checks, map[string]string{
		"values": "values", "gradient": "gradient", "tangent": "tangent", "batching": "batching", "compiling": "compiling",
	})
	if slices.Contains(checks, "gradient") {
		reach(rows, pullbackOf(c.F), c.Inputs, checks, map[string]string{
			"gradient": "values", "second derivative": "gradient", "tangent of the gradient": "tangent",
			"batching of the gradient": "batching", "compiling of the gradient": "compiling",
		})
	}
}

func (e entry) inputs() []*array.Array {
	if types := e.types(); !slices.Contains(types, dtype.Float64) {
		return e.argumentsIn(types[len(types)-1])
	}
	return e.argumentsIn(dtype.Float64)
}

// pullbackOf is the vjp of f with ones as cotangents.
func pullbackOf(f transform.Func) transform.Func {
	return func(xs ...*array.Array) []*array.Array {
		var dys []*array.Array
		for _, y := range f(xs...) {
			dys = append(dys, array.OnesLike(y))
		}
		_, grads := transform.VJP(f, xs, dys)
		return grads
	}
}

// reach marks the primitives in the graph of f: done are the checks that were
// made, as what each counts for a primitive. Rules of derivatives are only asked of
// nodes between arguments and results that are no integers.
func reach(rows map[string]*rowOf, f transform.Func, xs []*array.Array, checks []string, done map[string]string) {
	trace := array.NewTrace()
	standIns := make([]*array.Array, len(xs))
	depends, smooth := map[array.Node]bool{}, map[array.Node]bool{}
	for i, x := range xs {
		standIns[i] = trace.Input(x)
		depends[standIns[i].Node()], smooth[standIns[i].Node()] = true, x.DType().IsInexact()
	}
	for _, n := range array.Sorted(f(standIns...)...) {
		row := rows[strings.TrimPrefix(strings.TrimPrefix(fmt.Sprintf("%T", n.Primitive()), "*"), "array.")]
		if row == nil || depends[n] {
			continue
		}
		for i, x := range n.Inputs() {
			depends[n] = depends[n] || depends[x.Node()]
			smooth[n] = smooth[n] || smooth[x.Node()] && derives(n, i)
		}
		smooth[n] = smooth[n] && slices.ContainsFunc(n.Outputs(), isInexact)
		for _, check := range checks {
			switch counts := done[check]; {
			case counts == "":
			case counts == "values", depends[n] && (counts == "batching" || counts == "compiling"), smooth[n]:
				row.checked[counts] = true
			}
		}
	}
}

func isInexact(x *array.Array) bool { return x.DType().IsInexact() }

// derives reports whether n is derived by input i.
func derives(n array.Node, i int) bool {
	p, ok := n.Primitive().(array.Partial)
	if !ok {
		return true
	}
	first, end := p.DerivativeInputs(len(n.Inputs()))
	return first <= i && i < end
}

// primitiveTypes lists the types with a method OutputSpecs, or that embed one.
func primitiveTypes(t *testing.T) (names []string) {
	t.Helper()
	for _, f := range declared(t, "*.go") {
		if name := receiverName(f); f.Name.Name == "Eval" && f.Recv != nil && name != "Array" {
			names = append(names, name)
		}
	}
	names = append(names, "complexPart", "depends", "stopGradient") // which embed others
	slices.Sort(names)
	return names
}

func receiverName(f *ast.FuncDecl) string {
	e := receiver(f)
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	if name, ok := e.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

func TestGoldenListOfWhatIsChecked(t *testing.T) {
	const path = "../docs/operations.md"
	var b strings.Builder
	b.WriteString(heading)
	b.WriteString("| operation | types | value | vjp | jvp | vmap | compile | |\n|---|---|---|---|---|---|---|---|\n")
	operations := operationRows()
	for _, name := range slices.Sorted(maps.Keys(operations)) {
		r := operations[name]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, r.named(), strings.Join(r.cells(), " | "), r.remarks())
		if len(r.empty()) > 0 && r.remarks() == "" {
			t.Errorf("%s: %v not checked, and no reason why", name, r.empty())
		}
	}
	b.WriteString("\n## Primitives\n\n| primitive | value | vjp | jvp | vmap | compile | |\n|---|---|---|---|---|---|---|\n")
	primitives := primitiveRows(t)
	for _, name := range slices.Sorted(maps.Keys(primitives)) {
		r := primitives[name]
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, strings.Join(r.cells(), " | "), r.remarks())
		if len(r.empty()) > 0 && r.remarks() == "" {
			t.Errorf("primitive %s: %v not checked, and no reason why", name, r.empty())
		}
	}
	t.Log("\n" + b.String())
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != b.String() {
		t.Errorf("%s is not what is checked; go test ./array -run Golden -update rewrites it", path)
	}
}

const heading = `# Operations

Every operation of package array, the element types that it accepts, and what package arraytest checks
of it: values in each of these types, vjp against central differences, jvp against vjp, vmap against a
loop over every axis, the compiled function against the plain one. Second derivatives and the same checks of the
gradient come with the vjp. Where a column is empty the last one says why. A test writes this page.

`
