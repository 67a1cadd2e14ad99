package group

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Config says how to start a group and how patient to be. The zero value is
// useful.
type Config struct {
	// Backend is the name of a registered backend, or "any" or "" for the choice
	// rule of Init.
	Backend string
	// Strict makes it an error to find no backend; otherwise the result is then
	// the group of one.
	Strict bool
	// Timeout bounds every operation that has no earlier deadline; 0 means
	// LOCKSTEP_TIMEOUT, else ten minutes.
	Timeout time.Duration
	// ConnectTimeout bounds the meeting of the ranks at the start; 0 means one
	// minute.
	ConnectTimeout time.Duration
	// Logger gets debug and warning records with the attributes rank, size,
	// backend and peer; nil means slog.Default.
	Logger *slog.Logger
}

// Detection is what a backend can say of this process without side effects.
type Detection struct {
	// Available: the backend is compiled in and its libraries are here.
	Available bool
	// Started: the environment says that this process is one of a world that
	// this backend would form. Init is then expected to succeed.
	Started bool
	// Prefer orders backends under "any": the highest is asked first.
	Prefer int
	// Found is one phrase for people: what was looked for and what was there,
	// such as "OMPI_COMM_WORLD_SIZE=4" or "neither LOCKSTEP_RANK nor RANK is set".
	Found string
}

// Backend makes communicators of one kind.
type Backend interface {
	// Detect reads the environment only; it starts nothing.
	Detect() Detection
	// Init forms the world that the environment describes, of one rank or of
	// many. An error that wraps ErrNotConfigured means that nothing is there; any
	// other error means that what is there is wrong or cannot form.
	Init(ctx context.Context, cfg Config) (Communicator, error)
}

var registry = struct {
	sync.Mutex
	backends map[string]Backend
}{backends: map[string]Backend{}}

// Register makes a backend known by name; backends call it from init. It
// panics when the name is taken or the backend is nil.
func Register(name string, b Backend) {
	registry.Lock()
	defer registry.Unlock()
	if b == nil {
		panic("group: Register backend is nil: " + name)
	}
	if _, taken := registry.backends[name]; taken {
		panic("group: Register called twice for backend " + name)
	}
	registry.backends[name] = b
}

// Backends lists the names of the registered backends, sorted.
func Backends() []string {
	registry.Lock()
	defer registry.Unlock()
	names := make([]string, 0, len(registry.backends))
	for name := range registry.backends {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// IsAvailable reports whether Init could use the named backend in this binary
// on this system, whether or not a world was started. "any" is always
// available; a name that nobody registered never is. It has no side effects.
func IsAvailable(name string) bool {
	if name == "any" {
		return true
	}
	b, ok := lookup(name)
	return ok && b.Detect().Available
}

func lookup(name string) (Backend, bool) {
	registry.Lock()
	defer registry.Unlock()
	b, ok := registry.backends[name]
	return b, ok
}
