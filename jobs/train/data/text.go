package data

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// maxText is the longest text that is read. Tests lower it.
var maxText int64 = 1 << 30

// ReadText returns the content of a file of at most 1 GiB. What it reads need not
// have a size, as long as it ends: a pipe will do. Errors name the file.
func ReadText(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	var text strings.Builder
	n, err := io.Copy(&text, io.LimitReader(file, maxText+1))
	if err != nil {
		return "", err
	}
	if n > maxText {
		return "", fmt.Errorf("%s holds more than %d bytes", path, maxText)
	}
	return text.String(), nil
}
