package nn

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/array"
)

// CrossEntropy returns the loss of each example, -log softmax(logits)[target],
// in nats. logits are [..., classes], targets integers [...]; so is the result, in
// the type of the logits. Targets of another shape or type are an error; one below
// 0 counts from the end, and one outside the classes is an error when the result is
// evaluated.
func CrossEntropy(logits, targets *array.Array) *array.Array {
	if err := checkTargets(logits, targets); err != nil {
		return array.Fail("cross_entropy", err)
	}
	chosen := logits.TakeAlongAxis(targets.ExpandDims(-1), -1).Squeeze(-1)
	return logits.LogSumExp(-1).Sub(chosen)
}

// checkTargets leaves mistakes that the arrays carry already to them.
func checkTargets(logits, targets *array.Array) error {
	if logits.Err() != nil || targets.Err() != nil {
		return nil
	}
	if logits.NDim() == 0 {
		return errors.New("logits without an axis of classes")
	}
	if !targets.DType().IsInteger() {
		return fmt.Errorf("targets are %v, not integers", targets.DType())
	}
	if want := logits.Shape()[:logits.NDim()-1]; !slices.Equal(targets.Shape(), want) {
		return fmt.Errorf("targets have shape %v, but logits %v want %v", targets.Shape(), logits.Shape(), want)
	}
	return nil
}
