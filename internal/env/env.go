// Package env reads every environment variable that lockstep looks at, in one
// place and strictly: a value that is set but wrong, an empty one included, is
// an error that quotes it and says what is allowed.
package env

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The variables, for programs that set them for others and for messages.
const (
	Backend     = "LOCKSTEP_BACKEND"
	Timeout     = "LOCKSTEP_TIMEOUT"
	Stall       = "LOCKSTEP_STALL_WARNING"
	Rank        = "LOCKSTEP_RANK"
	Size        = "LOCKSTEP_SIZE"
	Coordinator = "LOCKSTEP_COORDINATOR"
	HostFile    = "LOCKSTEP_HOSTFILE"
	TokenFile   = "LOCKSTEP_TOKEN_FILE"
	Insecure    = "LOCKSTEP_INSECURE"
	SharedMem   = "LOCKSTEP_SHM"
	Topology    = "LOCKSTEP_TOPOLOGY"
	Reduce      = "LOCKSTEP_REDUCE"
	Schedule    = "LOCKSTEP_SCHEDULE"
	MPISums     = "LOCKSTEP_MPI_SUMS"
	Log         = "LOCKSTEP_LOG"
	Kernel      = "LOCKSTEP_KERNEL"
	CacheLimit  = "LOCKSTEP_CACHE_LIMIT"
	SSH         = "LOCKSTEP_SSH"
	Processors  = "GOMAXPROCS"

	MLXRank     = "MLX_RANK"
	MLXHostFile = "MLX_HOSTFILE"

	TorchRank  = "RANK"
	TorchSize  = "WORLD_SIZE"
	MasterAddr = "MASTER_ADDR"
	MasterPort = "MASTER_PORT"

	OpenMPIRank = "OMPI_COMM_WORLD_RANK"
	OpenMPISize = "OMPI_COMM_WORLD_SIZE"
	PMIxSpace   = "PMIX_NAMESPACE"
	SingleCopy  = "OMPI_MCA_btl_vader_single_copy_mechanism"

	SlurmStep      = "SLURM_STEP_ID"
	SlurmRank      = "SLURM_PROCID"
	SlurmStepTasks = "SLURM_STEP_NUM_TASKS"
	SlurmTasks     = "SLURM_NTASKS"
	SlurmJob       = "SLURM_JOB_ID"
	SlurmNodes     = "SLURM_STEP_NODELIST"
	SlurmPerNode   = "SLURM_STEP_TASKS_PER_NODE"
	SlurmNode      = "SLURM_NODEID"
	SlurmLocal     = "SLURM_LOCALID"
)

// Variable describes one variable for the documentation.
type Variable struct{ Name, Allowed, Meaning string }

// Variables lists what lockstep reads, in order of precedence within each use.
var Variables = []Variable{
	{Backend, "the name of a backend, or any", "backend that Init picks when the program asks for none"},
	{Timeout, "a duration above zero, such as 90s", "longest wait of one operation; 10m if not set"},
	{Stall, "a duration above zero, such as 30s", "how long a collective waits before a warning names the ranks that have not come; 1m if not set"},
	{Rank, "0 to size-1", "rank of this process on the ring"},
	{Size, "1 to 65536", "number of ranks; not needed with a host file"},
	{Coordinator, "host:port", "address where rank 0 listens and the others learn all addresses"},
	{HostFile, "a path", "JSON list with one list of \"ip:port\" per rank"},
	{TokenFile, "a path", "file with the secret that the ranks of one job share; only its owner may read it (mode 0600)"},
	{Insecure, "0 or 1", "1 lets a ring without a token leave loopback"},
	{SharedMem, "0 or 1", "0 keeps ranks of one host on sockets, or on Open MPI's messages; 1, the default, lets them share memory"},
	{Topology, "direct or ring", "who talks to whom: every rank to every other, the default, or to its neighbours alone; the same on all ranks"},
	{Reduce, "originals or hierarchical", "what sums travel as: originals, the default, or sums of whole hosts, with a weaker promise; the same on all ranks"},
	{Schedule, "auto, doubling or sliced", "how sums and gathers travel over sockets; auto, the default, goes by size; the same on all ranks"},
	{MPISums, "originals or library", "who adds under MPI: lockstep, from everyone's originals, the default; or MPI_Iallreduce, with the promise of bits that the library gives; the same on all ranks"},
	{Log, "debug, info, warn or error", "lowest level that the programs log; warn if not set"},
	{Kernel, "portable, avx2 or avx512", "instructions that arrays compute with; the best the processor has if not set"},
	{CacheLimit, "bytes, 0 or more, with KiB, MiB or GiB behind if these are meant", "memory of arrays that is kept to be used again; half of the machine's if not set"},
	{Processors, "as Go says", "how many goroutines compute at once; if not set, ranks that share memory divide the cores of their host among them"},
	{SSH, "a program", "what launch reaches other hosts by, instead of ssh"},
	{MLXRank, "0 to size-1", "as LOCKSTEP_RANK, with MLX_HOSTFILE"},
	{MLXHostFile, "a path", "as LOCKSTEP_HOSTFILE, with MLX_RANK"},
	{TorchRank, "0 to size-1", "rank, with WORLD_SIZE, MASTER_ADDR and MASTER_PORT"},
	{TorchSize, "1 to 65536", "number of ranks"},
	{MasterAddr, "a host", "coordinator's host"},
	{MasterPort, "1 to 65535", "coordinator's port"},
	{OpenMPIRank, "0 to size-1", "rank under mpirun; the ring also needs a coordinator"},
	{OpenMPISize, "1 to 65536", "number of ranks under mpirun"},
	{PMIxSpace, "any", "with SLURM_STEP_ID: MPI can start under srun --mpi=pmix"},
	{SingleCopy, "as Open MPI says", "how ranks of one host copy large messages; the mpi backend sets it to none unless it is set"},
	{SlurmStep, "any", "set by srun; without it Slurm's other variables are not used"},
	{SlurmRank, "0 to size-1", "rank in a Slurm step"},
	{SlurmStepTasks, "1 to 65536", "number of ranks in a Slurm step"},
	{SlurmTasks, "1 to 65536", "number of ranks in a Slurm step, where SLURM_STEP_NUM_TASKS is not set"},
	{SlurmJob, "0 or more", "with SLURM_STEP_ID: the port where the ring meets, unless a coordinator is set"},
	{SlurmNodes, "a list such as n[01-03,7]", "nodes of the step; the ring meets on the first, unless a coordinator is set"},
	{SlurmPerNode, "a list such as 2(x3),1", "tasks on each node of the step"},
	{SlurmNode, "0 to the number of nodes less 1", "which of the step's nodes this process is on"},
	{SlurmLocal, "0 to the node's tasks less 1", "which of its node's tasks this process is"},
}

// SetDefault sets a variable that is not set yet, for libraries that read it in
// this process.
func SetDefault(name, value string) error {
	if isSet(name) {
		return nil
	}
	return os.Setenv(name, value)
}

// LookupBackend returns the value of LOCKSTEP_BACKEND, "" when it is not set.
func LookupBackend() (string, error) {
	v, ok := os.LookupEnv(Backend)
	if ok && v == "" {
		return "", wrong(Backend, v, "the name of a backend, or any")
	}
	return v, nil
}

// LookupSSH returns the value of LOCKSTEP_SSH, "" when it is not set.
func LookupSSH() (string, error) {
	v, ok := os.LookupEnv(SSH)
	if ok && v == "" {
		return "", wrong(SSH, v, "a program that reaches other hosts, such as ssh")
	}
	return v, nil
}

// ProcessorsGiven reports whether GOMAXPROCS is set: whoever started this process has
// decided then on how many cores it computes.
func ProcessorsGiven() bool { return isSet(Processors) }

// LookupKernel returns the value of LOCKSTEP_KERNEL, "" when it is not set.
func LookupKernel() (string, error) {
	v, ok := os.LookupEnv(Kernel)
	switch {
	case !ok, v == "portable", v == "avx2", v == "avx512":
		return v, nil
	}
	return "", wrong(Kernel, v, "portable, avx2 or avx512")
}

// LookupCacheLimit returns the bytes of LOCKSTEP_CACHE_LIMIT; set is false when it
// is not set.
func LookupCacheLimit() (bytes int64, set bool, err error) {
	v, ok := os.LookupEnv(CacheLimit)
	if !ok {
		return 0, false, nil
	}
	number, factor := v, int64(1)
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		if n, found := strings.CutSuffix(v, unit); found {
			number, factor = n, int64(1)<<(10*(i+1))
		}
	}
	n, err := strconv.ParseUint(number, 10, 63)
	if err != nil || int64(n) > math.MaxInt64/factor {
		return 0, true, wrong(CacheLimit, v, "bytes, 0 or more, such as 512MiB")
	}
	return int64(n) * factor, true, nil
}

// LookupLog returns the level that LOCKSTEP_LOG names, warn when it is not set.
func LookupLog() (slog.Level, error) {
	v, ok := os.LookupEnv(Log)
	if !ok {
		return slog.LevelWarn, nil
	}
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		if v == strings.ToLower(level.String()) {
			return level, nil
		}
	}
	return 0, wrong(Log, v, "debug, info, warn or error")
}

// LookupTimeout returns LOCKSTEP_TIMEOUT, 0 when it is not set.
func LookupTimeout() (time.Duration, error) {
	return duration(Timeout, "a duration above zero, such as 90s")
}

// LookupStall returns LOCKSTEP_STALL_WARNING, 0 when it is not set.
func LookupStall() (time.Duration, error) {
	return duration(Stall, "a duration above zero, such as 30s")
}

func duration(name, allowed string) (time.Duration, error) {
	v, ok := os.LookupEnv(name)
	if !ok {
		return 0, nil
	}
	d, err := time.ParseDuration(v)
	if err != nil || d <= 0 {
		return 0, wrong(name, v, allowed)
	}
	return d, nil
}

// LookupInsecure reports whether LOCKSTEP_INSECURE is 1.
func LookupInsecure() (bool, error) {
	v, ok := os.LookupEnv(Insecure)
	if ok && v != "0" && v != "1" {
		return false, wrong(Insecure, v, "0 or 1")
	}
	return v == "1", nil
}

// LookupSharedMemory reports whether ranks of one host may share memory: unless
// LOCKSTEP_SHM is 0.
func LookupSharedMemory() (bool, error) {
	v, ok := os.LookupEnv(SharedMem)
	if ok && v != "0" && v != "1" {
		return false, wrong(SharedMem, v, "0 or 1")
	}
	return v != "0", nil
}

// The values of LOCKSTEP_TOPOLOGY, LOCKSTEP_REDUCE and LOCKSTEP_SCHEDULE, the
// default ones first.
var (
	Topologies = []string{"direct", "ring"}
	Reductions = []string{"originals", "hierarchical"}
	Schedules  = []string{"auto", "doubling", "sliced"}
)

// LookupTopology returns LOCKSTEP_TOPOLOGY, "" when it is not set.
func LookupTopology() (string, error) { return oneOf(Topology, Topologies) }

// LookupReduce returns LOCKSTEP_REDUCE, "" when it is not set.
func LookupReduce() (string, error) { return oneOf(Reduce, Reductions) }

// LookupSchedule returns LOCKSTEP_SCHEDULE, "" when it is not set.
func LookupSchedule() (string, error) { return oneOf(Schedule, Schedules) }

// LookupMPISums reports whether LOCKSTEP_MPI_SUMS leaves sums to the MPI library.
func LookupMPISums() (library bool, err error) {
	v, err := oneOf(MPISums, []string{"originals", "library"})
	return v == "library", err
}

func oneOf(name string, allowed []string) (string, error) {
	v, ok := os.LookupEnv(name)
	if !ok || slices.Contains(allowed, v) {
		return v, nil
	}
	last := len(allowed) - 1
	return "", wrong(name, v, strings.Join(allowed[:last], ", ")+" or "+allowed[last])
}

// LookupToken returns the content of the file named by LOCKSTEP_TOKEN_FILE
// without surrounding white space, nil when the variable is not set. A file that
// is unreadable, empty, longer than 64 KiB or open to other users is an error.
func LookupToken() ([]byte, error) {
	path, ok := os.LookupEnv(TokenFile)
	if !ok {
		return nil, nil
	}
	data, err := ReadFile(path, maxToken)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", TokenFile, err)
	}
	if err := checkPrivate(path); err != nil {
		return nil, fmt.Errorf("%s: %w", TokenFile, err)
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return nil, fmt.Errorf("%s: %s holds no token", TokenFile, path)
	}
	return []byte(token), nil
}

// checkPrivate refuses a file that other users may read or write.
func checkPrivate(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if mode := info.Mode(); mode.IsRegular() && mode.Perm()&0o077 != 0 {
		return fmt.Errorf("%s has mode %04o, so that other users can use it; want 0600: chmod 600", path, mode.Perm())
	}
	return nil
}

// maxToken is far more than a secret needs, and little enough for a file named by
// mistake to do no harm.
const maxToken = 64 << 10

// ReadFile is os.ReadFile for files of at most limit bytes, for those that an
// environment names: it may name anything.
func ReadFile(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s holds more than %d bytes", path, limit)
	}
	return data, err
}

// World says where this process stands among the ranks of its job.
type World struct {
	Rank        int
	Size        int    // 0 when the host file decides
	Coordinator string // host:port; empty when HostFile is set
	HostFile    string // path; empty when Coordinator is set
	Step        bool   // no coordinator is set, but the Slurm step says where ranks meet
	Source      string // the variables that said so, for messages
}

// LookupWorld reads rank, size and meeting place, by the first of these that
// is set: LOCKSTEP_RANK; MLX_RANK or MLX_HOSTFILE; RANK with WORLD_SIZE; Open
// MPI's; a Slurm step's. found is false when none is. A source that is set but
// incomplete or wrong is an error and never skipped.
func LookupWorld() (w World, found bool, err error) {
	for _, read := range []func() (World, bool, error){lockstepWorld, mlxWorld, torchWorld, openMPIWorld, slurmWorld} {
		if w, found, err = read(); found || err != nil {
			return w, found, err
		}
	}
	return World{}, false, nil
}

// Looked is the phrase that says what LookupWorld looked for in vain.
const Looked = "none of " + Rank + ", " + MLXRank + ", " + TorchRank + " with " + TorchSize + ", " +
	OpenMPIRank + ", " + SlurmStep + " is set"

// MPILauncher reports whether an MPI launcher started this process (mpirun, or
// srun with PMIx), and by which variables it is known.
func MPILauncher() (found string, ok bool) {
	if v, ok := os.LookupEnv(OpenMPISize); ok {
		return OpenMPISize + "=" + v, true
	}
	_, step := os.LookupEnv(SlurmStep)
	v, pmix := os.LookupEnv(PMIxSpace)
	if step && pmix {
		return PMIxSpace + "=" + v, true
	}
	return "neither " + OpenMPISize + " nor " + SlurmStep + " with " + PMIxSpace + " is set", false
}

// MPISize returns how many ranks an MPI launcher says that it started, and the
// variable that says so; 0 when none does.
func MPISize() (size int, found string, err error) {
	name := OpenMPISize
	if !isSet(name) && isSet(SlurmStep) {
		name = stepTasks()
	}
	if !isSet(name) {
		return 0, "", nil
	}
	size, err = integer(name, 1, MaxRanks, fmt.Sprintf("a number of ranks from 1 to %d", MaxRanks))
	return size, name, err
}

// Launchers lists the variables set in this process by which a launcher of any
// kind announces a world of several ranks, as NAME=value.
func Launchers() []string {
	var set []string
	for _, name := range []string{Rank, HostFile, MLXRank, MLXHostFile, TorchSize, OpenMPISize, SlurmStep} {
		v, ok := os.LookupEnv(name)
		alone := v == "1" && (name == TorchSize || name == OpenMPISize)
		if ok && !alone {
			set = append(set, name+"="+v)
		}
	}
	return set
}

// MaxRanks is more than any world has; what is larger is a mistake, and every rank
// keeps something for each other.
const MaxRanks = 1 << 16

func lockstepWorld() (World, bool, error) {
	if !isSet(Rank) && !isSet(HostFile) && !isSet(Size) {
		return World{}, false, nil
	}
	if hosts, ok := os.LookupEnv(HostFile); ok {
		if isSet(Coordinator) {
			return World{}, false, fmt.Errorf("%s and %s are both set; set one of them", HostFile, Coordinator)
		}
		return hostFileWorld(Rank, HostFile, hosts)
	}
	return coordinatorWorld(Rank, Size, lockstepCoordinator)
}

func mlxWorld() (World, bool, error) {
	if !isSet(MLXRank) && !isSet(MLXHostFile) {
		return World{}, false, nil
	}
	hosts, ok := os.LookupEnv(MLXHostFile)
	if !ok {
		return World{}, false, fmt.Errorf("%s is %s but %s is not set; both are needed", MLXRank, shown(MLXRank), MLXHostFile)
	}
	return hostFileWorld(MLXRank, MLXHostFile, hosts)
}

func torchWorld() (World, bool, error) {
	if !isSet(TorchRank) || !isSet(TorchSize) {
		return World{}, false, nil
	}
	return coordinatorWorld(TorchRank, TorchSize, masterCoordinator)
}

func openMPIWorld() (World, bool, error) {
	if !isSet(OpenMPIRank) {
		return World{}, false, nil
	}
	return coordinatorWorld(OpenMPIRank, OpenMPISize, anyCoordinator)
}

func hostFileWorld(rankVar, fileVar, path string) (World, bool, error) {
	if path == "" {
		return World{}, false, wrong(fileVar, path, "the path of a host file")
	}
	rank, err := integer(rankVar, 0, MaxRanks-1, "a rank from 0 to the number of hosts less 1")
	if err != nil {
		return World{}, false, err
	}
	return World{Rank: rank, HostFile: path, Source: rankVar + "=" + os.Getenv(rankVar) + ", " + fileVar + "=" + path}, true, nil
}

func coordinatorWorld(rankVar, sizeVar string, coordinator func() (string, error)) (World, bool, error) {
	size, err := integer(sizeVar, 1, MaxRanks, fmt.Sprintf("a number of ranks from 1 to %d", MaxRanks))
	if err != nil {
		// A rank that is no number either is the mistake to speak of first.
		_, wrongRank := integer(rankVar, 0, MaxRanks-1, "a rank, 0 or more")
		return World{}, false, cmp.Or(wrongRank, err)
	}
	rank, err := integer(rankVar, 0, size-1, fmt.Sprintf("a rank from 0 to %d, as %s is %d", size-1, sizeVar, size))
	if err != nil {
		return World{}, false, err
	}
	w := World{Rank: rank, Size: size, Source: fmt.Sprintf("%s=%d, %s=%d", rankVar, rank, sizeVar, size)}
	if w.Coordinator, err = coordinator(); err != nil && size > 1 {
		return World{}, false, fmt.Errorf("%s: %w", w.Source, err)
	}
	return w, true, nil
}

func lockstepCoordinator() (string, error) {
	v, ok := os.LookupEnv(Coordinator)
	if !ok {
		return "", fmt.Errorf("%s (host:port) is not set, and neither is %s", Coordinator, HostFile)
	}
	return v, checkHostPort(Coordinator, v)
}

func masterCoordinator() (string, error) {
	host, ok := os.LookupEnv(MasterAddr)
	if !ok || host == "" {
		return "", fmt.Errorf("%s is %s; a host is needed", MasterAddr, shown(MasterAddr))
	}
	port, err := integer(MasterPort, 1, 65535, "a port from 1 to 65535")
	if err != nil {
		return "", err
	}
	return joinHostPort(host, port), nil
}

func anyCoordinator() (string, error) {
	if isSet(Coordinator) {
		return lockstepCoordinator()
	}
	if isSet(MasterAddr) {
		return masterCoordinator()
	}
	return "", fmt.Errorf("the ring needs a meeting place too: set %s to host:port", Coordinator)
}

func isSet(name string) bool {
	_, ok := os.LookupEnv(name)
	return ok
}

func shown(name string) string {
	if v, ok := os.LookupEnv(name); ok {
		return strconv.Quote(v)
	}
	return "not set"
}

func wrong(name, value, allowed string) error {
	const shownBytes = 200
	if len(value) > shownBytes {
		value = value[:shownBytes] + "…"
	}
	return fmt.Errorf("%s is %q; want %s", name, value, allowed)
}

func integer(name string, low, high int, allowed string) (int, error) {
	v, ok := os.LookupEnv(name)
	if !ok {
		return 0, fmt.Errorf("%s is not set; want %s", name, allowed)
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < low || n > high || strconv.Itoa(n) != v {
		return 0, wrong(name, v, allowed)
	}
	return n, nil
}
