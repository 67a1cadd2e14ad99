//go:build long

package ring

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/internal/env"
)

// The tests of this file make the network between hosts fail, where it is the
// system's own network and no proxy: packets vanish, and nobody says so.

// iptables changes the filter of a host.
func (h hosts) iptables(t *testing.T, host int, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("iptables"); err != nil {
		t.Skipf("no packets can be dropped: %v", err)
	}
	ip(t, append([]string{"netns", "exec", h.names[host], "iptables", "-w"}, args...)...)
}

// cable pulls out the cable of a host, or plugs it in: "down" or "up".
func (h hosts) cable(t *testing.T, host int, what string) {
	t.Helper()
	ip(t, "-n", h.bridge, "link", "set", fmt.Sprint("port", host), what)
}

// startTold starts a rank that does as it is told on each of the places.
func (h hosts) startTold(t *testing.T, places []int, variables ...string) []*process {
	t.Helper()
	ranks := h.start(t, "told", places, nil, append(variables, h.coordinator(places)...)...)
	for _, p := range ranks {
		p.expect(t, "ready")
	}
	return ranks
}

// tellAll tells each process the same.
func tellAll(t *testing.T, ranks []*process, what string) {
	t.Helper()
	for _, p := range ranks {
		p.tell(t, what)
	}
}

// failsWith reads how the calls of a rank went that it was told to make until an
// error, and sees that a later call fails at once.
func failsWith(t *testing.T, rank int, p *process, words ...string) (text string) {
	t.Helper()
	text, _ = p.did(t)
	wantText(t, fmt.Sprintf("rank %d", rank), text, words...)
	p.tell(t, "sum 10")
	if later, took := p.did(t); later == "<nil>" || took > 2*time.Second {
		t.Errorf("rank %d: a call on the broken group, after %v: %s", rank, took, later)
	}
	return text
}

// nothingLeft has ranks close their worlds, which takes at most five seconds, and
// looks at what they still hold.
func nothingLeft(t *testing.T, ranks []*process) {
	t.Helper()
	for _, what := range []string{"close", "left"} {
		tellAll(t, ranks, what)
		for r, p := range ranks {
			if text, took := p.did(t); text != "<nil>" || what == "close" && took > 6*time.Second {
				t.Errorf("%s, %d. of those left: after %v: %s", what, r+1, took, text)
			}
		}
	}
}

// TestCutOverHosts pulls out the cable of a host while all sum, and before one calls:
// the deadline tells, and names ranks on the other side.
func TestCutOverHosts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		places []int
		cut    int
		calls  string
	}{
		"one of four hosts in a long sum":       {[]int{0, 1, 2, 3}, 1, "sum 3000000"},
		"one of four hosts in short sums":       {[]int{0, 1, 2, 3}, 3, "sum 10"},
		"one of two hosts of two ranks":         {[]int{0, 0, 1, 1}, 1, "sum 3000000"},
		"the meeting place, in barriers of all": {[]int{0, 1, 2}, 0, "barrier"},
	} {
		for when, idle := range map[string]bool{"working": false, "idle": true} {
			t.Run(name+", "+when, func(t *testing.T) {
				t.Parallel()
				h := makeHosts(t, 4)
				ranks := h.startTold(t, c.places, env.Timeout+"=4s")
				all(t, ranks, "sum 1000")
				if !idle {
					tellAll(t, ranks, "until-error "+c.calls)
					time.Sleep(200 * time.Millisecond)
				}
				cut := time.Now()
				h.cable(t, c.cut, "down")
				if idle {
					tellAll(t, ranks, "until-error "+c.calls)
				}
				for r, p := range ranks {
					text := failsWith(t, r, p, " #", "4s passed")
					says := false
					for other, place := range c.places {
						across := (place == c.cut) != (c.places[r] == c.cut)
						says = says || across && strings.Contains(text, fmt.Sprint("10.77.0.", place+1, ":")) && other != r
					}
					if !says {
						t.Errorf("rank %d: %s; want the address of a rank on the other side of the cut", r, text)
					}
				}
				if took := time.Since(cut); took > 12*time.Second {
					t.Errorf("all knew after %v", took)
				}
				nothingLeft(t, ranks)
			})
		}
	}
}

// TestOneWayDropOverHosts drops what goes from one host to another, but not what
// comes back. A third host hears both well.
func TestOneWayDropOverHosts(t *testing.T) {
	t.Parallel()
	for name, calls := range map[string]string{"long sums": "sum 3000000", "short sums": "sum 10"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := makeHosts(t, 3)
			ranks := h.startTold(t, []int{0, 1, 2}, env.Timeout+"=4s")
			all(t, ranks, "sum 300000")
			h.iptables(t, 0, "-A", "INPUT", "-s", h.address(1), "-j", "DROP")
			tellAll(t, ranks, "until-error "+calls)
			for r, p := range ranks {
				text := failsWith(t, r, p, "all_reduce #", "4s passed")
				if !strings.Contains(text, "10.77.0.1:") && !strings.Contains(text, "10.77.0.2:") {
					t.Errorf("rank %d: %s; want rank 0 or 1 to be named", r, text)
				}
			}
			nothingLeft(t, ranks)
		})
	}
}

// TestHalfOpenOverHosts has a rank die without the others' being told: the system of
// its host says nothing until it is spoken to. It is then, and the next call knows at
// once, whatever the deadline; where the host stays silent for good, keep-alive
// finds out while all are idle.
func TestHalfOpenOverHosts(t *testing.T) {
	t.Parallel()
	for name, silent := range map[string]bool{"a host that resets": false, "a host that is gone": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := makeHosts(t, 3)
			ranks := h.startTold(t, []int{0, 1, 2})
			all(t, ranks, "sum 300000")
			h.iptables(t, 1, "-A", "OUTPUT", "-p", "tcp", "--tcp-flags", "FIN", "FIN", "-j", "DROP")
			h.iptables(t, 1, "-A", "OUTPUT", "-p", "tcp", "--tcp-flags", "RST", "RST", "-j", "DROP")
			if silent {
				h.iptables(t, 1, "-A", "INPUT", "-j", "DROP")
			}
			ranks[1].Process.Kill()
			ranks[1].Wait()
			if silent {
				time.Sleep(75 * time.Second)
			} else {
				time.Sleep(200 * time.Millisecond)
				h.iptables(t, 1, "-F")
				h.iptables(t, 1, "-A", "OUTPUT", "-p", "tcp", "--tcp-flags", "FIN", "FIN", "-j", "DROP")
			}
			left := []*process{ranks[0], ranks[2]}
			tellAll(t, left, "sum 300000")
			for r, p := range left {
				failsSoon(t, 2*r, p, "rank 1", "10.77.0.2:", "all_reduce #")
			}
			nothingLeft(t, left)
		})
	}
}
