package group

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/lockstep-go/lockstep/internal/env"
)

const linkHint = `import _ "github.com/lockstep-go/lockstep/group/all"`

// formed holds what Init has made so far; turn is held by the Init that runs.
var formed = struct {
	turn  chan struct{}
	first *Group
	named map[string]*Group
}{turn: make(chan struct{}, 1), named: map[string]*Group{}}

// Init returns this process's place in the world that its environment describes.
// It may wait for the other ranks, up to cfg.ConnectTimeout.
//
// With a named backend it is that backend's world. With "any" or no name it is
// the first of these: the group that an earlier Init formed; the world of the
// backend that LOCKSTEP_BACKEND names; that of the backend which finds itself
// started, mpi before ring; the group of one. The first group formed becomes the
// default group, and a second Init of the same backend returns the same group
// until it is closed. A failure is never remembered.
//
// When nothing is found the result is the group of one, with cfg.Strict an error.
// Strict or not, an environment that is there but wrong, a world that cannot form
// and a process that a launcher started as one of several but that no backend can
// connect are errors: a program of N never runs as N programs of one.
func Init(ctx context.Context, cfg Config) (*Group, error) {
	g, err := start(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("group: init: %w", err)
	}
	return g, nil
}

func start(ctx context.Context, cfg Config) (*Group, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	if err := acquire(ctx, formed.turn); err != nil {
		return nil, err
	}
	defer release(formed.turn)
	if cfg.Backend != "any" {
		return startNamed(ctx, cfg)
	}
	if g := formed.first; g != nil && !g.closed.Load() {
		return g, nil
	}
	if cfg.Backend, err = env.LookupBackend(); err != nil {
		return nil, err
	}
	if cfg.Backend == "" || cfg.Backend == "any" {
		return startAny(ctx, cfg)
	}
	g, err := startNamed(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("%s=%s: %w", env.Backend, cfg.Backend, err)
	}
	return g, nil
}

// complete checks cfg and fills in what it leaves open.
func (cfg Config) complete() (Config, error) {
	if cfg.Timeout < 0 || cfg.ConnectTimeout < 0 {
		return cfg, fmt.Errorf("negative timeout (Timeout %v, ConnectTimeout %v); 0 means the default", cfg.Timeout, cfg.ConnectTimeout)
	}
	set, err := env.LookupTimeout()
	if err != nil {
		return cfg, err
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, set, defaultTimeout)
	cfg.ConnectTimeout = cmp.Or(cfg.ConnectTimeout, defaultConnectTimeout)
	cfg.Backend = cmp.Or(cfg.Backend, "any")
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	return cfg, nil
}

func startNamed(ctx context.Context, cfg Config) (*Group, error) {
	b, ok := lookup(cfg.Backend)
	if !ok {
		return nil, unknown(cfg.Backend)
	}
	if g := formed.named[cfg.Backend]; g != nil && !g.closed.Load() {
		return g, nil
	}
	d := b.Detect()
	if !d.Available {
		return alone(cfg, cfg.Backend+": "+d.Found)
	}
	g, err := form(ctx, cfg, b)
	if errors.Is(err, ErrNotConfigured) {
		return alone(cfg, err.Error())
	}
	return g, err
}

func unknown(name string) error {
	err := fmt.Errorf("unknown backend %q (have %s)", name, strings.Join(append([]string{"any"}, Backends()...), ", "))
	if len(Backends()) == 0 {
		err = fmt.Errorf("%w; no backend is linked in: %s", err, linkHint)
	}
	return err
}

// startAny asks the backends that find themselves started, the preferred first.
func startAny(ctx context.Context, cfg Config) (*Group, error) {
	var missing, unavailable []string
	for _, c := range candidates() {
		if !c.Started || !c.Available {
			missing = append(missing, c.name+": "+c.Found)
			if c.Started {
				unavailable = append(unavailable, c.name+": "+c.Found)
			}
			continue
		}
		cfg.Backend = c.name
		g := formed.named[c.name]
		if g != nil && !g.closed.Load() {
			return g, nil
		}
		g, err := form(ctx, cfg, c.backend)
		if err == nil {
			return g, nil
		}
		if !errors.Is(err, ErrNotConfigured) {
			return nil, refused(err, unavailable)
		}
		missing = append(missing, err.Error())
	}
	return alone(cfg, strings.Join(missing, "; "))
}

// refused puts before a backend's failure which preferred ones this binary or
// machine lacks: they are what the launcher meant.
func refused(err error, unavailable []string) error {
	if len(unavailable) == 0 {
		return err
	}
	return fmt.Errorf("%s; %w", strings.Join(unavailable, "; "), err)
}

type candidate struct {
	Detection
	name    string
	backend Backend
}

// candidates lists the backends, the preferred first, and by name among equals.
func candidates() []candidate {
	var all []candidate
	for _, name := range Backends() {
		b, _ := lookup(name)
		all = append(all, candidate{b.Detect(), name, b})
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.Prefer, a.Prefer) })
	return all
}

// form lets the backend make its world and remembers it.
func form(ctx context.Context, cfg Config, b Backend) (*Group, error) {
	comm, err := b.Init(ctx, cfg)
	if err != nil {
		return nil, err
	}
	g := NewWith(comm, cfg)
	g.origin = b.Detect().Found
	formed.named[cfg.Backend] = g
	if formed.first == nil || formed.first.closed.Load() {
		preset.CompareAndSwap(formed.first, g)
		formed.first = g
	}
	g.logger.Debug("group formed", "by", cfg.Backend)
	return g, nil
}

// alone is the outcome when no backend found anything: found says what was
// looked for.
func alone(cfg Config, found string) (*Group, error) {
	if found == "" {
		found = "no backend is linked in: " + linkHint
	}
	if launched := several(); launched != "" {
		return nil, fmt.Errorf("a launcher started this process as one of several (%s), but nothing here can connect them: %s", launched, found)
	}
	if cfg.Strict {
		return nil, fmt.Errorf("no world to join: %s", found)
	}
	return single, nil
}

// several returns the variables by which a launcher says that this process is
// one of several, "" when there are none or when they say that it is alone.
func several() string {
	if w, found, err := env.LookupWorld(); err == nil && found && w.Size == 1 {
		return ""
	}
	return strings.Join(env.Launchers(), ", ")
}
