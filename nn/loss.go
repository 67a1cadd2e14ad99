package nn

import "github.com/lockstep-go/lockstep/array"

// CrossEntropy returns the loss of each example, -log softmax(logits)[target],
// in nats. logits are [..., classes], targets integers [...]; so is the result, in
// the type of the logits. A target outside 0 to classes-1 is an error when the
// result is evaluated.
func CrossEntropy(logits, targets *array.Array) *array.Array {
	chosen := logits.TakeAlongAxis(targets.ExpandDims(-1), -1).Squeeze(-1)
	return logits.LogSumExp(-1).Sub(chosen)
}
