//go:build cgo && mpi

package mpi

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/lockstep-go/lockstep/group"
)

// Notices are short messages that every waiting call reads: [kind 1, number 8,
// text]. They are far below any network's eager limit, so that sending one
// never waits for its receiver.
const (
	noticeBroken  = 'b' // text: the reason
	noticeArrived = 'a' // number: the collective that the sender waits in
	noticeGoodbye = 'g' // the sender has closed its end

	noticeHeader = 9
	noticeRoom   = 1024
)

// post sends a notice to every other member, under the lock. What does not leave
// at once is kept until it has.
func (c *comm) post(kind byte, number uint64, text string) {
	notice := binary.LittleEndian.AppendUint64([]byte{kind}, number)
	notice = append(notice, text[:min(len(text), noticeRoom-noticeHeader)]...)
	b := newBatch(max(c.size-1, 1))
	for i := 1; i < c.size; i++ {
		peer := (c.rank + i) % c.size
		if err := b.send(c.channel, peer, tagNotice, notice); err != nil {
			c.job.logger.Warn("notice not sent", "backend", "mpi", "rank", c.rank, "size", c.size, "peer", peer, "err", err)
		}
	}
	c.outbox = append(c.outbox, b)
	c.flush(0)
}

// flush frees the notices that have left, trying for at most a moment, under the
// lock.
func (c *comm) flush(moment time.Duration) {
	for len(c.outbox) > 0 {
		done, err := c.outbox[0].poll(int(moment.Microseconds()))
		switch {
		case err != nil:
			c.outbox[0].abandon()
		case done:
			c.outbox[0].free()
		default:
			return
		}
		c.outbox = c.outbox[1:]
	}
}

// readNotices takes in what has come, under the lock.
func (c *comm) readNotices() error {
	c.flush(0)
	for {
		notice, source, found, err := take(c.channel, tagNotice, c.notice)
		if err != nil || !found {
			return err
		}
		c.heed(source, notice)
	}
}

func (c *comm) heed(source int, notice []byte) {
	number := binary.LittleEndian.Uint64(notice[1:])
	switch notice[0] {
	case noticeArrived:
		c.arrived[source] = max(c.arrived[source], number)
	case noticeGoodbye:
		c.left[source] = time.Now()
	case noticeBroken:
		if c.broken == nil {
			c.broken = &group.BrokenError{By: source, Reason: errors.New(string(notice[noticeHeader:]))}
		}
	}
}
