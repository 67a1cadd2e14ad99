// Package ops makes the collectives of a group ordinary operations on lazy
// arrays.
//
//	g, err := group.Init(ctx, group.Config{})
//	mean := ops.AllMean(loss, g) // lazy: nothing moves yet
//	v, err := array.Item[float32](ctx, mean)
//
// Every operation takes the group last; nil means group.Default. In a group of one the
// collectives return their very argument. A result is communicated once, however often it
// is read.
//
// # Order
//
// Nothing moves until a result is evaluated, and then every rank of the group must
// evaluate it. A collective takes its group's next record number when it is built: inside
// a transform when the transform ends, and at every call of a compiled function or
// recomputation of a checkpoint anew, on every rank alike. One evaluation runs the
// collectives of a group in the order of these numbers, whatever the shape of the graph or
// the order of the arguments. Evaluations of a group run one after the other in the order
// of the program, those begun by array.AsyncEval too. Groups do not wait for each other:
// ranks may use two of them in different order within one evaluation or asynchronously.
//
// The ranks compare operation, number, shape and type of what they are about to do. Where
// they differ, every rank gets an error that says what each called; a rank that does not
// come is named at the deadline; a rank whose evaluation fails tells the others at once.
// Any of these breaks the group for every rank.
//
// Goroutines that build and evaluate on one group get record numbers as they come: their
// collectives run one at a time, but which of two goroutines is first is theirs to agree on,
// alike on all ranks. Without that the ranks find out where shapes, types or operations
// differ, and add up values that do not belong together where they do not. One Split for
// each goroutine settles it.
//
// Send and Recv have an order of their own for every peer and direction, and wait for no
// collective.
//
// # Gradients
//
// Each rank derives its own copy of one replicated loss, and gets its gradient by what this
// rank put in. AllSum passes the cotangent on, and AllMean a part of it; AllGather takes this
// rank's slice; Broadcast gives it to the root; AllMax and AllMin give it to the ranks that
// hold the extremum, divided among ties. These make one value for all ranks, and the loss is a function of that
// value. SumScatter gathers the cotangents, and AllToAll sends them back: their results
// differ from rank to rank. Where all ranks hold the same value and each goes on with it in
// its own way, SumGradients stands between: the identity, whose gradient is summed. Tangents
// need no convention: they are those of the values. Derivatives of gradients along a
// direction (a JVP of Grad) are exact for the same reason; a Grad of Grad applies the rules
// above to the backward pass. Send and Recv have no derivative.
//
// What follows for parameters that all ranks hold alike depends on the loss.
//
// One loss over the features of all ranks. Each rank computes the features of its own rows,
// AllGather brings them together, and every rank computes the same loss:
//
//	loss := func(w *array.Array) *array.Array {
//		return contrast(ops.AllGather(rows.MatMul(w), g))
//	}
//	grad := ops.AllSum(transform.Grad(loss)(w), g)
//
// The gradient that a rank gets is the part that goes through its own rows, since AllGather
// took its slice. The whole is the sum of the parts; a mean would be too small by the number
// of ranks. With ops.SumGradients(w, g) inside loss in place of w, the sum is part of the
// gradient.
//
// A loss on every rank, over its own rows, as in data parallel training:
//
//	loss := func(w *array.Array) *array.Array {
//		return rows.MatMul(w).Sub(wanted).Square().Mean()
//	}
//	grad := ops.AllMean(transform.Grad(loss)(w), g)
//
// The loss that is meant is the mean of the ranks' losses, so their gradients are averaged; a
// sum would be too large by the number of ranks. nn.AverageGradients does it for whole trees.
// Both are examples below, and give the same numbers on 1, 2 and 4 ranks.
package ops
