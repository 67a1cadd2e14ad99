package ring

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// The handshake that every connection begins with:
//
//	caller    hello      magic, version, purpose, job, size, from, to, group, nonce
//	answerer  challenge  magic, version, nonce, HMAC(token, "answer", hello, nonce)
//	caller    proof      HMAC(token, "call", hello, nonce)
//	answerer  verdict    accepted, or refused and why
//
// Both prove that they hold the token before either learns more than the hello.
// A job without a token uses the empty one. Everything has a fixed length but the
// verdict's reason, of at most 1 KiB.

const (
	magic   = "LOCKSTEP"
	version = 1

	// knockTime is how long an answerer waits for a caller that says nothing.
	knockTime = 5 * time.Second
)

// purpose is what a connection is for.
type purpose uint8

const (
	forJoining     purpose = iota + 1 // asking the coordinator for the addresses
	forControl                        // notices, for the life of the world
	forCollectives                    // one group, one pair
	forMessages                       // one group, from the caller to the answerer
	forSegment                        // one group, to the lowest rank, for shared memory
	purposes
)

// hello is what a caller says first. Ranks are those of the world.
type hello struct {
	purpose  purpose
	job      [16]byte // zero when joining
	size     int
	from, to int
	group    groupID
	nonce    [32]byte
}

const (
	prefixBytes    = len(magic) + 1
	helloBytes     = prefixBytes + 1 + 16 + 3*4 + 16 + 32
	challengeBytes = prefixBytes + 32 + sha256.Size
	maxReason      = 1 << 10
)

func (h hello) encode() []byte {
	b := append([]byte(magic), version, byte(h.purpose))
	b = append(b, h.job[:]...)
	for _, v := range []int{h.size, h.from, h.to} {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	b = append(b, h.group[:]...)
	return append(b, h.nonce[:]...)
}

func decodeHello(b []byte) (h hello, err error) {
	b = b[prefixBytes:]
	h.purpose = purpose(b[0])
	h.job = [16]byte(b[1:])
	number := func(i int) int { return int(binary.LittleEndian.Uint32(b[17+4*i:])) }
	h.size, h.from, h.to = number(0), number(1), number(2)
	h.group = groupID(b[29:])
	h.nonce = [32]byte(b[45:])
	if h.purpose == 0 || h.purpose >= purposes {
		return hello{}, fmt.Errorf("hello with unknown purpose %d", h.purpose)
	}
	return h, nil
}

// prove is the HMAC that shows possession of the token.
func prove(token []byte, role string, hello []byte, nonce []byte) []byte {
	mac := hmac.New(sha256.New, token)
	io.WriteString(mac, role)
	mac.Write(hello)
	mac.Write(nonce)
	return mac.Sum(nil)
}

// refusal is an error that trying again will not mend.
type refusal struct{ reason string }

func (r *refusal) Error() string { return r.reason }

var (
	errNotLockstep = errors.New("the other end is not lockstep")
	errOtherToken  = &refusal{"the two ends hold different tokens"}
)

// call plays the caller. The connection's deadline is the caller's affair.
func call(conn net.Conn, h hello, token []byte) error {
	rand.Read(h.nonce[:])
	mine := h.encode()
	if _, err := conn.Write(mine); err != nil {
		return err
	}
	prefix := make([]byte, challengeBytes)
	if err := readPrefix(conn, prefix); err != nil {
		return err
	}
	if _, err := io.ReadFull(conn, prefix[prefixBytes:]); err != nil {
		return noEOF(err)
	}
	nonce, proof := prefix[prefixBytes:prefixBytes+32], prefix[prefixBytes+32:]
	if !hmac.Equal(proof, prove(token, "answer", mine, nonce)) {
		return errOtherToken
	}
	if _, err := conn.Write(prove(token, "call", mine, nonce)); err != nil {
		return err
	}
	return readVerdict(conn)
}

// readPrefix reads the magic and the version into the start of b.
func readPrefix(conn net.Conn, b []byte) error {
	if _, err := io.ReadFull(conn, b[:prefixBytes]); err != nil {
		return noEOF(err)
	}
	if string(b[:len(magic)]) != magic {
		return errNotLockstep
	}
	if v := b[len(magic)]; v != version {
		return &refusal{fmt.Sprintf("the other end speaks version %d of the protocol, this one version %d", v, version)}
	}
	return nil
}

// listen plays the answerer up to the verdict, which is its caller's: a hello
// that was proved, or an error. Nothing that comes before the magic is answered.
func listen(conn net.Conn, token []byte) (hello, error) {
	conn.SetDeadline(time.Now().Add(knockTime))
	raw := make([]byte, helloBytes)
	challenge := append([]byte(magic), version)
	if err := readPrefix(conn, raw); err != nil {
		var other *refusal
		if errors.As(err, &other) {
			conn.Write(challenge)
		}
		return hello{}, err
	}
	if _, err := io.ReadFull(conn, raw[prefixBytes:]); err != nil {
		return hello{}, noEOF(err)
	}
	h, err := decodeHello(raw)
	if err != nil {
		return hello{}, err
	}
	nonce := make([]byte, 32)
	rand.Read(nonce)
	challenge = append(append(challenge, nonce...), prove(token, "answer", raw, nonce)...)
	if _, err := conn.Write(challenge); err != nil {
		return hello{}, err
	}
	proof := make([]byte, sha256.Size)
	if _, err := io.ReadFull(conn, proof); err != nil {
		return hello{}, fmt.Errorf("rank %d gave no proof: %w", h.from, noEOF(err))
	}
	if !hmac.Equal(proof, prove(token, "call", raw, nonce)) {
		return hello{}, errOtherToken
	}
	return h, nil
}

// writeVerdict accepts, or refuses for a reason, and lifts the deadline.
func writeVerdict(conn net.Conn, refused error) error {
	b := []byte{0, 0, 0}
	if refused != nil {
		reason := refused.Error()
		reason = reason[:min(len(reason), maxReason)]
		b[0] = 1
		binary.LittleEndian.PutUint16(b[1:], uint16(len(reason)))
		b = append(b, reason...)
	}
	_, err := conn.Write(b)
	conn.SetDeadline(time.Time{})
	return err
}

func readVerdict(conn net.Conn) error {
	b := make([]byte, 3)
	if _, err := io.ReadFull(conn, b); err != nil {
		return noEOF(err)
	}
	if b[0] == 0 {
		return nil
	}
	n := binary.LittleEndian.Uint16(b[1:])
	if n > maxReason {
		return errNotLockstep
	}
	reason := make([]byte, n)
	if _, err := io.ReadFull(conn, reason); err != nil {
		return noEOF(err)
	}
	return &refusal{"refused: " + string(reason)}
}
