package ring

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/internal/env"
)

// TestConformanceOverTwoHosts is the suite on two hosts of two ranks.
func TestConformanceOverTwoHosts(t *testing.T) {
	t.Parallel()
	suiteOverHosts(t, "suite", []int{0, 0, 1, 1})
}

// TestKilledRankOnAnotherHost kills the first rank of the second host, and the
// other one of it, while all sum in two levels: ranks that wait in shared memory
// for one that waits for the network have to hear of it, too.
func TestKilledRankOnAnotherHost(t *testing.T) {
	t.Parallel()
	for _, victim := range []int{2, 3} {
		t.Run(fmt.Sprint("rank ", victim), func(t *testing.T) {
			t.Parallel()
			ranks := startOnHosts(t, "sum", []int{0, 0, 1, 1}, nil)
			for _, p := range ranks {
				p.expect(t, "ready")
			}
			time.Sleep(50 * time.Millisecond)
			killed := time.Now()
			ranks[victim].Process.Kill()
			for r, p := range ranks {
				if r == victim {
					continue
				}
				text := p.expect(t, "end: ")
				if !strings.Contains(text, fmt.Sprintf("rank %d (10.77.0.2:", victim)) || !strings.Contains(text, "all_reduce #") {
					t.Errorf("rank %d: %s", r, text)
				}
			}
			t.Logf("all knew after %v", time.Since(killed))
		})
	}
}

// suiteOverHosts runs the suite in processes, one for each rank, on the hosts
// listed.
func suiteOverHosts(t *testing.T, role string, places []int, variables ...string) {
	t.Helper()
	expectSuite(t, startOnHosts(t, role, places, suiteOf(len(places)), variables...))
}

// startOnHosts starts a process for each place, on that host.
func startOnHosts(t *testing.T, role string, places []int, args []string, variables ...string) []*process {
	t.Helper()
	h := makeHosts(t, slices.Max(places)+1)
	return h.start(t, role, places, args, append(variables, h.coordinator(places)...)...)
}

// coordinator says that ranks meet at the first of the places.
func (h hosts) coordinator(places []int) []string {
	return []string{env.Size + "=" + fmt.Sprint(len(places)), env.Coordinator + "=" + h.meetingPlace(places[0])}
}

// start starts a process for each place, on that host, with variables that say
// where they meet.
func (h hosts) start(t *testing.T, role string, places []int, args []string, variables ...string) []*process {
	t.Helper()
	variables = append([]string{tokenFile(t, secret)}, variables...)
	variables = append(variables, roleVariable+"="+role)
	ranks := make([]*process, len(places))
	for r, host := range places {
		cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
		if err := h.on(host, cmd); err != nil {
			t.Fatal(err)
		}
		ranks[r] = start(t, cmd, append(slices.Clone(variables), env.Rank+"="+fmt.Sprint(r)))
	}
	return ranks
}
