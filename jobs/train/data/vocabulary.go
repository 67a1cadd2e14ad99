package data

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Vocabulary numbers the characters of a text: token i is the i-th smallest character in it. The
// same text gives the same numbers on every rank. Safe for use from several goroutines.
type Vocabulary struct {
	runes  []rune
	tokens map[rune]int32
}

// NewVocabulary collects the characters of text. Text without any, or that is not UTF-8, is an
// error; the latter says at which byte.
func NewVocabulary(text string) (*Vocabulary, error) {
	if text == "" {
		return nil, fmt.Errorf("vocabulary: the text is empty")
	}
	v := &Vocabulary{tokens: make(map[rune]int32)}
	for offset, r := range text {
		if err := checkRune(text, offset, r); err != nil {
			return nil, err
		}
		if _, known := v.tokens[r]; !known {
			v.tokens[r] = 0
			v.runes = append(v.runes, r)
		}
	}
	slices.Sort(v.runes)
	for token, r := range v.runes {
		v.tokens[r] = int32(token)
	}
	return v, nil
}

// Size returns the number of distinct characters, at least 1.
func (v *Vocabulary) Size() int { return len(v.runes) }

// Encode returns one token for each character of text. A character outside the vocabulary and a byte that is not
// UTF-8 are errors that give their offset in bytes.
func (v *Vocabulary) Encode(text string) ([]int32, error) {
	tokens := make([]int32, 0, len(text))
	for offset, r := range text {
		if err := checkRune(text, offset, r); err != nil {
			return nil, err
		}
		token, known := v.tokens[r]
		if !known {
			return nil, fmt.Errorf("vocabulary: character %q at byte %d is not among the %d known", r, offset, v.Size())
		}
		tokens = append(tokens, token)
	}
	return tokens, nil
}

// Decode is the inverse of Encode. A token outside 0..Size-1 is an error that gives its index.
func (v *Vocabulary) Decode(tokens []int32) (string, error) {
	var text strings.Builder
	for i, token := range tokens {
		if token < 0 || int(token) >= v.Size() {
			return "", fmt.Errorf("vocabulary: token %d at index %d: 0 to %d are allowed", token, i, v.Size()-1)
		}
		text.WriteRune(v.runes[token])
	}
	return text.String(), nil
}

// checkRune tells a byte that is not UTF-8 from a replacement character that the text really has.
func checkRune(text string, offset int, r rune) error {
	if r != utf8.RuneError {
		return nil
	}
	if _, width := utf8.DecodeRuneInString(text[offset:]); width > 1 {
		return nil
	}
	return fmt.Errorf("vocabulary: the text is not UTF-8: byte %#02x at offset %d", text[offset], offset)
}
