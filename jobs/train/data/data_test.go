package data

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestOpticksIsTheFileOfItsOrigin(t *testing.T) {
	text := Opticks()
	if len(text) != 567198 || !utf8.ValidString(text) {
		t.Fatalf("%d bytes, valid UTF-8 %v; want 567198 bytes of UTF-8", len(text), utf8.ValidString(text))
	}
	if !strings.Contains(text, "By Sir _ISAAC NEWTON_, Knt.") {
		t.Error("the title page is missing")
	}
}

func TestOriginNamesTheEmbeddedBytes(t *testing.T) {
	origin, err := os.ReadFile("ORIGIN.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"opticks.txt": []byte(Opticks()), "digits.csv.gz": digits} {
		sum := sha256.Sum256(content)
		if !strings.Contains(string(origin), hex.EncodeToString(sum[:])) {
			t.Errorf("%s has SHA-256 %x, which ORIGIN.md does not name", name, sum)
		}
	}
}

func TestDigits(t *testing.T) {
	m := Digits()
	if m.Len() != 1797 || m.Features() != 64 || len(m.Pixels) != 1797*64 || m.Classes() != 10 {
		t.Fatalf("%d images of %d pixels, %d pixels in all, %d classes", m.Len(), m.Features(), len(m.Pixels), m.Classes())
	}
	// The counts that the data set's description gives for the test part.
	want := []int{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}
	got := make([]int, 10)
	for _, label := range m.Labels {
		got[label]++
	}
	for label := range want {
		if got[label] != want[label] {
			t.Errorf("%d images of the digit %d, want %d", got[label], label, want[label])
		}
	}
	for i, p := range m.Pixels {
		if p < 0 || p > 1 || p*16 != float32(int(p*16)) {
			t.Fatalf("pixel %d is %v, want a sixteenth from 0 to 1", i, p)
		}
	}
	// The first line of the file begins 0,0,5,13,9,1 and ends with the label 0.
	if m.Pixels[2] != 5.0/16 || m.Pixels[3] != 13.0/16 || m.Labels[0] != 0 || m.Labels[1] != 1 {
		t.Errorf("first pixels %v, first labels %v", m.Pixels[:8], m.Labels[:2])
	}
}

func TestDigitsAreTheCallersOwn(t *testing.T) {
	Digits().Pixels[2] = 7
	if got := Digits().Pixels[2]; got != 5.0/16 {
		t.Errorf("pixel changed by another caller: %v", got)
	}
}

func TestParseDigitsRefuses(t *testing.T) {
	blank := strings.Repeat("0,", 64)
	cases := []struct{ name, lines, want string }{
		{"a pixel above 16", blank + "3\n17," + blank[2:] + "0\n", `digit 1: pixel: "17" is not a whole number from 0 to 16`},
		{"a negative pixel", "-1," + blank[2:] + "0\n", `digit 0: pixel: "-1"`},
		{"a label above 9", blank + "10\n", `digit 0: label: "10" is not a whole number from 0 to 9`},
		{"a word", blank + "three\n", `label: "three"`},
		{"a missing field", blank[2:] + "3\n", "wrong number of fields"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseDigits(bytes.NewReader(zipped(t, []byte(c.lines))))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
	if _, err := parseDigits(strings.NewReader("plain")); err == nil {
		t.Error("a file without gzip header gave no error")
	}
}

func zipped(t testing.TB, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
