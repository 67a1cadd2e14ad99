package group

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var errParent = errors.New("the caller had enough")

// TestBoundedEnds has contexts end in every way, while someone waits for them and
// while they are only asked.
func TestBoundedEnds(t *testing.T) {
	for _, c := range []struct {
		name   string
		parent func() (context.Context, context.CancelFunc)
		after  time.Duration
		err    error
		cause  string
	}{
		{"by the group's timeout", func() (context.Context, context.CancelFunc) { return context.Background(), func() {} },
			time.Minute, context.DeadlineExceeded, "timeout after 1m0s"},
		{"by an earlier deadline of the caller", func() (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(context.Background(), time.Second, errParent)
		}, time.Second, context.DeadlineExceeded, errParent.Error()},
		{"by a later deadline of the caller not", func() (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(context.Background(), time.Hour, errParent)
		}, time.Minute, context.DeadlineExceeded, "timeout after 1m0s"},
		{"by the caller", func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(context.Background())
			timer := time.AfterFunc(3*time.Second, func() { cancel(errParent) })
			return ctx, func() { timer.Stop() }
		}, 3 * time.Second, context.Canceled, errParent.Error()},
	} {
		for _, waits := range []bool{true, false} {
			t.Run(c.name+map[bool]string{true: ", waited for"}[waits], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					parent, cancel := c.parent()
					defer cancel()
					g := &Group{timeout: time.Minute, stall: time.Hour}
					b := g.bound(parent, call{name: "barrier"})
					defer b.end()
					b.Err()
					b.Err() // from now on the time counts
					time.Sleep(c.after - time.Nanosecond)
					if b.Err() != nil || context.Cause(b) != nil {
						t.Fatalf("ends too early: %v", context.Cause(b))
					}
					if waits {
						<-b.Done()
					} else {
						time.Sleep(time.Nanosecond)
						synctest.Wait()
					}
					if err := b.Err(); err != c.err {
						t.Errorf("error %v, want %v", err, c.err)
					}
					if cause := context.Cause(b); cause.Error() != c.cause {
						t.Errorf("cause %q, want %q", cause, c.cause)
					}
				})
			})
		}
	}
}

func TestBoundedCarriesValues(t *testing.T) {
	ctx := WithLabel(context.Background(), "all_sum #7")
	g := &Group{timeout: time.Minute, stall: time.Hour}
	b := g.bound(ctx, call{})
	defer b.end()
	for range 2 {
		if got := b.Value(labelKey{}); got != "all_sum #7" {
			t.Errorf("value %v", got)
		}
		b.Done()
	}
}

// TestBoundedWarnsOnce has a call take long, and end.
func TestBoundedWarnsOnce(t *testing.T) {
	for name, look := range map[string]func(b *bounded){
		"waited for": func(b *bounded) { b.Done() },
		"asked":      func(b *bounded) { b.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				g := &Group{timeout: time.Hour, stall: time.Minute, logger: slog.New(slog.NewTextHandler(&log, nil))}
				for i, patience := range []time.Duration{30 * time.Second, 3 * time.Minute} {
					b := g.bound(context.Background(), call{name: "barrier", run: uint64(i)})
					for range 5 {
						look(b)
						time.Sleep(patience / 5)
					}
					look(b)
					b.end()
					time.Sleep(10 * time.Minute)
					b.Err()
				}
				if text := log.String(); strings.Count(text, "still waiting") != 1 || !strings.Contains(text, "barrier #1") {
					t.Errorf("log: %s", text)
				}
			})
		})
	}
}
