package shm

import "sync/atomic"

// Stream carries bytes from one writer to one reader through a segment. Neither
// waits in it: what there is no room for is not written, and who must wait says so
// with a flag, then looks again, and is told by other means when the other side
// has seen the flag. The two sides have a Stream each.
type Stream struct {
	*streamWords
	data    []byte
	emptied uint64 // the writer knows that so much has been read
}

type streamWords struct {
	written     atomic.Uint64
	_           [Line - 8]byte
	read        atomic.Uint64
	_           [Line - 8]byte
	readerWaits atomic.Uint32
	_           [Line - 4]byte
	writerWaits atomic.Uint32
	_           [Line - 4]byte
}

const streamHead = 4 * Line

// StreamIn views a whole segment as a stream.
func StreamIn(s *Segment) Stream {
	return Stream{streamWords: At[streamWords](s, 0), data: s.memory[streamHead:]}
}

// Available is how many bytes can be read.
func (s *Stream) Available() int { return int(s.written.Load() - s.read.Load()) }

// Room is how many bytes can be written.
func (s *Stream) Room() int {
	s.emptied = s.read.Load()
	return s.knownRoom()
}

func (s *Stream) knownRoom() int { return len(s.data) - int(s.written.Load()-s.emptied) }

// HasRoom reports whether n bytes can be written. It only looks how far the reader is,
// which takes a cache line from it, when that matters.
func (s *Stream) HasRoom(n int) bool { return n <= s.knownRoom() || n <= s.Room() }

// Capacity is how many bytes fit in at most.
func (s *Stream) Capacity() int { return len(s.data) }

// piece is how much is moved before the other side may see it.
const piece = 32 << 10

// Write puts as much of p into the stream as there is room for.
func (s *Stream) Write(p []byte) (n int) {
	for room := min(len(p), s.Room()); n < room; {
		at := int(s.written.Load() % uint64(len(s.data)))
		moved := copy(s.data[at:min(at+piece, len(s.data))], p[n:room])
		s.written.Add(uint64(moved))
		n += moved
	}
	return n
}

// WriteMessage puts head and data into the stream, which has room for both. The reader
// sees nothing of it before it can read the first piece of data too.
func (s *Stream) WriteMessage(head, data []byte) {
	at, first := s.written.Load(), min(len(data), piece)
	s.put(at, head)
	s.put(at+uint64(len(head)), data[:first])
	s.written.Store(at + uint64(len(head)+first))
	if first < len(data) {
		s.Write(data[first:])
	}
}

func (s *Stream) put(at uint64, p []byte) {
	n := copy(s.data[at%uint64(len(s.data)):], p)
	copy(s.data, p[n:])
}

// Peek copies to p what comes next, and leaves it; p is no longer than what is
// available.
func (s *Stream) Peek(p []byte) {
	s.get(s.read.Load(), p)
}

func (s *Stream) get(at uint64, p []byte) {
	n := copy(p, s.data[at%uint64(len(s.data)):])
	copy(p[n:], s.data)
}

// ReadAfter drops a head, which is there, and moves as much as is available to p.
func (s *Stream) ReadAfter(head int, p []byte) (n int) {
	at := s.read.Load() + uint64(head)
	n = min(s.Available()-head, len(p), piece)
	s.get(at, p[:n])
	s.read.Store(at + uint64(n))
	if n == len(p) {
		return n
	}
	return n + s.Read(p[n:])
}

// Read moves as much as is available to p.
func (s *Stream) Read(p []byte) (n int) {
	for n < len(p) && s.Available() > 0 {
		at := int(s.read.Load() % uint64(len(s.data)))
		there := min(s.Available(), len(p)-n, piece)
		moved := copy(p[n:n+there], s.data[at:])
		s.read.Add(uint64(moved))
		n += moved
	}
	return n
}

// Skip drops up to n bytes of what is available and returns how many it dropped.
func (s *Stream) Skip(n int) int {
	n = min(n, s.Available())
	s.read.Add(uint64(n))
	return n
}

// ReaderWaits says that the reader will wait unless there is something by now.
func (s *Stream) ReaderWaits() { s.readerWaits.Store(1) }

// WriterWaits says that the writer will wait unless there is room by now.
func (s *Stream) WriterWaits() { s.writerWaits.Store(1) }

// WriterIsWaiting reports whether the writer has said that it waits.
func (s *Stream) WriterIsWaiting() bool { return s.writerWaits.Load() != 0 }

// TakeReaderWaits reports whether the reader waits, once for each time it said so.
func (s *Stream) TakeReaderWaits() bool {
	return s.readerWaits.Load() != 0 && s.readerWaits.Swap(0) != 0
}

// TakeWriterWaits reports whether the writer waits, once for each time it said so.
func (s *Stream) TakeWriterWaits() bool {
	return s.writerWaits.Load() != 0 && s.writerWaits.Swap(0) != 0
}
