package ring

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestNoticeSurvivesTheWire(t *testing.T) {
	for name, n := range map[string]notice{
		"empty":       {kind: goodbye},
		"everything":  {broke, groupID{1, 2, 3}, 4, 1 << 40, "rank 2 gave up"},
		"nobody":      {kind: broke, rank: nobody, text: "why"},
		"not English": {kind: differs, text: "größer als 2³²"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readNotice(bytes.NewReader(n.encode()))
			if err != nil || got != n {
				t.Errorf("got %+v, %v, want %+v", got, err, n)
			}
		})
	}
}

func TestLongTextIsCutAtALetter(t *testing.T) {
	got, err := readNotice(bytes.NewReader(notice{kind: broke, text: strings.Repeat("ü", maxText)}.encode()))
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Repeat("ü", maxText/2); got.text != want {
		t.Errorf("text of %d bytes, want %d", len(got.text), len(want))
	}
	got, err = readNotice(bytes.NewReader(notice{kind: broke, text: "x" + strings.Repeat("ü", maxText)}.encode()))
	if err != nil || strings.ContainsRune(got.text, '\uFFFD') || len(got.text) != maxText-1 {
		t.Errorf("text of %d bytes ending %q, %v", len(got.text), got.text[len(got.text)-4:], err)
	}
}

func TestBadNotices(t *testing.T) {
	good := notice{kind: broke, text: "because"}.encode()
	change := func(i int, v byte) []byte {
		b := bytes.Clone(good)
		b[i] = v
		return b
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"kind zero":     {change(4, 0), "unknown kind 0"},
		"unknown kind":  {change(4, 99), "unknown kind 99"},
		"huge text":     {change(3, 0xff), "at most 16384"},
		"cut in a head": {good[:10], "unexpected EOF"},
		"cut in a text": {good[:len(good)-1], "unexpected EOF"},
		"no text":       {good[:noticeBytes], "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readNotice(bytes.NewReader(c.data))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that says %q", err, c.want)
			}
		})
	}
	if _, err := readNotice(bytes.NewReader(nil)); err != io.EOF {
		t.Errorf("end between two notices: %v, want EOF", err)
	}
}

func FuzzNotice(f *testing.F) {
	f.Add(notice{kind: broke, rank: 3, number: 7, text: "why"}.encode())
	f.Add([]byte("GET / HTTP/1.1\r\nHost: somewhere.example\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := readNotice(bytes.NewReader(data))
		if err != nil {
			return
		}
		if back := n.encode(); !bytes.HasPrefix(data, back) {
			t.Errorf("% x read as %+v, which is % x", data, n, back)
		}
	})
}

func FuzzLabel(f *testing.F) {
	f.Add(label{3, 1 << 30}.encode())
	f.Add(bytes.Repeat([]byte{0xff}, labelBytes))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := readLabel(bytes.NewReader(data))
		if err != nil {
			return
		}
		if l.tag > maxTag || l.length > maxLength || !bytes.HasPrefix(data, l.encode()) {
			t.Errorf("% x read as %+v", data, l)
		}
	})
}

func FuzzHead(f *testing.F) {
	f.Add(head{allReduce, 1, 2, [16]byte{3}}.append(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		var b [headBytes]byte
		copy(b[:], data)
		h, err := decodeHead(&b)
		if err != nil && !errors.Is(err, errNoHead) {
			t.Error(err)
		}
		if again, err2 := decodeHead((*[headBytes]byte)(h.append(nil))); err == nil && (err2 != nil || again != h) {
			t.Errorf("% x read as %+v, then as %+v", b, h, again)
		}
	})
}

func FuzzHello(f *testing.F) {
	f.Add(hello{purpose: forMessages, size: 4, from: 1, to: 2}.encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		raw := append(append([]byte(magic), version), make([]byte, helloBytes-prefixBytes)...)
		copy(raw[prefixBytes:], data)
		h, err := decodeHello(raw)
		if err == nil && !bytes.Equal(h.encode(), raw) {
			t.Errorf("% x read as %+v", raw, h)
		}
	})
}
