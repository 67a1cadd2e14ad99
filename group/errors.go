package group

import (
	"errors"
	"fmt"
	"strings"
)

// Sentinel errors, found with errors.Is.
var (
	// ErrClosed says that this rank itself has closed the group.
	ErrClosed = errors.New("group is closed")
	// ErrNotConfigured says that a backend found nothing in its environment.
	ErrNotConfigured = errors.New("not configured")
	// ErrFull says that a receive cannot proceed because messages with other tags
	// that nobody received fill the buffer. The group is still usable.
	ErrFull = errors.New("unexpected messages fill the buffer")
	// ErrMismatch is wrapped by every *MismatchError.
	ErrMismatch = errors.New("ranks disagree")
)

// PeerError names the peer that an operation failed on.
type PeerError struct {
	Op   string // what was being done, such as "all_sum #17" or "recv tag 3"
	Rank int    // the peer's rank in the group
	Addr string // its address; empty where there is none
	Err  error  // the cause
}

// Error reads "all_sum #17: rank 2 (10.0.0.3:5000): connection reset by peer".
func (e *PeerError) Error() string {
	var b strings.Builder
	if e.Op != "" {
		b.WriteString(e.Op + ": ")
	}
	fmt.Fprintf(&b, "rank %d", e.Rank)
	if e.Addr != "" {
		fmt.Fprintf(&b, " (%s)", e.Addr)
	}
	return b.String() + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *PeerError) Unwrap() error { return e.Err }

// BrokenError is what a call on a broken group returns: the group failed
// earlier, here or at a peer, and Reason says why.
type BrokenError struct {
	By     int // the rank that broke it; -1 when this rank found out by itself
	Reason error
}

// Error reads "group broken by rank 2: gave up all_sum #17: …".
func (e *BrokenError) Error() string {
	if e.By < 0 {
		return "group broken: " + e.Reason.Error()
	}
	return fmt.Sprintf("group broken by rank %d: %v", e.By, e.Reason)
}

// Unwrap returns the reason.
func (e *BrokenError) Unwrap() error { return e.Reason }

// MismatchError says that the ranks of a group called different collectives.
type MismatchError struct {
	Calls []string // what each rank called, by rank; empty where it is not known
}

// Error groups the ranks by what they called, so that the odd ones stand out:
// "ranks disagree: ranks 0,1,3 called all_sum float32 [4]; rank 2 called …".
func (e *MismatchError) Error() string {
	var order []string
	ranks := map[string][]string{}
	for r, call := range e.Calls {
		if call == "" {
			call = "nothing known"
		}
		if ranks[call] == nil {
			order = append(order, call)
		}
		ranks[call] = append(ranks[call], fmt.Sprint(r))
	}
	parts := make([]string, len(order))
	for i, call := range order {
		noun := "rank "
		if len(ranks[call]) > 1 {
			noun = "ranks "
		}
		parts[i] = noun + strings.Join(ranks[call], ",") + " called " + call
	}
	return ErrMismatch.Error() + ": " + strings.Join(parts, "; ")
}

// Unwrap returns ErrMismatch.
func (e *MismatchError) Unwrap() error { return ErrMismatch }

// LengthError says that a message was not as long as the receiver asked for.
// The message was dropped; the group is still usable.
type LengthError struct {
	Src, Tag  int
	Got, Want int // bytes
}

// Error names the sender, the tag and both lengths.
func (e *LengthError) Error() string {
	return fmt.Sprintf("rank %d sent %d bytes with tag %d, want %d", e.Src, e.Got, e.Tag, e.Want)
}

// MessageError says that an array that arrived is not the one that the receiver
// asked for. The message was dropped; the group is still usable.
type MessageError struct {
	Src, Tag  int
	Got, Want string // dtype and shape, such as "int32[2 3]"
}

// Error names the sender, the tag and both arrays.
func (e *MessageError) Error() string {
	return fmt.Sprintf("rank %d sent %s with tag %d, want %s", e.Src, e.Got, e.Tag, e.Want)
}

// Untouched reports whether the call on a group that returned err is done with its
// buffers, which are the caller's again: the group had been broken or closed before, or a
// message was another one than was asked for. After other errors a transport may still
// write to them.
func Untouched(err error) bool {
	for range 2 { // what follows is the cause, which may be the error of another call
		switch err.(type) {
		case refusal, *MessageError, *LengthError:
			return true
		}
		err = errors.Unwrap(err)
	}
	return false
}

// refusal is why a call was not begun.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }
