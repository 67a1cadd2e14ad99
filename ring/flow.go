package ring

import "github.com/lockstep-go/lockstep/internal/onehost"

// flow is what goes to one peer, or comes from it, in a part of a collective: a
// head, then blocks. It remembers how far that is.
type flow struct {
	peer   int
	blocks [][]byte
	// needs says what level the exchange must have reached for each block to move;
	// nil where all may move at once.
	needs []int

	link *link
	head head
	got  bool // the head is staged, or has come and is the right one
	at   int  // the block that moves
	off  int  // how much of it has moved
}

func (f *flow) length() uint64 {
	n := 0
	for _, b := range f.blocks {
		n += len(b)
	}
	return uint64(n)
}

// pass counts n bytes of the block that moves.
func (f *flow) pass(n int) {
	f.off += n
	for f.at < len(f.blocks) && f.off == len(f.blocks[f.at]) {
		f.at, f.off = f.at+1, 0
	}
}

func (f *flow) allPassed() bool { return f.got && f.at == len(f.blocks) }

// next is what is left of the block that moves, nil when none may.
func (f *flow) next(level int) []byte {
	if f.at == len(f.blocks) || f.needs != nil && f.needs[f.at] > level {
		return nil
	}
	return f.blocks[f.at][f.off:]
}

// turnBytes bounds one read or write, so that an exchange takes its turns.
const turnBytes = 512 << 10

func (f *flow) sent() bool { return f.allPassed() && len(f.link.out) == 0 && f.link.stream.flushed() }

// canSend reports whether there is something to write.
func (f *flow) canSend(level int) bool {
	return f.link != nil && (!f.got || len(f.link.out) > 0 || f.at == len(f.blocks) || f.next(level) != nil)
}

// send writes once, and reports whether anything moved. Small blocks go together,
// and with the head.
func (f *flow) send(level int) (moved bool, err error) {
	l := f.link
	if len(l.out) == 0 && (!f.got || len(f.next(level)) < linkBuffer) {
		f.stage(level)
	}
	if b := f.next(level); len(l.out) == 0 && len(b) > 0 {
		n, err := l.stream.write(b[:min(len(b), turnBytes)])
		f.pass(n)
		return n > 0, err
	}
	n, err := l.stream.write(l.out)
	l.out = l.out[n:]
	return n > 0, err
}

// stage copies what comes next to the buffer of the link, as far as it has room.
func (f *flow) stage(level int) {
	l := f.link
	l.out = l.outBuffer[:0]
	if !f.got {
		l.out = f.head.append(l.out)
		f.got = true
	}
	for b := f.next(level); len(b) > 0 && len(l.out) < linkBuffer; b = f.next(level) {
		n := min(len(b), linkBuffer-len(l.out))
		l.out = append(l.out, b[:n]...)
		f.pass(n)
	}
}

// canReceive reports whether there is something to read.
func (f *flow) canReceive(level int) bool {
	return f.link != nil && (!f.got || f.next(level) != nil)
}

// receive reads once, and reports whether anything moved.
func (f *flow) receive(level int) (moved bool, err error) {
	if !f.got {
		if moved, err = f.receiveHead(); !f.got {
			return moved, err
		}
	}
	l := f.link
	for b := f.next(level); b != nil; b = f.next(level) {
		n := l.take(b)
		if n == 0 && moved {
			return true, nil // more can wait for the next turn
		}
		if n == 0 {
			if n, err = l.read(b); n == 0 {
				return false, noEOF(err)
			}
		}
		f.pass(n)
		moved = true
	}
	return moved, nil
}

func (f *flow) receiveHead() (moved bool, err error) {
	l := f.link
	if len(l.in) < headBytes {
		n, err := l.fill()
		switch {
		case err != nil && len(l.in) == 0:
			return false, plainEOF(err)
		case err != nil:
			return false, noEOF(err)
		case len(l.in) < headBytes:
			return n > 0, nil
		}
	}
	got, err := decodeHead((*[headBytes]byte)(l.in))
	switch {
	case err != nil:
		return false, err
	case got != f.head:
		return false, onehost.ErrDiffers
	}
	l.in = l.in[headBytes:]
	f.got = true
	return true, nil
}
