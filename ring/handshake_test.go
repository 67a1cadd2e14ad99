package ring

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/env"
)

var secret = []byte("a secret of the tests")

// shake plays both ends of a handshake over loopback.
func shake(t *testing.T, h hello, callerToken, answererToken []byte) (got hello, called, answered error) {
	t.Helper()
	a, b := connect(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer b.Close()
		if got, answered = listen(b, answererToken); answered == nil {
			answered = writeVerdict(b, nil)
		}
	}()
	called = call(a, h, callerToken)
	a.Close()
	<-done
	return got, called, answered
}

// connect returns the two ends of a connection over loopback.
func connect(t *testing.T) (net.Conn, net.Conn) {
	t.Helper()
	l := listenLocal(t)
	a, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

func listenLocal(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestHandshakeCarriesTheHello(t *testing.T) {
	h := hello{purpose: forMessages, job: [16]byte{1}, size: 5, from: 4, to: 2, group: groupID{9}}
	for _, token := range [][]byte{nil, secret} {
		got, called, answered := shake(t, h, token, token)
		got.nonce = h.nonce
		if called != nil || answered != nil || got != h {
			t.Errorf("got %+v, %v, %v", got, called, answered)
		}
	}
}

func TestHandshakeWithAnotherToken(t *testing.T) {
	_, called, answered := shake(t, hello{purpose: forControl}, secret, []byte("another"))
	wantError(t, called, "different tokens")
	wantError(t, answered, "no proof")
	_, called, answered = shake(t, hello{purpose: forControl}, nil, secret)
	wantError(t, called, "different tokens")
	wantError(t, answered, "no proof")
}

// TestCallerWithoutTheToken plays a caller that goes on although the answerer's
// proof does not suit it.
func TestCallerWithoutTheToken(t *testing.T) {
	a, b := connect(t)
	answered := make(chan error, 1)
	go func() {
		_, err := listen(b, secret)
		answered <- err
	}()
	a.Write(hello{purpose: forControl}.encode())
	io.ReadFull(a, make([]byte, challengeBytes))
	a.Write(make([]byte, 32))
	wantError(t, <-answered, "different tokens")
}

func TestOtherVersion(t *testing.T) {
	h := hello{purpose: forControl}.encode()
	h[len(magic)] = version + 1
	a, b := connect(t)
	answered := make(chan error, 1)
	go func() {
		_, err := listen(b, nil)
		answered <- err
	}()
	a.Write(h)
	wantError(t, <-answered, "version 2", "version 1")
	reply := make([]byte, prefixBytes)
	if _, err := io.ReadFull(a, reply); err != nil || reply[len(magic)] != version {
		t.Errorf("answer % x, %v", reply, err)
	}
}

func TestWhatAnswersIsNotLockstep(t *testing.T) {
	a, b := connect(t)
	go io.WriteString(b, "220 mail.example ESMTP ready, how may I help you today\r\n")
	wantError(t, call(a, hello{purpose: forControl}, nil), "not lockstep")
}

// TestGarbageOnThePort sees that strangers do no harm to a world, before and after
// it has formed.
func TestGarbageOnThePort(t *testing.T) {
	listeners := []net.Listener{listenLocal(t), listenLocal(t)}
	addrs := []string{listeners[0].Addr().String(), listeners[1].Addr().String()}
	annoy := func() {
		for _, addr := range addrs {
			for _, garbage := range []string{
				"", "GET / HTTP/1.1\r\n\r\n", strings.Repeat("\xff", 1<<16), magic, magic + "\x01", magic + "\x01\x02" + strings.Repeat("\x00", 100),
				string(hello{purpose: forJoining, size: 2, from: 1}.encode()),
				string(hello{purpose: forControl, size: 1 << 31, from: -1}.encode()),
			} {
				conn, err := net.Dial("tcp", addr)
				if err != nil {
					t.Error(err)
					continue
				}
				io.WriteString(conn, garbage)
				t.Cleanup(func() { conn.Close() }) // half of them stay open and silent
			}
		}
	}
	annoy()
	comms := join2(t, listeners, addrs, Config{Token: secret})
	annoy()
	sumAll(t, comms)
}

func join2(t *testing.T, listeners []net.Listener, addrs []string, cfg Config) []group.Communicator {
	t.Helper()
	comms, errs := make([]group.Communicator, len(addrs)), make([]error, len(addrs))
	everyRank(len(addrs), func(r int) {
		comms[r], errs[r] = FromListener(t.Context(), r, len(addrs), listeners[r], addrs, cfg)
	})
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { closeAll(comms) })
	return comms
}

// sumAll runs one small and one large AllReduce and checks the sums.
func sumAll(t *testing.T, comms []group.Communicator) {
	t.Helper()
	n := len(comms)
	everyRank(n, func(r int) {
		for _, length := range []int{3, 10_000} {
			data := make([]byte, length)
			for i := range data {
				data[i] = byte(comms[r].Rank() + i)
			}
			if err := comms[r].AllReduce(context.Background(), group.Sum, dtype.Uint8, data); err != nil {
				t.Errorf("rank %d: %v", r, err)
				return
			}
			for i := range data {
				if want := byte(n*i + n*(n-1)/2); data[i] != want {
					t.Errorf("rank %d: element %d of %d is %d, want %d", r, i, length, data[i], want)
					return
				}
			}
		}
	})
}

func TestStrangerWithTheWrongJob(t *testing.T) {
	comms := makeWorld(t, 2, Config{})
	addr := comms[0].(*comm).node.listener.Addr().String()
	for name, h := range map[string]hello{
		"another job":      {purpose: forControl, size: 2, from: 1, to: 0, job: [16]byte{7}},
		"another size":     {purpose: forControl, size: 3, from: 1, to: 0},
		"another rank":     {purpose: forControl, size: 2, from: 0, to: 1, job: comms[0].(*comm).node.job},
		"a rank too large": {purpose: forControl, size: 2, from: 2, to: 0, job: comms[0].(*comm).node.job},
		"a second rank 1":  {purpose: forControl, size: 2, from: 1, to: 0, job: comms[0].(*comm).node.job},
		"joining too late": {purpose: forJoining, size: 2, from: 1, to: 0},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := knock(t.Context(), addr, h, Config{})
			wantError(t, err, addr, "refused: ")
		})
	}
	sumAll(t, comms)
}

func TestNoTokenNoNetwork(t *testing.T) {
	elsewhere, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	_, err = FromListener(t.Context(), 0, 2, elsewhere, []string{"a:1", "b:1"}, Config{})
	wantError(t, err, elsewhere.Addr().String(), env.TokenFile, env.Insecure)
	if _, err := elsewhere.Accept(); err == nil {
		t.Error("the listener is still open")
	}
	for name, cfg := range map[string]Config{"token": {Token: secret}, "insecure": {Insecure: true}} {
		if err := cfg.checkTrust(&net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 1}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConnectionsAreKeptAlive(t *testing.T) {
	if keepAlive.Idle != 30*time.Second || !keepAlive.Enable {
		t.Errorf("keep-alive is %+v", keepAlive)
	}
	a, b := connect(t)
	tune(a)
	tune(b)
	for _, conn := range []net.Conn{a, b} {
		if got := socketOption(t, conn, soKeepAlive); got != 1 {
			t.Errorf("SO_KEEPALIVE is %d", got)
		}
		if got := socketOption(t, conn, tcpNoDelay); got != 1 {
			t.Errorf("TCP_NODELAY is %d", got)
		}
	}
}
