// Package mpi is Open MPI as a backend of package group, named "mpi".
//
//	import _ "github.com/lockstep-go/lockstep/mpi" // or group/all
//
//	g, err := group.Init(ctx, group.Config{Backend: "mpi"})
//
// and then mpirun -np 4 ./prog, or srun --mpi=pmix ./prog.
//
// # Building
//
// The package is real only with cgo and the build tag mpi; otherwise it
// registers a backend that is not available and says so. Where Open MPI lies in
// the compiler's own search paths, as Debian's libopenmpi-dev does, the tag is
// all that is needed:
//
//	go build -tags mpi ./...
//
// Elsewhere, as after "module load openmpi" on a cluster, Open MPI itself says
// where it is, and the same flags reach gompi, whose built-in paths are Debian's:
//
//	export CGO_CFLAGS="$(mpicc --showme:compile)" CGO_LDFLAGS="$(mpicc --showme:link)"
//	go build -tags mpi ./...
//
// # What it promises
//
// Reductions have the bits of every other backend: the originals travel and
// package reduce adds them, in rank order. Where all members of a group are on one
// host they share memory, and collectives run in it; LOCKSTEP_SHM=0 on any rank
// keeps all of them from that. Elsewhere originals travel in messages. MPI's own reduction operators and
// collectives are not used: they differ by message size in how they round, do
// not say who is missing, and hand out garbage when ranks disagree. A collective
// in messages begins with an exchange of cards: every rank's fingerprint of the call, and
// its data too up to 4 KiB, reach everyone in log₂N steps. A disagreement is
// a *group.MismatchError with every rank's call, before larger data moves.
//
//	all-reduce, n bytes, N ranks   wire bytes per rank   steps
//	up to 4 KiB                    (N-1)n                log₂N
//	larger                         2(N-1)n/N             log₂N, then 2 for each 256 KiB of n/N
//
// In shared memory each rank says what it calls and waits at a fence: it looks for
// a moment, then sleeps, and looks for notices every ten milliseconds. The memory
// has no name and is gone with its last user.
//
// Calls run on the caller's goroutine: a non-blocking start, then short bursts
// of tests with pauses that grow to four milliseconds. The end of a context is
// seen between bursts. MPI cannot take a started operation back, so its buffer stays
// pinned until the process ends, and a collective that was given up breaks its
// communicator: peers get a notice with the reason, on a channel of its own that
// every waiting call reads.
//
// # Limits of Open MPI
//
// Open MPI 4.1 tells nobody that a peer has died: mpirun or PMIx ends the whole
// job instead. A process that exits without Close ends the job with a non-zero
// status too; so does one whose world is broken, as a broken world is not
// finalised. MPI starts once in a process: after the world's Close, Init is an
// error. Splits live in MPI's memory until all their members have closed them;
// what is then left is freed at the next split or with the world.
//
// Init sets OMPI_MCA_btl_vader_single_copy_mechanism=none unless it is set:
// ranks of one host then exchange large messages about twice as fast.
package mpi
