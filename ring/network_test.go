package ring

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/internal/env"
)

// gate stands before the listener of a rank and passes on what goes through it,
// until a test makes it do otherwise.
type gate struct {
	front net.Listener
	back  string
	work  sync.WaitGroup

	mu     sync.Mutex
	conns  []net.Conn
	in     chan struct{} // closed when nothing more is passed on to the rank
	out    chan struct{} // the same, away from it
	ending chan struct{}
}

func newGate(t *testing.T, back string) *gate {
	g := &gate{front: listenLocal(t), back: back, in: make(chan struct{}), out: make(chan struct{}), ending: make(chan struct{})}
	g.work.Go(g.serve)
	t.Cleanup(func() {
		g.front.Close()
		close(g.ending)
		g.cut()
		g.work.Wait()
	})
	return g
}

func (g *gate) serve() {
	for {
		a, err := g.front.Accept()
		if err != nil {
			return
		}
		b, err := net.Dial("tcp", g.back)
		if err != nil {
			a.Close() // the rank does not listen yet
			continue
		}
		g.mu.Lock()
		g.conns = append(g.conns, a, b)
		g.mu.Unlock()
		g.work.Go(func() { g.pass(b, a, g.in) })
		g.work.Go(func() { g.pass(a, b, g.out) })
	}
}

// pass passes on what comes. What it keeps for itself looks to the sender as if it
// had been sent, and the end of one side is kept from the other.
func (g *gate) pass(to, from net.Conn, swallow chan struct{}) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		select {
		case <-swallow:
			if err != nil {
				<-g.ending
				return
			}
			continue
		default:
		}
		to.Write(buf[:n])
		if err != nil {
			closeWrite(to)
			return
		}
	}
}

// cut ends all connections.
func (g *gate) cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, conn := range g.conns {
		conn.Close()
	}
	g.conns = nil
}

// startBehindGates starts ranks that reach each other through gates only.
func startBehindGates(t *testing.T, n int, variables ...string) (ranks []*process, gates []*gate) {
	t.Helper()
	variables = append(variables, roleOf(t, "told", n)...)
	variables = append(variables, env.SharedMem+"=0", connectVariable+"=30s")
	fronts := make([]string, n)
	gates, ranks = make([]*gate, n), make([]*process, n)
	for r := range gates {
		gates[r] = newGate(t, freeAddress(t))
		fronts[r] = gates[r].front.Addr().String()
	}
	variables = append(variables, dialVariable+"="+strings.Join(fronts, " "))
	for r := range ranks {
		own := []string{env.Rank + "=" + fmt.Sprint(r), listenVariable + "=" + gates[r].back}
		ranks[r] = startRank(t, append(own, variables...))
	}
	for _, p := range ranks {
		p.expect(t, "ready")
	}
	return ranks, gates
}

// TestCutLinks cuts all connections that lead to one rank, while it works and while
// all are idle. No deadline is near.
func TestCutLinks(t *testing.T) {
	t.Parallel()
	for name, idle := range map[string]bool{"idle": true, "in the middle": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ranks, gates := startBehindGates(t, 3)
			all(t, ranks, "sum 100000")
			if idle {
				gates[0].cut()
				time.Sleep(100 * time.Millisecond)
			}
			for _, p := range ranks {
				for range 30 {
					p.tell(t, "sum 300000")
				}
			}
			if !idle {
				time.Sleep(20 * time.Millisecond)
				gates[0].cut()
			}
			for r, p := range ranks {
				failed := ""
				for range 30 {
					text, took := p.did(t)
					if took > soon {
						t.Errorf("rank %d: took %v: %s", r, took, text)
					}
					if text != "<nil>" && failed == "" {
						failed = text
					}
					if text == "<nil>" && failed != "" {
						t.Errorf("rank %d: a call after %q went well", r, failed)
					}
				}
				wantText(t, fmt.Sprintf("rank %d", r), failed, "rank ", "127.0.0.1:")
				for _, what := range []string{"close", "left"} {
					p.tell(t, what)
					failsSoon(t, r, p, "<nil>")
				}
			}
		})
	}
}

// TestBlackHole has a network swallow, from some moment on, all that goes from one
// rank to the other, or back, or both, while all connections look well. Only the
// deadline tells, and it names the rank. What has arrived before may suffice for one
// more call.
func TestBlackHole(t *testing.T) {
	t.Parallel()
	toZero := func(gates []*gate) { close(gates[0].in); close(gates[1].out) }
	toOne := func(gates []*gate) { close(gates[0].out); close(gates[1].in) }
	for name, swallow := range map[string]func(gates []*gate){
		"to rank 0": toZero,
		"to rank 1": toOne,
		"both ways": func(gates []*gate) { toZero(gates); toOne(gates) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ranks, gates := startBehindGates(t, 2, env.Timeout+"=3s")
			all(t, ranks, "sum 1000")
			swallow(gates)
			for _, p := range ranks {
				for range 3 {
					p.tell(t, "sum 1000")
				}
			}
			for r, p := range ranks {
				failed := ""
				for i := range 3 {
					text, took := p.did(t)
					if took > soon || failed != "" && took > 2*time.Second {
						t.Errorf("rank %d, call %d: took %v: %s", r, i, took, text)
					}
					if text == "<nil>" && (failed != "" || i > 0) {
						t.Errorf("rank %d: call %d went well, after %q", r, i, failed)
					}
					if text != "<nil>" && failed == "" {
						failed = text
					}
				}
				wantText(t, fmt.Sprintf("rank %d", r), failed, fmt.Sprintf("rank %d", 1-r), "all_reduce #", "3s passed")
			}
			for _, what := range []string{"close", "left"} {
				for _, p := range ranks {
					p.tell(t, what)
				}
				for r, p := range ranks {
					failsSoon(t, r, p, "<nil>")
				}
			}
		})
	}
}
