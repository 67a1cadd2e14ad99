// Package array has lazy n-dimensional arrays on the CPU.
//
//	x := array.From([]float32{1, 2, 3, 4}, 2, 2)
//	y := x.MatMul(x.T()).AddScalar(1).Sum(0)     // recorded, not computed
//	values, err := array.Values[float32](ctx, y) // [18 38]
//
// An operation checks its arguments, records a node and returns at once. Eval,
// Values, Item and Bytes compute, each node once; AsyncEval lets the computation run
// beside the program. Methods chain; constructors and
// operations on several arrays are functions.
//
// # Mistakes
//
// An operation on arguments that do not fit returns an array that carries an
// *OpError with the operation and the caller's file and line. Later operations
// pass the first error on, Err shows it, and evaluation returns it before
// anything runs.
//
// # Types and shapes
//
// Operands of different types meet in the type that dtype.Promote gives, and
// shapes broadcast as in NumPy: aligned at the last axis, where a length of 1
// stretches. A Go number, as in AddScalar, keeps the array's type where that can
// hold it. Axes count from the end if negative.
//
// # Primitives
//
// An operation is a Primitive: its kernel, and the rules by which package
// transform derives and batches it. Apply makes a node from one; nothing else
// does. Primitives of other packages, such as the collectives of ops, are made
// in the same way. One that talks to other processes names a Lane, whose nodes run
// in the order in which they were recorded.
package array
