package ring

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Everything on the wire is little-endian. A frame has a head of fixed length,
// and whatever length a head announces is checked before room is made for it.

// groupID names a group on the wire. It follows from the parent's, the number of
// the split and the color, so that all members find the same one.
type groupID [16]byte

// noticeKind says what a control connection carries.
type noticeKind uint8

const (
	// goodbye: the sender has closed the group; the world's means that the sender
	// leaves.
	goodbye noticeKind = iota + 1
	// broke: the sender has broken the group, after number collectives that went
	// well. rank is the world rank on which it failed, or nobody; text is the
	// reason.
	broke
	// lost: the connection to rank of the world ended without a goodbye; text says
	// how.
	lost
	// differs: the ranks disagree about collective number; text is what the
	// sender called.
	differs
	// asks: how many collectives of the group has the receiver begun?
	asks
	// answers: number collectives, the latest of which is text.
	answers
	// listens: of the sender's addresses, the one with this number is in use; text
	// is what the sender says of itself.
	listens
	// apart: the sender shares no memory with the group.
	apart
	noticeKinds
)

// notice is one frame of a control connection.
type notice struct {
	kind   noticeKind
	group  groupID
	rank   uint32
	number uint64
	text   string
}

const (
	noticeBytes = 4 + 1 + 16 + 4 + 8
	maxText     = 16 << 10
	// nobody stands where no rank does.
	nobody = 1<<32 - 1
)

// encode cuts texts that are too long.
func (n notice) encode() []byte {
	if len(n.text) > maxText {
		n.text = strings.ToValidUTF8(n.text[:maxText], "")
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(n.text)))
	b = append(b, byte(n.kind))
	b = append(b, n.group[:]...)
	b = binary.LittleEndian.AppendUint32(b, n.rank)
	b = binary.LittleEndian.AppendUint64(b, n.number)
	return append(b, n.text...)
}

func readNotice(r io.Reader) (notice, error) {
	var raw [noticeBytes]byte
	if _, err := io.ReadFull(r, raw[:]); err != nil {
		return notice{}, err
	}
	length := binary.LittleEndian.Uint32(raw[:])
	n := notice{
		kind:   noticeKind(raw[4]),
		group:  groupID(raw[5:21]),
		rank:   binary.LittleEndian.Uint32(raw[21:]),
		number: binary.LittleEndian.Uint64(raw[25:]),
	}
	if n.kind == 0 || n.kind >= noticeKinds {
		return notice{}, fmt.Errorf("notice of unknown kind %d", n.kind)
	}
	if length > maxText {
		return notice{}, fmt.Errorf("notice with a text of %d bytes, at most %d", length, maxText)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return notice{}, noEOF(err)
	}
	n.text = string(text)
	return n, nil
}

// head precedes the data of every message of a collective.
type head struct {
	kind        callKind
	sequence    uint64
	length      uint64
	fingerprint [16]byte
}

const headBytes = 4 + 4 + 8 + 8 + 16

var errNoHead = errors.New("not the head of a collective's message")

func (h head) append(b []byte) []byte {
	b = append(b, 'L', 'S', 'C', version, byte(h.kind), 0, 0, 0)
	b = binary.LittleEndian.AppendUint64(b, h.sequence)
	b = binary.LittleEndian.AppendUint64(b, h.length)
	return append(b, h.fingerprint[:]...)
}

func decodeHead(b *[headBytes]byte) (head, error) {
	if string(b[:4]) != string([]byte{'L', 'S', 'C', version}) {
		return head{}, errNoHead
	}
	return head{
		kind:        callKind(b[4]),
		sequence:    binary.LittleEndian.Uint64(b[8:]),
		length:      binary.LittleEndian.Uint64(b[16:]),
		fingerprint: [16]byte(b[24:]),
	}, nil
}

// label precedes the data of every point-to-point message.
type label struct {
	tag    uint32
	length uint64
}

const labelBytes = 4 + 4 + 8

var errNoLabel = errors.New("not the label of a message")

func (l label) encode() []byte {
	b := make([]byte, 0, labelBytes)
	b = append(b, 'L', 'S', 'M', version)
	b = binary.LittleEndian.AppendUint32(b, l.tag)
	return binary.LittleEndian.AppendUint64(b, l.length)
}

// readLabel returns io.EOF, unwrapped, at the end between two messages.
func readLabel(r io.Reader) (label, error) {
	var b [labelBytes]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return label{}, err
	}
	return decodeLabel(&b)
}

func decodeLabel(b *[labelBytes]byte) (label, error) {
	if string(b[:4]) != string([]byte{'L', 'S', 'M', version}) {
		return label{}, errNoLabel
	}
	l := label{tag: binary.LittleEndian.Uint32(b[4:]), length: binary.LittleEndian.Uint64(b[8:])}
	if l.tag > maxTag || l.length > maxLength {
		return label{}, fmt.Errorf("message with tag %d and %d bytes, at most %d and %d", l.tag, l.length, maxTag, uint64(maxLength))
	}
	return l, nil
}

const (
	maxTag    = 1<<31 - 1
	maxLength = 1 << 62
)

// noEOF turns an end between the parts of one frame into what it is.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
