package data

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestVocabularyNumbersSortedCharacters(t *testing.T) {
	v, err := NewVocabulary("bañado, ñandú 日")
	if err != nil {
		t.Fatal(err)
	}
	// In order of code points: space , a b d n o ñ ú 日
	tokens, err := v.Encode("ban, ñú日")
	if want := []int32{3, 2, 5, 1, 0, 7, 8, 9}; err != nil || !slices.Equal(tokens, want) {
		t.Errorf("tokens %v, error %v, want %v", tokens, err, want)
	}
	if v.Size() != 10 {
		t.Errorf("size %d, want 10", v.Size())
	}
}

func TestVocabularyOfTheEmbeddedText(t *testing.T) {
	v, err := NewVocabulary(Opticks())
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := v.Encode(Opticks())
	if err != nil || len(tokens) != utf8.RuneCountInString(Opticks()) {
		t.Fatalf("%d tokens, error %v, want one for each of %d characters", len(tokens), err, utf8.RuneCountInString(Opticks()))
	}
	if text, err := v.Decode(tokens); err != nil || text != Opticks() {
		t.Errorf("decoding gives another text, error %v", err)
	}
}

func TestVocabularyRefuses(t *testing.T) {
	v, err := NewVocabulary("abc")
	if err != nil {
		t.Fatal(err)
	}
	build := func(text string) error { _, err := NewVocabulary(text); return err }
	encode := func(text string) error { _, err := v.Encode(text); return err }
	decode := func(tokens ...int32) error { _, err := v.Decode(tokens); return err }
	cases := []struct {
		name string
		err  error
		want string
	}{
		{"no text", build(""), "vocabulary: the text is empty"},
		{"a byte outside UTF-8", build("é\xff"), "vocabulary: the text is not UTF-8: byte 0xff at offset 2"},
		{"a character cut at the end", build("a\xc3"), "byte 0xc3 at offset 1"},
		{"encoding a byte outside UTF-8", encode("ab\x80"), "byte 0x80 at offset 2"},
		{"encoding an unknown character", encode("abcé"), "vocabulary: character 'é' at byte 3 is not among the 3 known"},
		{"decoding a token too large", decode(0, 3), "vocabulary: token 3 at index 1: 0 to 2 are allowed"},
		{"decoding a negative token", decode(-1), "token -1 at index 0"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", c.err, c.want)
			}
		})
	}
}

func TestReplacementCharacterIsACharacter(t *testing.T) {
	v, err := NewVocabulary("a\uFFFD")
	if err != nil || v.Size() != 2 {
		t.Errorf("error %v", err)
	}
}

func FuzzVocabulary(f *testing.F) {
	f.Add("ñandú")
	f.Add("a\xff")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := NewVocabulary(text)
		if (err == nil) != (text != "" && utf8.ValidString(text)) {
			t.Fatalf("%q: error %v", text, err)
		}
		if err != nil {
			return
		}
		tokens, err := v.Encode(text)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := v.Decode(tokens); err != nil || back != text {
			t.Errorf("%q came back as %q, error %v", text, back, err)
		}
	})
}
