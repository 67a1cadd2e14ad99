package ring

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// carriers are the ways to move bytes on this system.
func carriers(t *testing.T) map[string]carrier {
	own, err := newCarrier()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(own.close)
	return map[string]carrier{"own": own, "pumps": newPumps()}
}

// streams connects two streams of a carrier.
func streams(t *testing.T, c carrier) (a, b stream) {
	x, y := connect(t)
	ends := [2]stream{}
	for i, conn := range []net.Conn{x, y} {
		s, err := c.stream(conn)
		if err != nil {
			t.Fatal(err)
		}
		ends[i] = s
	}
	return ends[0], ends[1]
}

func closeBoth(a, b stream) {
	everyRank(2, func(r int) { []stream{a, b}[r].drain(time.Now().Add(5 * time.Second)) })
}

// TestStreamsNeverWait fills a stream until it takes no more, and empties it.
func TestStreamsNeverWait(t *testing.T) {
	for name, c := range carriers(t) {
		t.Run(name, func(t *testing.T) {
			a, b := streams(t, c)
			defer closeBoth(a, b)
			var got [100]byte
			if n, err := b.read(got[:]); n != 0 || err != nil {
				t.Fatalf("read before anything was sent: %d, %v", n, err)
			}
			sent := 0
			for full := 0; full < 3; {
				n, err := a.write(bytes.Repeat([]byte{7}, 1<<16))
				if err != nil {
					t.Fatal(err)
				}
				if sent += n; n == 0 {
					full++
					c.sleep(nil, nil, time.Millisecond)
				}
			}
			for came := 0; came < sent; {
				n, err := b.read(got[:])
				if err != nil {
					t.Fatal(err)
				}
				if came += n; n == 0 {
					c.sleep([]stream{b}, nil, time.Second)
				}
			}
		})
	}
}

// TestSleepEnds has a sleeper woken by each thing that may wake it.
func TestSleepEnds(t *testing.T) {
	for name, c := range carriers(t) {
		for what, happen := range map[string]func(a stream){
			"a wake before it":   func(stream) { c.wake() },
			"a wake during it":   func(stream) { time.AfterFunc(10*time.Millisecond, c.wake) },
			"something to read":  func(a stream) { a.write([]byte{1}) },
			"the end of a peer":  func(a stream) { a.closeWrite() },
			"the end of a while": nil,
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				a, b := streams(t, c)
				defer closeBoth(a, b)
				if happen == nil {
					c.sleep([]stream{b}, nil, 5*time.Millisecond)
					return
				}
				happen(a)
				if err := c.sleep([]stream{b}, nil, time.Hour); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestStreamEnds sees that what was written before the end still comes.
func TestStreamEnds(t *testing.T) {
	for name, c := range carriers(t) {
		t.Run(name, func(t *testing.T) {
			a, b := streams(t, c)
			defer closeBoth(a, b)
			a.write([]byte("last words"))
			a.closeWrite()
			if _, err := a.write([]byte("too late")); err == nil {
				t.Error("a write after the end is no error")
			}
			var got []byte
			room := make([]byte, 4)
			for {
				n, err := b.read(room)
				got = append(got, room[:n]...)
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if n == 0 {
					c.sleep([]stream{b}, nil, time.Second)
				}
			}
			if string(got) != "last words" {
				t.Errorf("got %q", got)
			}
		})
	}
}
