package slurm

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxHosts is how many hosts or tasks a list may stand for. A short text can name far
// more than any machine has.
const MaxHosts = 1 << 16

// ExpandHosts lists the hosts that a list such as "n[01-03,7],m[1-2]x" stands for, in
// its order: n01 n02 n03 n7 m1x m2x. A range counts up and keeps the width of its first
// number; of several brackets in one name the last runs fastest. Names have letters, digits, '-', '_'
// and '.'. Whatever else there is, an empty list too, is an error that quotes the list.
func ExpandHosts(list string) ([]string, error) {
	var hosts []string
	for rest, more := list, true; more; {
		var entry string
		entry, rest, more = cutEntry(rest)
		names, err := expand(entry, MaxHosts-len(hosts))
		if err != nil {
			return nil, fmt.Errorf("host list %q: %w", shortened(list), err)
		}
		hosts = append(hosts, names...)
	}
	return hosts, nil
}

// cutEntry cuts at the first comma outside brackets.
func cutEntry(list string) (entry, rest string, more bool) {
	depth := 0
	for i, r := range list {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case r == ',' && depth <= 0:
			return list[:i], list[i+1:], true
		}
	}
	return list, "", false
}

// expand lists the names, at most so many, of one entry.
func expand(entry string, most int) ([]string, error) {
	if entry == "" {
		return nil, fmt.Errorf("a name is empty")
	}
	names := []string{""}
	for rest := entry; rest != ""; {
		plain, bracket, found := strings.Cut(rest, "[")
		if bad := strings.TrimFunc(plain, allowed); bad != "" {
			return nil, fmt.Errorf("%q is not one of letters, digits, '-', '_', '.' and brackets", bad[:1])
		}
		parts := []string{plain}
		if rest = ""; found {
			inside, after, closed := strings.Cut(bracket, "]")
			if !closed {
				return nil, fmt.Errorf("%q has no ]", entry)
			}
			numbers, err := ranges(inside, most)
			if err != nil {
				return nil, err
			}
			for i := range numbers {
				numbers[i] = plain + numbers[i]
			}
			parts, rest = numbers, after
		}
		if len(names)*len(parts) > most {
			return nil, tooMany(entry)
		}
		names = times(names, parts)
	}
	return names, nil
}

func allowed(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.'
}

// times lists every name with every part behind it.
func times(names, parts []string) []string {
	all := make([]string, 0, len(names)*len(parts))
	for _, name := range names {
		for _, part := range parts {
			all = append(all, name+part)
		}
	}
	return all
}

// ranges lists what stands between brackets, such as "01-03,7".
func ranges(inside string, most int) ([]string, error) {
	var numbers []string
	for one := range strings.SplitSeq(inside, ",") {
		from, to, isRange := strings.Cut(one, "-")
		if !isRange {
			to = from
		}
		first, err := number(from)
		last, err2 := number(to)
		switch {
		case err != nil || err2 != nil || last < first:
			return nil, fmt.Errorf("%q is neither a number nor a range that counts up", one)
		case last-first >= most-len(numbers):
			return nil, tooMany(inside)
		}
		for n := first; n <= last; n++ {
			numbers = append(numbers, fmt.Sprintf("%0*d", len(from), n))
		}
	}
	return numbers, nil
}

// number reads at most nine digits.
func number(text string) (int, error) {
	if len(text) > 9 || strings.Trim(text, "0123456789") != "" {
		return 0, strconv.ErrSyntax
	}
	return strconv.Atoi(text)
}

func tooMany(what string) error {
	return fmt.Errorf("%q stands for more than %d in all", shortened(what), MaxHosts)
}

// shortened keeps a message to a line.
func shortened(text string) string {
	const most = 100
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}
