package grouptest

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/group"
)

// Main runs the tests of a binary that is started as many processes, by launch or
// mpirun, each of which is one rank. use is given the group of all of them before the
// tests begin, with the timeout of operations or 0 for the usual one; it is closed after
// them. The default group is the single one meanwhile, as in other test runs. Main
// returns the exit code; a world that does not form is a failure.
//
//	func TestMain(m *testing.M) {
//		os.Exit(grouptest.Main(m, time.Minute, func(g *group.Group) { everyone = g }))
//	}
func Main(m *testing.M, timeout time.Duration, use func(g *group.Group)) int {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	g, err := group.Init(ctx, group.Config{Strict: true, Timeout: timeout})
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	group.SetDefault(group.Single())
	use(g)
	code := m.Run()
	if err := g.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
