//go:build cgo && mpi

package mpi

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

func stalledReceive(t *testing.T, c *comm) {
	if c.rank == 1 {
		var log bytes.Buffer
		defer func(logger *slog.Logger, stall time.Duration) { c.job.logger, c.job.stall = logger, stall }(c.job.logger, c.job.stall)
		c.job.logger, c.job.stall = slog.New(slog.NewTextHandler(&log, nil)), 100*time.Millisecond
		ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
		defer cancel()
		if err := c.Recv(ctx, 0, 7, nil); err == nil {
			t.Error("a receive without a message ended well")
		}
		if got := log.String(); strings.Count(got, "stalled") != 1 || !strings.Contains(got, "receive from rank 0 tag 7") || !strings.Contains(got, "peers=[0]") {
			t.Errorf("the log says %q; want one warning that names the receive and rank 0", got)
		}
	}
	together(t)
}

// terminated has the process get SIGTERM, as from a batch system, and write where
// nobody reads; both are for the program to handle.
func terminated(t *testing.T, c *comm) {
	came := make(chan os.Signal, 1)
	signal.Notify(came, syscall.SIGTERM)
	defer signal.Stop(came)
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-came:
	case <-time.After(10 * time.Second):
		t.Error("SIGTERM did not come")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	if _, err := w.Write([]byte{1}); err == nil {
		t.Error("a write that nobody can read ended well")
	}
	w.Close()
	sumsOfOnes(t, c, 10)
}

// takeTurns has goroutines call the same collective of one group at a time.
func takeTurns(t *testing.T, c *comm) {
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				data := []byte{1}
				if err := c.AllReduce(t.Context(), group.Sum, dtype.Uint8, data); err != nil || data[0] != byte(c.size) {
					t.Errorf("sum %v, %v", data, err)
					return
				}
			}
		})
	}
	all.Wait()
}
