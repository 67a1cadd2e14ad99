package grouptest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/lockstep-go/lockstep/group"
)

// SlowReceiver is played by ranks 0 and 1 of a communicator that bounds what it keeps
// for a receiver: rank 0 sends 512 MiB as fast as it can, and rank 1 takes its time. It
// returns what is wrong: bytes that differ, or a process that grew by more than a
// third of all that. On systems that do not tell a process its size only the bytes count.
func SlowReceiver(ctx context.Context, comm group.Communicator) error {
	const length, messages, growth = 16 << 20, 32, 160 << 20
	return onPair(comm, func() error {
		data := make([]byte, length)
		for i := range messages {
			fillWith(data, byte(i))
			if err := comm.Send(ctx, 1, 7, data); err != nil {
				return err
			}
		}
		return nil
	}, func() error {
		got, want := make([]byte, length), make([]byte, length)
		fillWith(got, 0)
		debug.FreeOSMemory()
		before := resident()
		for i := range messages {
			if i%8 == 0 {
				time.Sleep(100 * time.Millisecond)
			}
			if grown := resident() - before; grown > growth {
				return fmt.Errorf("the process has grown by %d bytes before message %d, at most %d are allowed", grown, i, growth)
			}
			fillWith(want, byte(i))
			if err := comm.Recv(ctx, 0, 7, got); err != nil {
				return err
			}
			if !bytes.Equal(got, want) {
				return fmt.Errorf("message %d differs", i)
			}
		}
		return nil
	})
}

func fillWith(data []byte, x byte) {
	if len(data) == 0 {
		return
	}
	data[0] = x
	for done := 1; done < len(data); done *= 2 {
		copy(data[done:], data[:done])
	}
}

// resident is how much memory the process has; 0 where the system does not say.
func resident() int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var total, pages int
	if _, err := fmt.Sscan(string(text), &total, &pages); err != nil {
		return 0
	}
	return pages * os.Getpagesize()
}
