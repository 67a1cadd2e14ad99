package main

import (
	"io"
	"os"
)

// chunk is a piece of launch's input, in a list that every rank walks at its own
// pace. A piece is free once the slowest rank has gone past it.
type chunk struct {
	ready chan struct{} // closed when data and next are set
	taken chan struct{} // gets one value when the first rank has it
	data  []byte
	next  *chunk // nil: the input has ended
}

func newChunk() *chunk {
	return &chunk{ready: make(chan struct{}), taken: make(chan struct{}, 1)}
}

// spread reads in to its end, from the piece c on. It reads ahead of the fastest
// rank by one piece and no more. A rank that does not read holds up nobody; what
// it has not read stays in memory. spread ends when done is closed; a read in
// progress cannot be called back and ends with the process.
func spread(in io.Reader, c *chunk, done <-chan struct{}) {
	for {
		buf := make([]byte, 64<<10)
		n, err := in.Read(buf)
		if n > 0 {
			c.data, c.next = buf[:n], newChunk()
			close(c.ready)
			select {
			case <-c.taken:
			case <-done:
				return
			}
			c = c.next
		}
		if err != nil {
			close(c.ready)
			return
		}
	}
}

// feed writes the pieces from c on to a rank's standard input, then closes it. It
// ends early when the rank stops listening or over is closed.
func feed(stdin *os.File, c *chunk, over <-chan struct{}) {
	defer stdin.Close()
	for {
		select {
		case <-c.ready:
		case <-over:
			return
		}
		if c.next == nil {
			return
		}
		if _, err := stdin.Write(c.data); err != nil {
			return
		}
		select {
		case c.taken <- struct{}{}:
		default:
		}
		c = c.next
	}
}
