//go:build linux && (amd64 || arm64 || riscv64 || loong64)

package shm

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
)

func streams(t *testing.T, n int) (writer, reader *Stream) {
	t.Helper()
	file := create(t, n)
	a, b := StreamIn(mapped(t, file, n)), StreamIn(mapped(t, file, n))
	return &a, &b
}

// TestStreamKeepsBytesInOrder sends more than fits, in parts of many lengths.
func TestStreamKeepsBytesInOrder(t *testing.T) {
	w, r := streams(t, 4096)
	sent := make([]byte, 100_000)
	for i := range sent {
		sent[i] = byte(i * i / 7)
	}
	go func() {
		for rest, length := sent, 1; len(rest) > 0; length = length*3%997 + 1 {
			n := w.Write(rest[:min(length, len(rest))])
			rest = rest[n:]
			if n == 0 {
				runtime.Gosched()
			}
		}
	}()
	got := make([]byte, len(sent))
	for rest, length := got, 1; len(rest) > 0; length = length*5%1009 + 1 {
		n := r.Read(rest[:min(length, len(rest))])
		rest = rest[n:]
		if n == 0 {
			runtime.Gosched()
		}
	}
	if !bytes.Equal(got, sent) {
		t.Error("other bytes arrived")
	}
}

func TestStreamAroundItsEnd(t *testing.T) {
	w, r := streams(t, 4096)
	if w.Capacity() != 4096-streamHead || w.Room() != w.Capacity() || r.Available() != 0 {
		t.Fatalf("an empty stream of %d has room for %d and holds %d", w.Capacity(), w.Room(), r.Available())
	}
	if n := w.Write(make([]byte, 5000)); n != w.Capacity() || w.Room() != 0 {
		t.Fatalf("wrote %d of %d, room for %d is left", n, w.Capacity(), w.Room())
	}
	if n := r.Skip(w.Capacity() - 3); n != w.Capacity()-3 || r.Skip(10) != 3 || r.Skip(1) != 0 {
		t.Fatal("skipped another number than there was")
	}
	w.Write(make([]byte, w.Capacity()-2))
	r.Skip(w.Capacity())
	w.Write([]byte("over the end"))
	peeked, read := make([]byte, 12), make([]byte, 20)
	r.Peek(peeked)
	n := r.Read(read)
	if string(peeked) != "over the end" || string(read[:n]) != "over the end" {
		t.Errorf("peeked %q, read %q", peeked, read[:n])
	}
}

func TestWaitingIsSeenOnce(t *testing.T) {
	w, r := streams(t, 4096)
	for name, c := range map[string]struct {
		say  func()
		take func() bool
	}{
		"reader": {r.ReaderWaits, w.TakeReaderWaits},
		"writer": {w.WriterWaits, r.TakeWriterWaits},
	} {
		before := c.take()
		c.say()
		if got := fmt.Sprint(before, c.take(), c.take()); got != "false true false" {
			t.Errorf("%s: seen before, once, twice: %s", name, got)
		}
	}
}

// TestStreamOfMessages sends messages of many lengths, each behind a head, around the
// end again and again.
func TestStreamOfMessages(t *testing.T) {
	w, r := streams(t, 4096)
	for i := range 500 {
		head, data := bytes.Repeat([]byte{1}, 16), bytes.Repeat([]byte{byte(i)}, i*37%3000)
		if !w.HasRoom(len(head) + len(data)) {
			t.Fatalf("message %d: room for %d", i, w.Room())
		}
		w.WriteMessage(head, data)
		peeked, got := make([]byte, len(head)), make([]byte, len(data))
		r.Peek(peeked)
		if n := r.ReadAfter(len(head), got); n != len(data) || !bytes.Equal(peeked, head) || !bytes.Equal(got, data) || r.Available() != 0 {
			t.Fatalf("message %d of %d bytes: %d have come, %d are left", i, len(data), n, r.Available())
		}
	}
	if n := w.Capacity(); !w.HasRoom(n) || w.HasRoom(n+1) {
		t.Errorf("an empty stream of %d has room for another number of bytes", n)
	}
}

// TestStreamOfHalfAMessage reads a message of which a part has come.
func TestStreamOfHalfAMessage(t *testing.T) {
	w, r := streams(t, 4096)
	w.Write([]byte("head, then da"))
	got := make([]byte, 4)
	if n := r.ReadAfter(len("head, then "), got); n != 2 || string(got[:n]) != "da" {
		t.Errorf("read %q", got[:n])
	}
	w.Write([]byte("ta"))
	if n := r.Read(got[2:]); n != 2 || string(got) != "data" {
		t.Errorf("read %q", got)
	}
}
