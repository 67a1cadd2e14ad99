package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30

	maxSize = gib
)

// units are the ends of sizes that mean a multiple, longer names first.
var units = []struct {
	name  string
	bytes int
}{{"KiB", kib}, {"MiB", mib}, {"GiB", gib}, {"K", kib}, {"M", mib}, {"G", gib}}

// parseSizes reads a list such as 8,1KiB:16KiB, where a pair stands for its first and
// every doubling of it up to the second.
func parseSizes(text string) (sizes []int, err error) {
	err = each(text, func(word string) error {
		low, high, err := parseRange(word)
		if err != nil {
			return err
		}
		for n := low; n <= high; n *= 2 {
			sizes = append(sizes, n)
		}
		if len(sizes) > maxListed {
			return fmt.Errorf("more than %d sizes", maxListed)
		}
		return nil
	})
	return sizes, err
}

func parseRange(word string) (low, high int, err error) {
	first, second, pair := strings.Cut(word, ":")
	if low, err = parseSize(first); err != nil || !pair {
		return low, low, err
	}
	if high, err = parseSize(second); err == nil && high < low {
		err = fmt.Errorf("%q ends below its beginning", word)
	}
	return low, high, err
}

func parseSize(word string) (int, error) {
	digits, unit := word, 1
	for _, u := range units {
		if before, ok := strings.CutSuffix(word, u.name); ok {
			digits, unit = before, u.bytes
			break
		}
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || n == 0 || n > math.MaxUint32 || int(n) > maxSize/unit {
		return 0, fmt.Errorf("%q is no size; want 1 to 1GiB, such as 512, 16KiB or 4MiB", word)
	}
	return int(n) * unit, nil
}
