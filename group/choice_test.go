package group_test

import (
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/env"
)

func TestChoice(t *testing.T) {
	for _, c := range []struct {
		name     string
		backends backends
		env      string
		want     string
		why      string // or the error
		fails    bool
	}{
		{"nothing started", backends{"a": idle(1)}, "", "", "a: FAKE is not set", false},
		{"one started", backends{"a": idle(2), "b": started(1, 2)}, "", "b", "FAKE is set", false},
		{"the preferred one of two", backends{"a": started(1, 2), "b": started(2, 2)}, "", "b", "FAKE is set", false},
		{"one that is missing here", backends{"a": absent(2), "b": started(1, 2)}, "", "b", "FAKE is set", false},
		{"named", backends{"a": idle(1), "b": started(2, 2)}, "a", "a", "LOCKSTEP_BACKEND=a", false},
		{"any by name", backends{"b": started(2, 2)}, "any", "b", "FAKE is set", false},
		{"named and unknown", backends{"a": idle(1)}, "nccl", "", `unknown backend "nccl" (have any, a)`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			using(t, c.backends)
			if c.env != "" {
				t.Setenv(env.Backend, c.env)
			}
			got, why, err := group.Choice()
			if err != nil {
				why = err.Error()
			}
			if got != c.want || !strings.Contains(why, c.why) || (err != nil) != c.fails {
				t.Errorf("got %q, %q, %v; want %q, %q", got, why, err, c.want, c.why)
			}
			for name, b := range c.backends {
				if n := b.(*fake).inits.Load(); n != 0 {
					t.Errorf("%s was started", name)
				}
			}
		})
	}
}
