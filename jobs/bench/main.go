// Bench measures messages and collectives on whatever started it, and prints a
// table in the layout of the OSU micro-benchmarks on rank 0.
//
//	./launch -n 2 ./bench
//	mpirun -np 2 ./bench -only latency,bandwidth
//	./bench -local 4 -only all_reduce -sizes 16KiB,128KiB -dtypes float32,bfloat16
//
// Messages go between the first and the last rank, back and forth for latency and in
// windows for bandwidth. Before each call of a collective all ranks meet in a barrier,
// and a call takes as long as the slowest rank says. Every operation is first run
// once on known values and its result checked. Rank 0 decides how many calls are timed.
//
// A size is the bytes that a rank gives: to all_reduce and broadcast, for its own part in
// all_gather and gather, and for each rank's part in reduce_scatter, all_to_all and
// scatter. A percentile of a bandwidth is what so many percent of the windows reach.
//
// -json FILE and -plot FILE keep the figures. Wrong use is one line and exit
// code 2; a failure is one line and exit code 1.
package main

import (
	"context"
	"fmt"
	"os"

	_ "github.com/lockstep-go/lockstep/group/all"
	"github.com/lockstep-go/lockstep/internal/program"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	ctx, stop := program.UntilSignal(nil)
	defer stop()
	return program.End(ctx, os.Stderr, "bench", bench(ctx, args))
}

// bench does everything between the flags and the exit code.
func bench(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if err := program.UseEnvironment(); err != nil {
		return err
	}
	if o.local > 0 {
		return local(ctx, o)
	}
	g, err := program.Init(ctx, o.backend)
	if err != nil {
		return err
	}
	if err := measureAll(ctx, o, g, os.Stdout); err != nil {
		return err
	}
	if err := g.Close(); err != nil {
		return fmt.Errorf("rank %d: close: %w", g.Rank(), err)
	}
	return nil
}
