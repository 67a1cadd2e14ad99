package ring

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/group"
)

// impatient is for ranks that will not all come.
var impatient = Config{ConnectTimeout: 300 * time.Millisecond}

// freeAddress is a port of loopback that was free a moment ago. It lies below those
// that systems give to connections, one of which might take it meanwhile.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range freePorts {
		port := 20_000 + (os.Getpid()*1009+int(nextPort.Add(1)))%freePorts
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

const freePorts = 12_000

var nextPort atomic.Int32

// meet lets ranks come to a coordinator and closes what forms.
func meet(t *testing.T, ranks, worldSizes []int, cfg Config) []error {
	t.Helper()
	address := freeAddress(t)
	comms, errs := make([]group.Communicator, len(ranks)), make([]error, len(ranks))
	everyRank(len(ranks), func(i int) {
		comms[i], errs[i] = Coordinate(t.Context(), ranks[i], worldSizes[i], address, cfg)
	})
	if errors.Join(errs...) == nil {
		sumAll(t, comms)
	}
	everyRank(len(ranks), func(i int) {
		if comms[i] != nil {
			comms[i].Close()
		}
	})
	return errs
}

func TestCoordinator(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		ranks, worldSizes := everyone(n), make([]int, n)
		for i := range worldSizes {
			worldSizes[i] = n
		}
		if err := errors.Join(meet(t, ranks, worldSizes, Config{Token: secret})...); err != nil {
			t.Errorf("%d ranks: %v", n, err)
		}
	}
}

func TestCoordinatorComesLast(t *testing.T) {
	address := freeAddress(t)
	comms, errs := make([]group.Communicator, 2), make([]error, 2)
	dialled := make(chan struct{})
	everyRank(2, func(r int) {
		if r == 0 {
			<-dialled
		} else {
			_, err := net.Dial("tcp", address)
			if err == nil {
				t.Error("someone listens already")
			}
			time.AfterFunc(50*time.Millisecond, func() { close(dialled) })
		}
		comms[r], errs[r] = Coordinate(t.Context(), r, 2, address, Config{})
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	sumAll(t, comms)
	closeAll(comms)
}

func TestRanksThatDoNotCome(t *testing.T) {
	t.Parallel()
	for i, err := range meet(t, []int{0, 1, 3}, []int{5, 5, 5}, impatient) {
		if i == 0 {
			wantError(t, err, "rank 0", "ranks 2,4 did not come", "300ms")
		}
		wantError(t, err, "ranks 2,4 did not come")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v is no deadline", err)
		}
	}
}

func TestAnotherSize(t *testing.T) {
	t.Parallel()
	for _, err := range meet(t, []int{0, 1, 2}, []int{3, 3, 4}, Config{}) {
		wantError(t, err, "rank 2", "4 ranks", "rank 0", "it has 3")
	}
}

func TestTwoOfOneRank(t *testing.T) {
	t.Parallel()
	for _, err := range meet(t, []int{0, 1, 1}, []int{3, 3, 3}, Config{}) {
		wantError(t, err, "two processes", "rank 1", "127.0.0.1:")
	}
}

// TestCancelledCoordinator sees that those who came hear of it, and that it is the
// same kind of error to them.
func TestCancelledCoordinator(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough of this")
	ctx, cancel := context.WithCancelCause(t.Context())
	address := freeAddress(t)
	came := make(chan error, 1)
	go func() {
		_, err := Coordinate(t.Context(), 1, 3, address, Config{})
		came <- err
	}()
	time.AfterFunc(200*time.Millisecond, func() { cancel(enough) })
	_, err := Coordinate(ctx, 0, 3, address, Config{ConnectTimeout: time.Hour})
	wantError(t, err, "rank 0", "did not come", enough.Error())
	select {
	case err = <-came:
		wantError(t, err, "rank 1", "rank 2 did not come", enough.Error())
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v is no cancellation", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("rank 1 still waits")
	}
}

func TestNobodyCoordinates(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	_, err := Coordinate(t.Context(), 1, 2, address, impatient)
	wantError(t, err, "rank 1 cannot reach rank 0", address, "tries in", "connection refused")
}

func TestCoordinatorThatIsNoLockstep(t *testing.T) {
	t.Parallel()
	l := listenLocal(t)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Write([]byte("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"))
			conn.Close()
		}
	}()
	_, err := Coordinate(t.Context(), 1, 2, l.Addr().String(), impatient)
	wantError(t, err, "rank 0", l.Addr().String())
}

func TestTokensThatDiffer(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	errs := make([]error, 2)
	everyRank(2, func(r int) {
		cfg := Config{Token: append(secret[:len(secret):len(secret)], byte(r)), ConnectTimeout: impatient.ConnectTimeout}
		_, errs[r] = Coordinate(t.Context(), r, 2, address, cfg)
	})
	wantError(t, errs[0], "rank 1 did not come")
	wantError(t, errs[1], "rank 0", address, "different tokens")
}

// TestWorldsThatCannotBe sees that nothing is waited for, nor room made, for a
// world of a size that is a mistake.
func TestWorldsThatCannotBe(t *testing.T) {
	address := freeAddress(t)
	for _, rank := range []int{0, 1} {
		for _, size := range []int{-1, 0, 1<<16 + 1, 1 << 40} {
			_, err := Coordinate(t.Context(), rank, size, address, Config{})
			wantError(t, err, "ring: a world of ", "want 1 to 65536")
		}
	}
	for _, rank := range []int{-1, 3, 1 << 40} {
		_, err := Coordinate(t.Context(), rank, 3, address, Config{})
		wantError(t, err, "is not one of 0 to 2")
	}
	_, err := Local(t.Context(), 1<<40, Config{})
	wantError(t, err, "want 1 to 65536")
	a, b := listenLocal(t), "127.0.0.1:1"
	_, err = FromListener(t.Context(), 0, 3, a, []string{a.Addr().String(), b, b}, Config{})
	wantError(t, err, "ranks 1 and 2 have the same address "+b)
}

func TestMeetingPlaces(t *testing.T) {
	for address, want := range map[string]string{
		"":               "host:port",
		"10.0.0.1":       "host:port",
		"::1:5000":       "brackets",
		"0.0.0.0:5000":   "can dial",
		"[::]:5000":      "can dial",
		"127.0.0.1:0":    "can dial",
		"127.0.0.1:http": "65535",
	} {
		_, err := Coordinate(t.Context(), 0, 2, address, Config{})
		wantError(t, err, "coordinator", want)
	}
}

func TestCancelledMeeting(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough of this")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(enough) })
	errs := make([]error, 3)
	address := freeAddress(t)
	l := listenLocal(t)
	everyRank(3, func(i int) {
		switch i {
		case 0:
			_, errs[i] = Coordinate(ctx, 0, 2, address, Config{})
		case 1:
			_, errs[i] = Coordinate(ctx, 1, 2, freeAddress(t), Config{})
		case 2:
			_, errs[i] = FromListener(ctx, 0, 2, l, []string{l.Addr().String(), "127.0.0.1:1"}, Config{})
		}
	})
	wantError(t, errs[0], "rank 1 did not come", enough.Error())
	wantError(t, errs[1], "rank 1 cannot reach rank 0")
	wantError(t, errs[2], "rank 1 did not come", enough.Error())
}

// TestListsThatDiffer gives rank 1 another list of addresses: it is turned away and
// rank 0 says who was.
func TestListsThatDiffer(t *testing.T) {
	t.Parallel()
	for name, lists := range map[string][2][]string{
		"order": {{"", "", "x:1"}, {"", "", "y:1"}},
		"size":  {{"", ""}, {"", "", "x:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			listeners := []net.Listener{listenLocal(t), listenLocal(t)}
			errs := make([]error, 2)
			everyRank(2, func(r int) {
				addrs := append([]string(nil), lists[r]...)
				addrs[0], addrs[1] = listeners[0].Addr().String(), listeners[1].Addr().String()
				_, errs[r] = FromListener(t.Context(), r, len(addrs), listeners[r], addrs, impatient)
			})
			wantError(t, errs[1], "rank 1", "refused", "rank 0")
			wantError(t, errs[0], "did not come", "turned away: rank 1")
		})
	}
}

func TestHostFileWorld(t *testing.T) {
	a, b := freeAddress(t), freeAddress(t)
	taken := listenLocal(t).Addr().String() // the first choice of rank 1, which it cannot have
	path := filepath.Join(t.TempDir(), "hosts.json")
	file := `[["` + a + `","127.0.0.1:1"],["` + taken + `","` + b + `"]]`
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	comms, errs := make([]group.Communicator, 2), make([]error, 2)
	everyRank(2, func(r int) { comms[r], errs[r] = HostFile(t.Context(), r, path, Config{}) })
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if got := comms[1].(*comm).node.listener.Addr().String(); got != b {
		t.Errorf("rank 1 listens on %s, want %s", got, b)
	}
	sumAll(t, comms)
	closeAll(comms)
}

func TestManyRanks(t *testing.T) {
	comms := makeWorld(t, 24, Config{})
	sumAll(t, comms)
}
