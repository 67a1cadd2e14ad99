package ring

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// form waits until the control connections to all ranks are there. When that
// fails it tells those that are, and ends the node.
func (n *node) form(ctx context.Context) (*comm, error) {
	if n.size == 1 {
		n.stop()
		return n.root, nil
	}
	n.serve()
	if err := n.unite(ctx); err != nil {
		n.abandon(err)
		return nil, err
	}
	n.log.Debug("ring: world formed", "address", n.listener.Addr().String())
	return n.root, nil
}

// abandon ends a node that could not form its world.
func (n *node) abandon(err error) {
	if n.root.life.Err() == nil {
		n.root.Break(err)
	}
	n.shutdown()
}

// unite connects all ranks and has them agree whether they share memory.
func (n *node) unite(ctx context.Context) error {
	if err := n.mesh(ctx); err != nil {
		return err
	}
	if err := n.agree(); err != nil {
		return fmt.Errorf("rank %d: %w", n.rank, err)
	}
	ctx, cancel := n.connecting(ctx)
	defer cancel()
	if err := n.root.meet(ctx); err != nil {
		return fmt.Errorf("rank %d: %w", n.rank, err)
	}
	n.work.Go(n.watch)
	return nil
}

// mesh dials the ranks below and waits for those above.
func (n *node) mesh(ctx context.Context) error {
	ctx, cancel := n.connecting(ctx)
	defer cancel()
	ctx, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	failed := make([]error, n.size)
	var dialling sync.WaitGroup
	for r := range n.rank {
		dialling.Go(func() {
			var final *refusal
			if failed[r] = n.reach(ctx, r); errors.As(failed[r], &final) {
				refuse(failed[r])
			}
		})
	}
	select {
	case <-n.formed:
		return nil
	case <-n.root.life.Done():
	case <-ctx.Done():
	}
	cause := context.Cause(ctx)
	refuse(nil)
	dialling.Wait()
	return n.incomplete(failed, cause)
}

func (n *node) connecting(ctx context.Context) (context.Context, context.CancelFunc) {
	return withTimeout(ctx, n.cfg.ConnectTimeout)
}

func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, fmt.Errorf("%v passed: %w", d, context.DeadlineExceeded))
}

// incomplete says why the world did not form: because a peer gave up, or refused
// this rank, or because ranks did not come.
func (n *node) incomplete(failed []error, cause error) error {
	var final *refusal
	switch {
	case n.root.life.Err() != nil:
		return n.root.failure("connect")
	case errors.As(cause, &final):
		return fmt.Errorf("rank %d: %w", n.rank, cause)
	}
	var late []int
	var parts []string
	for r := range n.size {
		switch {
		case r < n.rank && failed[r] != nil:
			parts = append(parts, failed[r].Error())
		case r > n.rank && n.controls[r].Load() == nil:
			late = append(late, r)
		}
	}
	if len(late) > 0 {
		parts = append(parts, didNotCome(late)+n.hints())
	}
	return fmt.Errorf("rank %d: %s: %w", n.rank, strings.Join(parts, "; "), cause)
}

func didNotCome(ranks []int) string {
	if len(ranks) == 1 {
		return fmt.Sprintf("rank %d did not come", ranks[0])
	}
	return fmt.Sprintf("ranks %s did not come", list(ranks))
}

// hints is what may explain that ranks did not come: someone who was turned away,
// an address that other hosts cannot reach.
func (n *node) hints() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	hints := ""
	if isLoopback(n.listener.Addr()) {
		hints = fmt.Sprintf(" to %v, which only this host reaches", n.listener.Addr())
	}
	if n.refused != "" {
		hints += " (turned away: " + n.refused + ")"
	}
	return hints
}

// reach dials a rank until it answers, which it may start to do late.
func (n *node) reach(ctx context.Context, rank int) error {
	t := newTries()
	for {
		conn, err := n.dial(ctx, rank, forControl, groupID{})
		if err == nil {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.adopt(rank, conn)
			return nil
		}
		if !t.again(ctx, err) {
			return t.failure(fmt.Sprintf("rank %d at %s", rank, n.address(rank)))
		}
	}
}

// tries counts attempts at something that may work later.
type tries struct {
	count int
	start time.Time
	pause time.Duration
	last  error
}

func newTries() *tries { return &tries{start: time.Now(), pause: 20 * time.Millisecond} }

// again waits a little longer each time and reports whether to try once more.
// What fails because ctx has ended does not hide what failed before.
func (t *tries) again(ctx context.Context, err error) bool {
	t.count++
	at, limited := ctx.Deadline()
	ended := ctx.Err() != nil || limited && !time.Now().Before(at)
	if !ended || t.last == nil {
		t.last = err
	}
	var final *refusal
	if errors.As(err, &final) {
		return false
	}
	select {
	case <-time.After(t.pause):
		t.pause = min(2*t.pause, time.Second)
		return true
	case <-ctx.Done():
		return false
	}
}

func (t *tries) failure(whom string) error {
	noun := "tries"
	if t.count == 1 {
		noun = "try"
	}
	return fmt.Errorf("cannot reach %s: %d %s in %v: %w", whom, t.count, noun, time.Since(t.start).Round(time.Millisecond), t.last)
}
