//go:build cgo && mpi

package mpi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/env"
	gompi "github.com/sbromberger/gompi"
)

func init() { group.Register("mpi", &backend{}) }

// backend starts MPI, which can be done once in a process.
type backend struct {
	mu      sync.Mutex
	started bool
}

// The times that hold where nothing else is said.
const (
	defaultTimeout = 10 * time.Minute // of the world's Close
	defaultConnect = time.Minute
	defaultStall   = time.Minute
)

// Detect reports whether a launcher that Open MPI understands started this
// process.
func (b *backend) Detect() group.Detection {
	found, started := env.MPILauncher()
	return group.Detection{Available: true, Started: started, Prefer: prefer, Found: found}
}

// Init starts MPI and returns the world. Without a launcher MPI is left alone.
func (b *backend) Init(ctx context.Context, cfg group.Config) (group.Communicator, error) {
	found, started := env.MPILauncher()
	if !started {
		return nil, fmt.Errorf("mpi: %w: %s; start the program with mpirun or srun --mpi=pmix", group.ErrNotConfigured, found)
	}
	j, err := newJob(ctx, cfg)
	if err == nil {
		j.announced, j.announcedBy, err = env.MPISize()
	}
	if err != nil {
		return nil, fmt.Errorf("mpi: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.started {
		return nil, errors.New("mpi: this process has started MPI already; that can be done once")
	}
	b.started = true
	limit := cmp.Or(cfg.ConnectTimeout, defaultConnect)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not all ranks have come within %v", limit))
	defer cancel()
	return meet(ctx, j)
}

// meet starts MPI, which waits for all ranks and cannot be called back: when ctx
// ends first, the goroutine that waits in it lasts as long as the process.
func meet(ctx context.Context, j *job) (group.Communicator, error) {
	type result struct {
		world *comm
		err   error
	}
	met := make(chan result, 1)
	go func() {
		world, err := startWorld(ctx, j)
		met <- result{world, err}
	}()
	select {
	case r := <-met:
		if r.err != nil {
			return nil, fmt.Errorf("mpi: start: %w", r.err)
		}
		return r.world, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("mpi: start: %w", context.Cause(ctx))
	}
}

func newJob(ctx context.Context, cfg group.Config) (*job, error) {
	j := &job{timeout: cfg.Timeout, logger: cmp.Or(cfg.Logger, slog.Default())}
	var err error
	if j.sharing, err = env.LookupSharedMemory(); err != nil {
		return nil, err
	}
	if j.library, err = env.LookupMPISums(); err != nil {
		return nil, err
	}
	j.sharing = j.sharing && !j.library
	stall, err := env.LookupStall()
	if err != nil {
		return nil, err
	}
	j.stall = cmp.Or(stall, defaultStall)
	if j.timeout > 0 {
		return j, ended(ctx)
	}
	timeout, err := env.LookupTimeout()
	if err != nil {
		return nil, err
	}
	j.timeout = cmp.Or(timeout, defaultTimeout)
	return j, ended(ctx)
}

// startWorld starts MPI unless the program has, and duplicates the world, so that
// the program's own use of it never meets ours.
func startWorld(ctx context.Context, j *job) (*comm, error) {
	if err := ensureStarted(); err != nil {
		return nil, err
	}
	if err := j.checkSize(gompi.WorldSize()); err != nil {
		return nil, err
	}
	if err := returnErrors(worldHandle()); err != nil {
		return nil, err
	}
	messages, err := duplicate(worldHandle())
	if err != nil {
		return nil, err
	}
	channel, err := duplicate(worldHandle())
	if err != nil {
		return nil, err
	}
	world, err := newComm(j, messages, channel, gompi.WorldRank(), gompi.WorldSize())
	if err != nil {
		return nil, err
	}
	world.world = true
	return world, world.share(ctx)
}

// checkSize refuses a world of another size than the launcher announced. MPI
// forms a world of one when it does not understand who started it, and the ranks
// would then run as so many programs of one.
func (j *job) checkSize(size int) error {
	if j.announced == 0 || j.announced == size {
		return nil
	}
	return fmt.Errorf("%s says %d ranks, but MPI has %d: was it another MPI's launcher that started this program?", j.announcedBy, j.announced, size)
}

func ensureStarted() error {
	now, err := state()
	switch {
	case err != nil:
		return err
	case now.finalised:
		return errors.New("MPI was finalised in this process and cannot start again")
	case !now.started:
		if err := preferSharedMemory(); err != nil {
			return err
		}
		if now.threads, err = start(); err != nil {
			return err
		}
	}
	if !now.threads {
		return errors.New("this MPI does not allow calls from several threads (MPI_THREAD_MULTIPLE)")
	}
	return nil
}

// preferSharedMemory chooses how ranks of one host exchange large messages. The
// kernel's copy from process to process, Open MPI's default, is the slower one.
func preferSharedMemory() error { return env.SetDefault(env.SingleCopy, "none") }
