package ring

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/group"
)

// keep has an inbox store a message that has arrived.
func keep(t *testing.T, in *inbox, tag int, data []byte) {
	t.Helper()
	l := label{uint32(tag), uint64(len(data))}
	if q, ok := in.tryPlace(l); !ok || q != nil {
		t.Fatalf("message with tag %d: placed %v, asked for by %v", tag, ok, q)
	}
	if err := in.store(bytes.NewReader(data), l); err != nil {
		t.Fatal(err)
	}
}

// TestManyMessagesOverManyTags has a million messages wait and takes them in the
// order that is worst for whoever searches: one that looks at all that wait would
// need hours.
func TestManyMessagesOverManyTags(t *testing.T) {
	const tags, each = 10_000, 100
	in := newInbox(1 << 30)
	number := func(tag, i int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(tag*each+i)) }
	for i := range each {
		for tag := range tags {
			keep(t, &in, tag, number(tag, i))
		}
	}
	got := make([]byte, 4)
	for tag := tags - 1; tag >= 0; tag-- {
		for i := range each {
			if err := <-in.ask(tag, got).done; err != nil || !bytes.Equal(got, number(tag, i)) {
				t.Fatalf("message %d with tag %d: %v, %v", i, tag, got, err)
			}
		}
	}
	if len(in.queue) != 0 || in.bytes != 0 || !in.idle() {
		t.Errorf("%d tags and %d bytes are left", len(in.queue), in.bytes)
	}
}

// TestFullOfManyTags sees that an error about a full inbox stays readable.
func TestFullOfManyTags(t *testing.T) {
	const tags = 1000
	in := newInbox(tags * (letterCost + 1))
	for tag := range tags {
		keep(t, &in, tag, []byte{1})
	}
	q := in.ask(tags, make([]byte, 1))
	if _, ok := in.tryPlace(label{tags + 1, 1}); ok {
		t.Fatal("there was room")
	}
	select {
	case err := <-q.done:
		wantError(t, err, group.ErrFull.Error(), "tags [0 1 2 ", "14 15] and 984 others", "1 bytes with tag 1001")
	case <-time.After(10 * time.Second):
		t.Fatal("the receive still waits")
	}
}
