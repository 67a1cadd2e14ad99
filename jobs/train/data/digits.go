package data

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
)

//go:embed digits.csv.gz
var digits []byte

const (
	digitsSide   = 8
	digitsLevels = 16 // a pixel counts the inked ones among 4x4 of the scan
	digitsLabels = 10
)

// Digits returns 1,797 handwritten digits of 8x8 pixels with labels 0 to 9, in the order of the
// data set, anew at each call.
func Digits() Images {
	m, err := parseDigits(bytes.NewReader(digits))
	if err != nil {
		panic("data: the embedded digits are damaged: " + err.Error()) // a test reads them all
	}
	return m
}

// parseDigits reads gzipped lines of 64 pixels from 0 to 16 and a label.
func parseDigits(r io.Reader) (Images, error) {
	unzipped, err := gzip.NewReader(r)
	if err != nil {
		return Images{}, err
	}
	lines := csv.NewReader(unzipped)
	lines.FieldsPerRecord = digitsSide*digitsSide + 1
	lines.ReuseRecord = true
	m := Images{Height: digitsSide, Width: digitsSide}
	for {
		fields, err := lines.Read()
		if err == io.EOF {
			return m, nil
		}
		if err == nil {
			err = m.addDigit(fields)
		}
		if err != nil {
			return Images{}, err
		}
	}
}

func (m *Images) addDigit(fields []string) error {
	last := len(fields) - 1
	for _, field := range fields[:last] {
		level, err := whole(field, digitsLevels)
		if err != nil {
			return fmt.Errorf("digit %d: pixel: %w", m.Len(), err)
		}
		m.Pixels = append(m.Pixels, float32(level)/digitsLevels)
	}
	label, err := whole(fields[last], digitsLabels-1)
	if err != nil {
		return fmt.Errorf("digit %d: label: %w", m.Len(), err)
	}
	m.Labels = append(m.Labels, label)
	return nil
}

func whole(field string, most int) (int, error) {
	n, err := strconv.Atoi(field)
	if err != nil || n < 0 || n > most {
		return 0, fmt.Errorf("%q is not a whole number from 0 to %d", field, most)
	}
	return n, nil
}
