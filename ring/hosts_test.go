package ring

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/lockstep-go/lockstep/internal/env"
)

// TestConformanceOverTwoHosts is the suite on two hosts of two ranks.
func TestConformanceOverTwoHosts(t *testing.T) {
	suiteOverHosts(t, "suite", []int{0, 0, 1, 1})
}

// suiteOverHosts runs the suite in processes, one for each rank, on the hosts
// listed.
func suiteOverHosts(t *testing.T, role string, places []int, variables ...string) {
	t.Helper()
	count := 0
	for _, host := range places {
		count = max(count, host+1)
	}
	h := makeHosts(t, count)
	variables = append(variables, tokenPlace(t, len(places))...)
	variables = append(variables, env.Coordinator+"="+h.meetingPlace(), roleVariable+"="+role)
	ranks := make([]*process, len(places))
	for r, host := range places {
		cmd := exec.CommandContext(t.Context(), os.Args[0], suiteOf(len(places))...)
		if err := h.on(host, cmd); err != nil {
			t.Fatal(err)
		}
		ranks[r] = start(t, cmd, append(variables, env.Rank+"="+fmt.Sprint(r)))
	}
	expectSuite(t, ranks)
}
