package ring

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// table is what the coordinator answers to those who joined: all addresses, or
// why there are none.
type table struct {
	Job       []byte
	Addresses []string
	Error     string
	Ended     ending // with an error
}

// ending says whether a refusal came because the coordinator's context ended, so
// that the error of every rank is of the same kind.
type ending string

const (
	expired   ending = "expired"
	cancelled ending = "cancelled"
)

// refusalOf is the answer to ranks that are not let in; ended is the error of the
// context when that is the reason.
func refusalOf(err, ended error) table {
	t := table{Error: err.Error()}
	switch {
	case errors.Is(ended, context.DeadlineExceeded):
		t.Ended = expired
	case ended != nil:
		t.Ended = cancelled
	}
	return t
}

// refusal is the error in t.
func (t table) refusal() error {
	switch t.Ended {
	case expired:
		return &remoteError{t.Error, context.DeadlineExceeded}
	case cancelled:
		return &remoteError{t.Error, context.Canceled}
	}
	return errors.New(t.Error)
}

// remoteError is an error of another rank, whose kind is known beside its text.
type remoteError struct {
	text string
	kind error
}

func (e *remoteError) Error() string { return e.text }

func (e *remoteError) Unwrap() error { return e.kind }

// reply answers a joiner and hangs up.
func (j joiner) reply(t table) error {
	defer j.conn.Close()
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	j.conn.SetWriteDeadline(time.Now().Add(knockTime))
	if err := writeBlock(j.conn, data); err != nil {
		return fmt.Errorf("rank %d (%v) left before all had come: %w", j.rank, j.conn.RemoteAddr(), err)
	}
	return nil
}

// writeBlock and readBlock move bytes with their length before them.
func writeBlock(w io.Writer, data []byte) error {
	_, err := w.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data...))
	return err
}

func readBlock(r io.Reader, limit int) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n > uint32(limit) {
		return nil, fmt.Errorf("block of %d bytes, at most %d", n, limit)
	}
	data := make([]byte, n)
	_, err := io.ReadFull(r, data)
	return data, noEOF(err)
}
