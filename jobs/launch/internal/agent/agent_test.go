package agent

import (
	"bytes"
	"encoding/gob"
	"os"
	"syscall"
	"testing"
	"time"
)

// sleeper is an agent with one rank that sleeps, and what it has reported.
func sleeper(t *testing.T) (a *agent, reports *bytes.Buffer) {
	t.Helper()
	reports = &bytes.Buffer{}
	a = &agent{talk: newTalk(reports), done: make(chan struct{})}
	a.obey(Order{Start: &Spec{Ranks: []int{3}, Size: 4, Program: "sleep", Args: []string{"sleep", "1000"}}})
	if len(a.ranks) != 1 {
		t.Fatal("the rank does not run")
	}
	return a, reports
}

func TestAnAgentThatHearsNothingEndsItsRanks(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(orders chan Order, signals chan os.Signal)
		wait time.Duration
	}{
		{"a silent connection", func(chan Order, chan os.Signal) {}, 50 * time.Millisecond},
		{"launch has left", func(orders chan Order, _ chan os.Signal) { close(orders) }, 0},
		{"a signal", func(_ chan Order, signals chan os.Signal) { signals <- syscall.SIGHUP }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, _ := sleeper(t)
			orders, signals := make(chan Order), make(chan os.Signal, 1)
			c.end(orders, signals)
			if code := a.serve(orders, signals, c.wait); code != 1 {
				t.Errorf("code %d, want 1", code)
			}
			if err := syscall.Kill(a.ranks[0].cmd.Process.Pid, 0); err != syscall.ESRCH {
				t.Errorf("the rank is still there: %v", err)
			}
		})
	}
}

func TestSignsOfLifeKeepAnAgent(t *testing.T) {
	a, reports := sleeper(t)
	orders := make(chan Order)
	go func() {
		for range 20 {
			orders <- Order{}
		}
		orders <- Order{Signal: syscall.SIGUSR1}
	}()
	if code := a.serve(orders, nil, time.Minute); code != 0 {
		t.Errorf("code %d, want 0: the rank ended by itself", code)
	}
	reports.Next(len(Greeting))
	kinds := []Kind{}
	for dec := gob.NewDecoder(reports); ; {
		var r Report
		if dec.Decode(&r) != nil {
			break
		}
		kinds = append(kinds, r.Kind)
		if r.Kind == Exited && (r.Rank != 3 || syscall.WaitStatus(r.Status).Signal() != syscall.SIGUSR1) {
			t.Errorf("got %+v, want rank 3 ended by SIGUSR1", r)
		}
	}
	if len(kinds) != 3 || kinds[0] != Started || kinds[1] != Exited || kinds[2] != Over {
		t.Errorf("reports %v; want started, exited, over", kinds)
	}
}
