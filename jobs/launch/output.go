package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
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
}

func (s *sink) write(data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed || len(data) == 0 {
		return
	}
	if _, err := s.w.Write(data); err != nil {
		s.failed = true
		select {
		case s.broken <- err:
		default:
		}
	}
}

func (s *sink) printf(format string, args ...any) {
	s.write(fmt.Appendf(nil, "launch: "+format+"\n", args...))
}

// stream carries one output of one rank to its sink.
type stream struct {
	pipe *os.File // the reading end
	sink *sink
	tag  string // begins every line; empty: all bytes pass unchanged
	held []byte // an unfinished line

	mu   sync.Mutex
	over bool // the rank and its group are gone
}

// end says that nobody is left to write but processes that left the rank's group;
// what has been written still passes.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.pipe.SetReadDeadline(time.Now())
}

// copy runs until the end of the output, or until end was called and nothing is
// left.
func (s *stream) copy() {
	defer s.pipe.Close()
	buf := make([]byte, 64<<10)
	for {
		n, over, err := s.read(buf)
		s.held = append(s.held, buf[:n]...)
		s.passLines()
		waited := errors.Is(err, os.ErrDeadlineExceeded) && !over
		if err != nil && !waited {
			s.passRest()
			return
		}
		if waited && s.tag == "" {
			s.passRest()
		}
	}
}

// read waits for output: for good, or for a pause when a line is unfinished or
// the rank is over. over is as it was before the wait, so that a deadline that
// end moved does not hide bytes in the pipe.
func (s *stream) read(buf []byte) (n int, over bool, err error) {
	s.mu.Lock()
	over = s.over
	var deadline time.Time
	if over || len(s.held) > 0 {
		deadline = time.Now().Add(pause)
	}
	s.pipe.SetReadDeadline(deadline)
	s.mu.Unlock()
	n, err = s.pipe.Read(buf)
	return n, over, err
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
