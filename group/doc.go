// Package group is the set of processes that work in step: how they find each
// other, and the collectives and messages between them.
//
//	import (
//		"github.com/lockstep-go/lockstep/group"
//		_ "github.com/lockstep-go/lockstep/group/all" // links the backends in
//	)
//
//	g, err := group.Init(ctx, group.Config{})
//	if err != nil {
//		return err
//	}
//	defer g.Close()
//	loss := []float32{myLoss}
//	if err := group.AllReduce(ctx, g, group.Mean, loss); err != nil {
//		return err
//	}
//	if g.IsLeader() {
//		fmt.Println("mean loss of", g.Size(), "ranks:", loss[0])
//	}
//
// The same program runs alone, under the module's launcher, under mpirun and
// under srun. Every rank must call the same collectives in the same order; where
// they do not, all of them get a *MismatchError that says what each rank called.
//
// # Reductions
//
// Each element is combined over the ranks in rank order and rounded once, so that
// every rank, every backend and every message size give the same bits.
//
//	element type                        Sum                        Mean                 Max, Min
//	bool                                or                         error                or, and
//	uint8 … uint64, int8 … int64        wraps around               error                by value
//	float16, bfloat16, float32          added in float64           divided in float64   by value
//	float64                             added in float64           divided in float64   by value
//	complex64                           parts added in float64     divided in float64   by real, then imaginary part
//
// A NaN on any rank makes the result NaN, the canonical quiet one, in Max and Min
// too. +0 wins Max and -0 wins Min; a sum of -0 alone is -0.
//
// # Without waiting
//
// AllReduceAsync reduces in the background, in the order of the calls, while the
// program goes on; several may be under way. FederatedAverage is no collective: it
// averages over the ranks that come before a deadline, and goes on without those
// that are late or gone, on the ring also after a death has broken the group.
//
// # Groups in one process
//
// Nothing here is tied to the process: New makes a Group of any Communicator, so
// that all ranks of a world can be goroutines, as in most tests. Only the default
// group, for calls that name none, belongs to the process.
package group
