package agent

import "os"

// chunk is a piece of the ranks' input, in a list that every rank walks at its own
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

// ended is an input without a piece.
func ended() *chunk {
	c := newChunk()
	c.end()
	return c
}

func (c *chunk) fill(data []byte) {
	c.data, c.next = data, newChunk()
	close(c.ready)
}

func (c *chunk) end() { close(c.ready) }

// feed writes the pieces from c on to a rank's standard input, then closes it. It
// ends early when the rank stops listening or over is closed. A rank that does not
// read holds up nobody; what it has not read stays in memory.
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
