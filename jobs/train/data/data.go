// Package data holds the data that the training program carries with it, and the readers for
// data of a user's own: a text to learn letter by letter, and small images of handwritten digits.
//
//	text := data.Opticks()
//	vocabulary, err := data.NewVocabulary(text)
//	tokens, err := vocabulary.Encode(text)
//
//	digits := data.Digits()
//	mnist, err := data.OpenImages("train-images-idx3-ubyte.gz")
//
// Where the embedded files come from, and under which licence, is in ORIGIN.md beside them.
package data

import _ "embed"

//go:embed opticks.txt
var opticks string

// Opticks returns Newton's Opticks, fourth edition: 567,198 bytes of UTF-8 English prose with
// lines of at most some 75 letters.
func Opticks() string { return opticks }
