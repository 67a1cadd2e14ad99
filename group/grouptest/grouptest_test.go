package grouptest_test

import (
	"testing"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
)

func TestMemory(t *testing.T) {
	grouptest.Run(t, func(t *testing.T, n int) []group.Communicator {
		return grouptest.NewWorld(n)
	})
}
