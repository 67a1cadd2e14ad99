//go:build linux && (amd64 || arm64 || riscv64 || loong64)

package shm

import (
	"bytes"
	"errors"
	"io"
	"math/bits"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const peerVariable = "SHM_TEST_SOCKET"

func TestMain(m *testing.M) {
	if path := os.Getenv(peerVariable); path != "" {
		os.Exit(playPeer(path))
	}
	os.Exit(m.Run())
}

const segmentBytes = 8192

// playPeer is another process: it receives a segment, meets its maker 100 times,
// each time after it has added one, and ends without unmapping.
func playPeer(path string) int {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return 2
	}
	file, err := Receive(conn.(*net.UnixConn))
	if err != nil {
		return 3
	}
	s, err := Map(file, segmentBytes)
	if err != nil {
		return 4
	}
	rounds(s, 2)
	return 0
}

// rounds adds one to a plain byte of the segment in turns, kept apart by fences.
func rounds(s *Segment, who int) {
	fence := At[Fence](s, 0)
	total := &s.Bytes()[1024]
	spinner := &Spinner{Company: Company(who - 1)}
	full := uint64(0)
	for range 50 {
		for turn := 1; turn <= 2; turn++ {
			if turn == who {
				*total++
			}
			full += 2
			fence.Arrive(full)
			for !fence.Spin(full, spinner) {
				fence.Sleep(full, time.Second)
			}
		}
	}
}

func socketpair(t *testing.T) (a, b *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ends := make([]*net.UnixConn, 2)
	for i, fd := range fds {
		file := os.NewFile(uintptr(fd), "socket")
		conn, err := net.FileConn(file)
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		ends[i] = conn.(*net.UnixConn)
	}
	return ends[0], ends[1]
}

func create(t *testing.T, n int) *os.File {
	t.Helper()
	file, err := Create(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

func mapped(t *testing.T, file *os.File, n int) *Segment {
	t.Helper()
	s, err := Map(file, n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Unmap() })
	return s
}

func TestTwoMappingsAreTheSameMemory(t *testing.T) {
	a, b := socketpair(t)
	file := create(t, segmentBytes)
	if err := Send(a, file); err != nil {
		t.Fatal(err)
	}
	received, err := Receive(b)
	if err != nil {
		t.Fatal(err)
	}
	defer received.Close()
	mine, other := mapped(t, file, segmentBytes), mapped(t, received, segmentBytes)
	copy(mine.Bytes()[100:], "seen there")
	At[atomic.Uint64](other, 8).Store(7)
	if got := other.Bytes()[100:110]; string(got) != "seen there" {
		t.Errorf("the other mapping shows %q", got)
	}
	if got := At[atomic.Uint64](mine, 8).Load(); got != 7 {
		t.Errorf("word %d, want 7", got)
	}
}

func TestAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	peer := exec.CommandContext(t.Context(), os.Args[0])
	peer.Env = append(os.Environ(), peerVariable+"="+path, "GORACE=atexit_sleep_ms=0")
	if err := peer.Start(); err != nil {
		t.Fatal(err)
	}
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	file := create(t, segmentBytes)
	if err := Send(conn.(*net.UnixConn), file); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	s := mapped(t, file, segmentBytes)
	rounds(s, 1)
	if err := peer.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := s.Bytes()[1024]; got != 100 {
		t.Errorf("%d additions arrived, want 100", got)
	}
}

func TestFenceOfManyGoroutines(t *testing.T) {
	const ranks, passings = 8, 300
	s := mapped(t, create(t, segmentBytes), segmentBytes)
	fence := At[Fence](s, 0)
	var counted [passings]atomic.Int32
	var work sync.WaitGroup
	for range ranks {
		work.Go(func() {
			spinner := &Spinner{Company: Together}
			for k := range passings {
				counted[k].Add(1)
				full := uint64(ranks * (k + 1))
				fence.Arrive(full)
				for !fence.Spin(full, spinner) {
					fence.Sleep(full, time.Second)
				}
				if got := counted[k].Load(); got != ranks {
					t.Errorf("passing %d let one through after %d", k, got)
				}
			}
		})
	}
	work.Wait()
}

func TestPokeWakesSleepers(t *testing.T) {
	s := mapped(t, create(t, segmentBytes), segmentBytes)
	fence := At[Fence](s, 0)
	slept := make(chan struct{})
	go func() {
		fence.Sleep(1, time.Hour)
		close(slept)
	}()
	for woken := false; !woken; {
		fence.Poke()
		select {
		case <-slept:
			woken = true
		case <-time.After(time.Millisecond):
		}
	}
	if fence.Full(1) {
		t.Error("a poke counted as an arrival")
	}
}

func TestSleepEndsByItself(t *testing.T) {
	s := mapped(t, create(t, segmentBytes), segmentBytes)
	At[Fence](s, 0).Sleep(1, time.Millisecond)
}

func TestRefusedFiles(t *testing.T) {
	plain, err := os.CreateTemp(t.TempDir(), "plain")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if err := plain.Truncate(segmentBytes); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file *os.File
		want string
	}{
		"file that can shrink": {plain, "no sealed memory"},
		"shorter memory":       {create(t, 4096), "4096 bytes, want 8192"},
		"longer memory":        {create(t, 16384), "16384 bytes, want 8192"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Map(c.file, segmentBytes); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that says %q", err, c.want)
			}
		})
	}
	if err := create(t, 4096).Truncate(0); err == nil {
		t.Error("the memory could be cut short")
	}
}

func TestSizesThatAreRefused(t *testing.T) {
	for _, n := range []int{-1, 0, maxBytes + 1, 1 << 62} {
		if _, err := Create(n); err == nil || !strings.Contains(err.Error(), "want 1 to") {
			t.Errorf("%d bytes: error %v, want one that says what is allowed", n, err)
		}
	}
}

func TestNoFileComes(t *testing.T) {
	a, b := socketpair(t)
	io.WriteString(a, "x")
	if _, err := Receive(b); err != ErrNoFile {
		t.Errorf("error %v for a byte alone, want ErrNoFile", err)
	}
	a.Close()
	if _, err := Receive(b); !errors.Is(err, io.EOF) {
		t.Errorf("error %v, want the end", err)
	}
}

func TestOutsideTheSegment(t *testing.T) {
	s := mapped(t, create(t, segmentBytes), segmentBytes)
	for name, offset := range map[string]int{"before it": -8, "over its end": segmentBytes - 4, "not aligned": 4} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Errorf("offset %d was allowed", offset)
				}
			}()
			At[uint64](s, offset)
		})
	}
}

func TestCores(t *testing.T) {
	marked := 0
	for _, word := range Cores() {
		marked += bits.OnesCount64(word)
	}
	if marked != runtime.NumCPU() {
		t.Errorf("%d cores are marked, this process was given %d", marked, runtime.NumCPU())
	}
}

func TestNothingIsLeft(t *testing.T) {
	for range 3 {
		file, err := Create(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Map(file, 1<<20)
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Unmap(); err != nil {
			t.Fatal(err)
		}
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(maps, []byte("memfd:lockstep")) {
		t.Errorf("still mapped:\n%s", maps)
	}
}
