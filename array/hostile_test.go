package array_test

import (
	"errors"
	"fmt"
	"go/ast"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/dtype"
)

// functions are all that make arrays and are no methods of arrays. Generic ones
// stand for their instances.
var functions = map[string]any{
	"array.AddMM": array.AddMM, "array.Arange": array.Arange, "array.Concatenate": array.Concatenate,
	"array.Conv1d": array.Conv1d, "array.Conv2d": array.Conv2d, "array.Depends": array.Depends, "array.Donate": array.Donate,
	"array.Dequantize": array.Dequantize, "array.Einsum": array.Einsum, "array.Eye": array.Eye,
	"array.From": array.From[float32], "array.FromBytes": array.FromBytes,
	"array.Full": array.Full, "array.Gather": array.Gather, "array.LayerNorm": array.LayerNorm,
	"array.Linspace": array.Linspace, "array.Nested": array.Nested, "array.Ones": array.Ones,
	"array.Quantize": array.Quantize, "array.QuantizedMatMul": array.QuantizedMatMul,
	"array.RMSNorm": array.RMSNorm, "array.Scalar": array.Scalar[float32],
	"array.ScatterAddAt": array.ScatterAddAt, "array.ScatterAt": array.ScatterAt,
	"array.Split": array.Split, "array.SplitAt": array.SplitAt, "array.Stack": array.Stack,
	"array.Tensordot": array.Tensordot, "array.TopK": array.TopK, "array.Tri": array.Tri,
	"array.Where": array.Where, "array.Zeros": array.Zeros,
	"array.BroadcastArrays": array.BroadcastArrays, "array.FullLike": array.FullLike, "array.Meshgrid": array.Meshgrid,
	"array.OnesLike": array.OnesLike, "array.Unstack": array.Unstack, "array.ZerosLike": array.ZerosLike,
	"random.Laplace":   random.Laplace,
	"random.Bernoulli": random.Bernoulli, "random.Bits": random.Bits, "random.Categorical": random.Categorical,
	"random.Gumbel": random.Gumbel, "random.Normal": random.Normal, "random.Permutation": random.Permutation,
	"random.RandInt": random.RandInt, "random.Shuffle": random.Shuffle,
	"random.TruncatedNormal": random.TruncatedNormal, "random.Uniform": random.Uniform,
}

// apart are methods that this test does not call, each with the reason.
var apart = map[string]string{
	"Eval":      "waits and is called on every result",
	"Node":      "is for transforms, which have met the array before",
	"Index":     "is for transforms, which have met the array before",
	"Temporary": "is for transforms, and returns nothing",
	"IsTraced":  "is for transforms, which have met the array before",
}

func TestHostileArgumentsGiveErrors(t *testing.T) {
	for name, f := range functions {
		t.Run(name, func(t *testing.T) { attack(t, name, reflect.ValueOf(f)) })
	}
	for m := range reflect.TypeFor[*array.Array]().Methods() {
		if apart[m.Name] == "" {
			t.Run(m.Name, func(t *testing.T) { attack(t, m.Name, m.Func) })
		}
	}
}

// Every exported function that gives arrays is attacked.
func TestHostileTestKnowsEveryFunction(t *testing.T) {
	// These trust their callers, who write primitives.
	trusting := []string{"array.Apply", "array.Apply1", "array.Fail"}
	for pkg, pattern := range map[string]string{"array": "*.go", "random": "random/*.go"} {
		for _, f := range declared(t, pattern) {
			name := pkg + "." + f.Name.Name
			if f.Recv == nil && givesArrays(f.Type.Results) && functions[name] == nil && !slices.Contains(trusting, name) {
				t.Errorf("%s is not attacked", name)
			}
		}
	}
}

// givesArrays reports whether some result is an array or a slice of them.
func givesArrays(results *ast.FieldList) bool {
	if results == nil {
		return false
	}
	return slices.ContainsFunc(results.List, func(r *ast.Field) bool {
		e := r.Type
		if list, ok := e.(*ast.ArrayType); ok {
			e = list.Elt
		}
		if star, ok := e.(*ast.StarExpr); ok {
			if of, ok := star.X.(*ast.SelectorExpr); ok {
				return of.Sel.Name == "Array"
			}
		}
		return isArray(e)
	})
}

// attempts is how often each function is called.
const attempts = 250

// attack calls f with arguments that nobody should give: it must not panic nor
// take memory, an error must say where the call was, and what has no error must
// be computed, or fail with an error, where it is small.
func attack(t *testing.T, name string, f reflect.Value) {
	r := rand.New(rand.NewPCG(1, 2))
	for range attempts {
		in := hostileArguments(r, f.Type())
		outs, took, err := guarded(f, in)
		if err != nil {
			t.Fatalf("%s(%s): %v", name, written(in), err)
		}
		if took > 1<<20 {
			t.Fatalf("%s(%s) took %d bytes", name, written(in), took)
		}
		for _, out := range outs {
			if err := judge(t, out); err != nil {
				t.Fatalf("%s(%s) gives %v: %v", name, written(in), out, err)
			}
		}
	}
}

// guarded calls f and returns its results that are arrays.
func guarded(f reflect.Value, in []reflect.Value) (outs []*array.Array, took uint64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	before := allocated()
	var results []reflect.Value
	if f.Type().IsVariadic() {
		results = f.CallSlice(in)
	} else {
		results = f.Call(in)
	}
	took = allocated() - before
	for _, v := range results {
		switch y := v.Interface().(type) {
		case *array.Array:
			outs = append(outs, y)
		case []*array.Array:
			outs = append(outs, y[:min(len(y), 4)]...)
		}
	}
	return outs, took, nil
}

func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// judge looks at one result.
func judge(t *testing.T, out *array.Array) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic when computed: %v", r)
		}
	}()
	if out == nil {
		return nil // of a nil array, whose Err says so
	}
	if err := out.Err(); err != nil {
		return wellFormed(err)
	}
	if shape := out.Shape(); slices.ContainsFunc(shape, func(d int) bool { return d < 0 }) {
		return errors.New("a negative length")
	}
	if out.Size() < 0 || out.Size() > 0 && out.Spec().Bytes()/out.Size() != out.DType().Size() {
		return errors.New("a size that wraps")
	}
	if isSmall(out) {
		if err := out.Eval(t.Context()); err != nil && strings.Contains(err.Error(), "internal error") {
			return err
		}
	}
	return nil
}

// wellFormed checks that a mistake names an operation and this file.
func wellFormed(err error) error {
	var op *array.OpError
	switch {
	case !errors.As(err, &op):
		return nil // the caller's own
	case op.Op == "" || !strings.HasPrefix(op.Where, "hostile_test.go:"):
		return fmt.Errorf("operation %q at %q", op.Op, op.Where)
	case strings.Contains(err.Error(), "\n"):
		return errors.New("an error of several lines")
	}
	return nil
}

// isSmall reports whether x can be computed in no time.
func isSmall(x *array.Array) bool {
	const limit = 1 << 16
	total := x.Size()
	for _, n := range array.Sorted(x) {
		for _, y := range slices.Concat(n.Inputs(), n.Outputs()) {
			if y.Size() > limit {
				return false
			}
			total += y.Size()
		}
	}
	return total < limit
}

func written(in []reflect.Value) string {
	args := make([]string, len(in))
	for i, v := range in {
		args[i] = fmt.Sprintf("%+v", v.Interface())
	}
	return strings.Join(args, ", ")
}

func hostileArguments(r *rand.Rand, f reflect.Type) []reflect.Value {
	in := make([]reflect.Value, f.NumIn())
	for i := range in {
		in[i] = hostileValue(r, f.In(i))
	}
	return in
}

var (
	hostileInts = []int{0, 0, 0, 1, 1, 1, 2, 2, 3, -1, -1, -2, -3, 5, 7, 32, 100, math.MaxInt, math.MinInt, math.MaxInt - 1, math.MinInt + 1,
		1 << 32, 1 << 31, 1<<31 - 1, -1 << 31, 1 << 40, 1 << 62, 1<<62 + 1, -1 << 62}
	hostileFloats = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 3, 1e-300, 1e300, -1e300, math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1), 1 << 62, 1 << 63, 1e19}
	hostileTypes  = append(dtype.All(), dtype.Invalid, 99, 255)
	hostileWords  = []string{"", "i", "i->", "->", ",", "ij,jk->ik", "ii", "ii->i", "...", "...->...", "i...,...j->ij...", "....", "a,b", "é", "ij->ji,",
		"i->j", "i,i", " ", "ij,ij->", "affine", "mxfp4", "..i...", "i.j", "Zz->zZ", "->->"}
	hostileNested = []any{nil, 1, 1.5, true, "text", []int{}, [][]float32{{1, 2}, {3}}, [][]float32{{1, 2}, {3, 4}}, []any{1, "a"}, []any{}, []any{[]int{1}, 2},
		[0][3]int8{}, [2][0]int8{}, [][]string{}, map[string]int{}, []*int{nil}, (*int)(nil), []any{nil}, struct{}{}, [][][]uint8{{{1}, {2}}, {{3}, {4}}}, func() {}}
)

// hostileValue is a value of type t, more often small than absurd.
func hostileValue(r *rand.Rand, t reflect.Type) reflect.Value {
	switch t {
	case reflect.TypeFor[*array.Array]():
		return reflect.ValueOf(hostileArray(r))
	case reflect.TypeFor[dtype.Type]():
		return reflect.ValueOf(pick(r, hostileTypes))
	case reflect.TypeFor[error]():
		return reflect.ValueOf(errors.New("of the caller"))
	case reflect.TypeFor[any]():
		v := reflect.New(t).Elem()
		if x := pick(r, hostileNested); x != nil {
			v.Set(reflect.ValueOf(x))
		}
		return v
	case reflect.TypeFor[random.Key]():
		return reflect.ValueOf(random.NewKey(r.Uint64()))
	}
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(pick(r, hostileInts)))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(r.Uint64N(5))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(pick(r, hostileFloats))
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.String:
		v.SetString(pick(r, hostileWords))
	case reflect.Slice:
		for range r.IntN(5) {
			v = reflect.Append(v, hostileValue(r, t.Elem()))
		}
	case reflect.Array:
		for i := range t.Len() {
			v.Index(i).Set(hostileValue(r, t.Elem()))
		}
	case reflect.Struct:
		for i := range t.NumField() {
			v.Field(i).Set(hostileValue(r, t.Field(i).Type))
		}
	default:
		panic("no hostile value of type " + t.String())
	}
	return v
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// hostileArray is nil, wrong, empty, of absurd size, or small with strange
// elements.
func hostileArray(r *rand.Rand) *array.Array {
	switch r.IntN(14) {
	case 0:
		return nil
	case 1:
		return array.Fail("test", errors.New("of the caller"))
	case 2:
		return array.Zeros(pick(r, dtype.All()), pick(r, [][]int{{0}, {0, 3}, {3, 0}, {2, 0, 3}, {0, 1 << 59}, {1 << 59, 0}, {0, 1 << 30, 1 << 29}})...)
	case 3:
		return array.Zeros(pick(r, []dtype.Type{dtype.Bool, dtype.Uint8, dtype.Float32}), pick(r, [][]int{{1 << 60}, {1 << 30, 1 << 30}, {1, 1 << 60, 1}, {3, 1 << 58}})...)
	case 4, 5:
		return array.From([]int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1 << 40}).SliceAxis(0, 0, 1+r.IntN(6)).AsType(pick(r, dtype.All()))
	case 6:
		return array.Full(pick(r, hostileFloats), pick(r, dtype.All()))
	}
	shape := pick(r, [][]int{{}, {1}, {2}, {3}, {2, 3}, {3, 2}, {1, 3}, {2, 2}, {2, 1, 3}, {2, 3, 2}, {1, 1, 1, 1}, {64}, {2, 64}})
	x := array.Arange(-3, float64(array.Spec{Shape: shape}.Size()-3), 1, pick(r, dtype.All())).Reshape(shape...)
	switch r.IntN(3) {
	case 0:
		return x.T()
	case 1:
		return x.Flip()
	}
	return x
}

func TestAbsurdSizesAreMistakes(t *testing.T) {
	const most = math.MaxInt
	bytes, x := array.Zeros(dtype.Uint8, 1, 1<<60), sample(2, 3)
	key := random.NewKey(0)
	for _, c := range []struct {
		name string
		got  *array.Array
		op   string
	}{
		{"zeros", array.Zeros(dtype.Float32, 1<<40, 1<<40), "full"},
		{"an element more than fits", array.Full(1, dtype.Int16, 1<<62), "full"},
		{"bytes that are not there", array.FromBytes(nil, dtype.Float64, 1<<33), "from_bytes"},
		{"a negative length of bytes", array.FromBytes(nil, dtype.Float64, -1), "from_bytes"},
		{"lengths that multiply to those that are there", array.From([]float32{}, 1<<32, 1<<32), "from"},
		{"a reshape that wraps", x.Reshape(1<<32, 1<<32, 6), "reshape"},
		{"a broadcast", x.BroadcastTo(1<<60, 2, 3), "broadcast_to"},
		{"a tile that wraps", x.Tile(1<<62, 2), "broadcast_to"},
		{"a repetition that wraps", x.Repeat(most, 1), "broadcast_to"},
		{"padding that wraps", x.Pad(0, [2]int{most, most}), "pad"},
		{"padding", x.Pad(0, [2]int{1 << 61, 0}), "full"},
		{"joining that wraps", array.Concatenate(slices.Repeat([]*array.Array{array.Zeros(dtype.Bool, 1<<62)}, 4), 0), "concatenate"},
		{"stacking", array.Stack(slices.Repeat([]*array.Array{array.Zeros(dtype.Bool, 1<<62)}, 2), 0), "concatenate"},
		{"more parts than memory", array.Split(array.Zeros(dtype.Bool, 0), 1<<50, 0)[0], "split"},
		{"a conversion to a wider type", bytes.AsType(dtype.Float64), "astype"},
		{"a product of a wider type", bytes.T().MatMul(array.Zeros(dtype.Float64, 1, 1)), "astype"},
		{"an outer product", array.Zeros(dtype.Bool, 1<<40).Outer(array.Zeros(dtype.Bool, 1<<40)), "broadcast_to"},
		{"an identity", array.Eye(1<<40, 1<<40, 0, dtype.Float32), "eye"},
		{"a range", array.Arange(0, 1e19, 1, dtype.Float64), "arange"},
		{"spaced numbers", array.Linspace(0, 1, most, dtype.Float64), "arange"},
		{"a sum of broadcast shapes", array.Zeros(dtype.Bool, 1<<40, 1).Add(array.Zeros(dtype.Bool, 1<<40)), "broadcast_to"},
		{"padding of a convolution", array.Conv1d(sample(1, 5, 1), sample(1, 2, 1), array.ConvOptions{Padding: []int{most}}), "conv1d"},
		{"dilation of a convolution", array.Conv1d(sample(1, 5, 1), sample(1, 3, 1), array.ConvOptions{Dilation: []int{1 << 30}}), "conv1d"},
		{"random numbers", random.Normal(key, dtype.Float32, 1<<40), "normal"},
		{"random bits that wrap", random.Bits(key, dtype.Uint8, 1<<32, 1<<32), "bits"},
		{"a permutation", random.Permutation(key, most), "permutation"},
	} {
		var err *array.OpError
		if !errors.As(c.got.Err(), &err) || err.Op != c.op || !strings.HasPrefix(err.Where, "hostile_test.go:") {
			t.Errorf("%s: error %v, want one of %s here", c.name, c.got.Err(), c.op)
		}
	}
}
