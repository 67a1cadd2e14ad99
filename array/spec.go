package array

import (
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/layout"
)

// Spec is what is known of an array before it is computed.
type Spec struct {
	Shape []int // lengths of the axes; empty for a scalar
	DType dtype.Type
}

// Size is the number of elements.
func (s Spec) Size() int { return layout.Size(s.Shape) }

// Bytes is the size of the elements in bytes.
func (s Spec) Bytes() int { return s.Size() * s.DType.Size() }

// Equal reports whether shape and type are the same.
func (s Spec) Equal(o Spec) bool { return s.DType == o.DType && slices.Equal(s.Shape, o.Shape) }

// String reads "float32[3 4]".
func (s Spec) String() string { return fmt.Sprintf("%v%v", s.DType, s.Shape) }
