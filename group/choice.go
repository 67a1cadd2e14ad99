package group

import (
	"strings"

	"github.com/lockstep-go/lockstep/internal/env"
)

// Choice returns the backend that Init would begin with in this process if it were
// asked for any, and why. It starts nothing. An empty name is the group of one.
func Choice() (backend, why string, err error) {
	named, err := env.LookupBackend()
	if err != nil {
		return "", "", err
	}
	if named != "" && named != "any" {
		if _, ok := lookup(named); !ok {
			return "", "", unknown(named)
		}
		return named, env.Backend + "=" + named, nil
	}
	var missing []string
	for _, c := range candidates() {
		if c.Started && c.Available {
			return c.name, c.Found, nil
		}
		missing = append(missing, c.name+": "+c.Found)
	}
	return "", strings.Join(missing, "; "), nil
}
