package onehost

import (
	"os"
	"runtime"
	"testing"

	"github.com/lockstep-go/lockstep/internal/env"
	"github.com/lockstep-go/lockstep/internal/par"
	"github.com/lockstep-go/lockstep/internal/shm"
)

// TestCoresAreDivided writes on the desks of others what processes there would.
func TestCoresAreDivided(t *testing.T) {
	if !shm.Supported {
		t.Skip("this system has no shared memory")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	for _, c := range []struct {
		name  string
		given string   // GOMAXPROCS
		cores []uint64 // that each rank may run on, as bits
		want  int      // workers
	}{
		{"two ranks on two cores", "", []uint64{3, 3}, 1},
		{"each on a core of its own", "", []uint64{1, 2}, 1},
		{"two on eight cores", "", []uint64{0xff, 0xff}, 4},
		{"three on eight cores", "", []uint64{0xff, 0xff, 0xff}, 2},
		{"more ranks than cores", "", []uint64{3, 3, 3}, 1},
		{"cores that are not known", "", []uint64{0, 0}, 8},
		{"the user has decided", "8", []uint64{3, 3}, 8},
		{"goroutines of one process", "", nil, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(env.Processors, c.given)
			if c.given == "" {
				os.Unsetenv(env.Processors)
			}
			s := mapped(t, max(len(c.cores), 2))
			for r, marked := range c.cores {
				s.desks[r].process.Store(int64(os.Getpid() + r))
				for i := range s.desks[r].cores {
					s.desks[r].cores[i].Store(0)
				}
				s.desks[r].cores[0].Store(marked)
			}
			s.LookAround()
			s.DivideCores()
			if got := par.Workers(); got != c.want {
				t.Errorf("%d workers, want %d", got, c.want)
			}
			s.Close()
			if got := par.Workers(); got != 8 {
				t.Errorf("%d workers once the memory is closed, want 8", got)
			}
		})
	}
}

// mapped is the first of some ranks of this process.
func mapped(t *testing.T, ranks int) *Sharing {
	file, err := Create(ranks)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var first *Sharing
	for r := range ranks {
		s, err := Map(file, ranks, r)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = s
		} else {
			t.Cleanup(s.Close)
		}
	}
	return first
}
