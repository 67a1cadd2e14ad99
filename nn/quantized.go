package nn

import (
	"fmt"
	"reflect"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/random"
	"github.com/lockstep-go/lockstep/group"
)

// QuantizedLinear is a Linear whose weight takes few bits an element: y = x Ŵᵀ + b,
// with Ŵ as array.Dequantize would unpack it. Nothing in it is trained: its parameters
// are frozen for good. Gradients pass through to x.
type QuantizedLinear struct {
	Base
	Weight         *array.Array // packed, uint32 [out, in·bits/32]
	Scales, Biases *array.Array // of the groups, [out, in/group]
	Bias           *array.Array // [out], nil for none
	// Quantization is how the weight is packed, with nothing left out.
	Quantization array.Quantization `nn:"-"`

	// inputs is the group over whose ranks the inputs are divided, while each has the whole
	// layer; nil for none.
	inputs *group.Group
}

// NewQuantizedLinear draws a layer as NewLinear does and quantizes it.
func NewQuantizedLinear(key random.Key, in, out int, bias bool, q array.Quantization) (*QuantizedLinear, error) {
	return QuantizedFromLinear(NewLinear(key, in, out, bias), q)
}

// QuantizedFromLinear quantizes the weight of a layer, which is unchanged. in must be
// a whole number of groups. Modes other than affine are errors that wrap
// errors.ErrUnsupported.
func QuantizedFromLinear(l *Linear, q array.Quantization) (*QuantizedLinear, error) {
	fail := func(err error) (*QuantizedLinear, error) { return nil, fmt.Errorf("quantized_linear: %w", err) }
	_, in, err := dims(l.Weight, l.Bias)
	if err != nil {
		return fail(err)
	}
	q = complete(q)
	if q.GroupSize > 0 && in%q.GroupSize != 0 {
		return fail(fmt.Errorf("%d input features are no whole number of groups of %d", in, q.GroupSize))
	}
	y := &QuantizedLinear{Base: Base{fixed: true}, Bias: l.Bias, Quantization: q}
	y.Weight, y.Scales, y.Biases = array.Quantize(l.Weight, q)
	if err := y.Weight.Err(); err != nil {
		return fail(err)
	}
	return y, nil
}

// complete fills in what zero stands for.
func complete(q array.Quantization) array.Quantization {
	if q.GroupSize == 0 {
		q.GroupSize = 64
	}
	if q.Bits == 0 {
		q.Bits = 4
	}
	if q.Mode == "" {
		q.Mode = "affine"
	}
	return q
}

// dims are the features of a layer with the given weight [out, in] and bias [out],
// which may be nil.
func dims(weight, bias *array.Array) (out, in int, err error) {
	if weight == nil {
		return 0, 0, fmt.Errorf("the layer has no weight")
	}
	if err := weight.Err(); err != nil {
		return 0, 0, err
	}
	if weight.NDim() != 2 {
		return 0, 0, fmt.Errorf("the weight is %v, want [out, in]", weight.Spec())
	}
	out, in = weight.Dim(0), weight.Dim(1)
	if bias == nil {
		return out, in, nil
	}
	if err := bias.Err(); err != nil {
		return 0, 0, err
	}
	if bias.NDim() != 1 || bias.Dim(0) != out {
		return 0, 0, fmt.Errorf("the bias is %v for a weight of %v", bias.Spec(), weight.Spec())
	}
	return out, in, nil
}

// Forward maps [..., in] to [..., out].
func (l *QuantizedLinear) Forward(x *array.Array) *array.Array {
	if l.inputs != nil {
		x = gathered(x, -1, l.inputs)
	}
	return biased(array.QuantizedMatMul(x, l.Weight, l.Scales, l.Biases, true, l.Quantization), l.Bias)
}

// biased adds a bias, which may be nil.
func biased(y, bias *array.Array) *array.Array {
	if bias == nil {
		return y
	}
	return y.Add(bias)
}

// Quantize replaces the Linear layers in a module by quantized ones, in place. It asks
// predicate about each with its path; nil means all. All layers have the settings q;
// others for some are a second call. Layers that are quantized or sharded already stay:
// quantize first, then shard. It is an error, and nothing changes, if a layer's inputs
// are no whole number of groups, or if a layer that is asked for is not held in a field
// or element of type Module, which alone can hold the new one.
func Quantize(module any, q array.Quantization, predicate func(path string, l *Linear) bool) error {
	var found []reflect.Value
	made := map[*Linear]*QuantizedLinear{}
	var mistake error
	visit := func(path string, v reflect.Value) bool {
		l := linearIn(v)
		if l == nil {
			return false
		}
		if mistake != nil || predicate != nil && !predicate(path, l) {
			return true
		}
		if v.Type() != moduleType || !v.CanSet() {
			mistake = fmt.Errorf("quantize: %s is held as a %v; a Module could be replaced", named(path), v.Type())
			return true
		}
		if made[l] == nil {
			made[l], mistake = QuantizedFromLinear(l, q)
			if mistake != nil {
				mistake = fmt.Errorf("quantize: %s: %w", named(path), mistake)
			}
		}
		found = append(found, v)
		return true
	}
	walk(module, walker{held: visit})
	if mistake != nil {
		return mistake
	}
	for _, v := range found {
		v.Set(reflect.ValueOf(made[v.Interface().(*Linear)]))
	}
	return nil
}

var (
	moduleType = reflect.TypeFor[Module]()
	linearType = reflect.TypeFor[*Linear]()
)

// linearIn is the Linear that a field or an element holds, nil if it is anything
// else.
func linearIn(v reflect.Value) *Linear {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() || v.Type() != linearType || v.IsNil() {
		return nil
	}
	return v.Interface().(*Linear)
}

func named(path string) string {
	if path == "" {
		return "the module itself"
	}
	return path
}
