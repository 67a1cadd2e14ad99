// Package lockstep is the root of a module for programs that run as many
// processes in step: lazy n-dimensional arrays with gradients, and collectives
// that are ordinary array operations. It holds no code of its own; these packages
// do:
//
//	group            processes that work together, and how a backend joins in
//	mpi, ring        the backends: Open MPI, and pure Go over memory and TCP
//	array            lazy arrays; array/transform has their gradients
//	ops              collectives as array operations
//	nn, nn/optim     layers and optimizers
//	jobs             programs: one that trains, one that launches ranks
//
// A program imports group/all for its effect, calls group.Init, and passes the
// group to ops. ARCHITECTURE.md tells how the packages fit together.
package lockstep
