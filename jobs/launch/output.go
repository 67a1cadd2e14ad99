package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

const (
	// pause is how long an unfinished line waits for its end before it passes as
	// it is: prompts appear, and lines that come in pieces are not torn apart.
	pause = 100 * time.Millisecond
	// longestLine is how much of one line is held; a longer one passes in parts.
	longestLine = 1 << 20
)

// sink is one output of launch, shared by the ranks. After a failed write it
// swallows the rest, so that no rank waits for a reader that has left.
type sink struct {
	mu     sync.Mutex
	w      io.Writer
	failed bool
	broken chan<- error // gets the first error; never blocks
	// writing says that a write is under way, which waits for the reader.
	writing atomic.Bool
}

func (s *sink) write(data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed || len(data) == 0 {
		return
	}
	s.writing.Store(true)
	_, err := s.w.Write(data)
	s.writing.Store(false)
	if err != nil {
		s.failed = true
		s.fail(err)
	}
}

func (s *sink) fail(err error) {
	select {
	case s.broken <- err:
	default:
	}
}

func (s *sink) printf(format string, args ...any) {
	s.write(fmt.Appendf(nil, "launch: "+format+"\n", args...))
}

// stream carries one output of one rank to its sink.
type stream struct {
	sink *sink
	tag  string   // begins every line; empty: all bytes pass unchanged
	log  *os.File // gets all bytes, too; nil for none

	mu    sync.Mutex
	held  []byte // an unfinished line
	clock *time.Timer
}

// pass takes what the rank wrote.
func (s *stream) pass(data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(data)
	s.held = append(s.held, data...)
	s.passLines()
	if s.tag != "" || len(s.held) == 0 {
		return
	}
	if s.clock == nil {
		s.clock = time.AfterFunc(pause, s.end)
	}
	s.clock.Reset(pause)
}

// end passes an unfinished line as it is.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.held) > 0 {
		s.passRest()
	}
}

func (s *stream) note(data []byte) {
	if s.log == nil {
		return
	}
	if _, err := s.log.Write(data); err != nil {
		s.sink.fail(err)
		s.log = nil
	}
}

// passLines writes the finished lines in one go and holds the rest.
func (s *stream) passLines() {
	lines := s.held[:bytes.LastIndexByte(s.held, '\n')+1]
	rest := s.held[len(lines):]
	if s.tag == "" {
		s.sink.write(lines)
	} else {
		s.sink.write(tagged(s.tag, lines))
	}
	s.held = append(s.held[:0], rest...)
	if len(s.held) > longestLine {
		s.passPart()
	}
}

// passPart writes the beginning of a line too long to hold; a tagged one gets a
// line end there, between two characters.
func (s *stream) passPart() {
	if s.tag == "" {
		s.passRest()
		return
	}
	cut := wholeRunes(s.held)
	s.sink.write(append([]byte(s.tag), append(s.held[:cut:cut], '\n')...))
	s.held = append(s.held[:0], s.held[cut:]...)
}

// passRest writes the unfinished line; a tagged one gets its line end, so that
// the next rank's line begins on its own.
func (s *stream) passRest() {
	if s.tag != "" && len(s.held) > 0 {
		s.held = append([]byte(s.tag), append(s.held, '\n')...)
	}
	s.sink.write(s.held)
	s.held = s.held[:0]
}

func tagged(tag string, lines []byte) []byte {
	out := make([]byte, 0, len(lines)+len(lines)/4)
	for line := range bytes.Lines(lines) {
		out = append(append(out, tag...), line...)
	}
	return out
}

// wholeRunes is the length of text without a character that is cut off at its
// end. Bytes that are no UTF-8 count as characters.
func wholeRunes(text []byte) int {
	for back := 1; back < utf8.UTFMax && back < len(text); back++ {
		start := len(text) - back
		if utf8.RuneStart(text[start]) {
			if !utf8.FullRune(text[start:]) {
				return start
			}
			break
		}
	}
	return len(text)
}
