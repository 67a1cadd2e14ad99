package buffer

import (
	"runtime"
	"sync/atomic"
)

// Buffer is memory that goes back to be used again. Its content is undefined when
// it is made. It has one reference, its maker's; the last Release gives the memory
// back, and so does the garbage collector once nothing points to the Buffer.
// Whoever uses Bytes therefore keeps the Buffer alive meanwhile, with
// runtime.KeepAlive if by nothing else.
type Buffer struct {
	bytes   []byte
	block   *block
	refs    atomic.Int32
	cleanup runtime.Cleanup
}

// Pooled reports whether New makes a Buffer of n bytes. Less than that is better
// off in Go's own heap: see Make and Small.
func Pooled(n int) bool { return n >= smallest || poison && n > 0 }

// Small returns n bytes of Go's heap, aligned for elements that divide n.
func Small(n int) []byte {
	b := make([]byte, n)
	if poison {
		fill(b)
	}
	return b
}

// New returns a buffer of n bytes, at least one. Where nothing needs to know how many
// references there are, small ones are better made without: see Pooled.
func New(n int) *Buffer {
	k := memory.take(n)
	b := &Buffer{bytes: k.bytes[:n:n], block: k}
	b.refs.Store(1)
	b.cleanup = runtime.AddCleanup(b, giveBack, k)
	return b
}

// Bytes is the memory. It must not be used once the Buffer is gone.
func (b *Buffer) Bytes() []byte { return b.bytes }

// Retain adds a reference. A nil Buffer has none to count.
func (b *Buffer) Retain() {
	if b != nil {
		b.refs.Add(1)
	}
}

// Release takes a reference back; the last one gives back the memory.
func (b *Buffer) Release() {
	if b == nil || b.refs.Add(-1) > 0 {
		return
	}
	b.cleanup.Stop()
	memory.giveBack(b.block)
	b.bytes, b.block = nil, nil
}

// References is how many there are at this moment.
func (b *Buffer) References() int { return int(b.refs.Load()) }

// Abandon keeps the memory from ever being used again, for a library that may
// still write to it. It is lost until the process ends. It may be called again.
func (b *Buffer) Abandon() {
	if b == nil || b.refs.Swap(abandoned) > abandoned/2 {
		return
	}
	b.cleanup.Stop()
	memory.lose(b.block)
}

// abandoned is more references than are ever released.
const abandoned = 1 << 30

func giveBack(k *block) { memory.giveBack(k) }
