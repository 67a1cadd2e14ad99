// Package hostlist reads on which hosts a job shall run: a list from a command
// line, or a host file in one of three forms. It is what people write; the host file
// that ranks read, which has an address and a port for each, is package ring's.
package hostlist

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
)

// Host is one entry of a list.
type Host struct {
	Name  string   // as ssh knows it, with a user before @ perhaps
	IPs   []string // where its ranks listen; none if nothing was said
	Slots int      // how many ranks it takes; 0 if nothing was said
}

// mostSlots is more ranks than any host runs; it catches a slip of the finger.
const mostSlots = 1 << 14

// Parse reads hosts apart by commas, each with a number of ranks behind a colon if
// it has one: "a,b" or "a:2,[fe80::1%eth0]:4". An IPv6 address without a number needs
// no brackets.
func Parse(list string) ([]Host, error) {
	var hosts []Host
	for i, entry := range strings.Split(list, ",") {
		h, err := parseEntry(strings.TrimSpace(entry))
		if err != nil {
			return nil, fmt.Errorf("host %d of %q: %w", i+1, list, err)
		}
		hosts = append(hosts, h)
	}
	return hosts, nil
}

func parseEntry(entry string) (h Host, err error) {
	h.Name = entry
	if _, err := netip.ParseAddr(entry); err != nil {
		name, slots, given := cutLast(entry, ":")
		if given {
			h.Name = name
			if h.Slots, err = parseSlots(slots); err != nil {
				return h, err
			}
		}
	}
	if inside, ok := strings.CutPrefix(h.Name, "["); ok {
		if h.Name, ok = strings.CutSuffix(inside, "]"); !ok {
			return h, fmt.Errorf("%q has a bracket that is not closed", entry)
		}
	}
	return h, CheckName(h.Name)
}

// cutLast cuts around the last sep that is not in brackets.
func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < strings.LastIndex(text, "]") || i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}

func parseSlots(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostSlots || strconv.Itoa(n) != text {
		return 0, fmt.Errorf("%q is no number of ranks; want 1 to %d", text, mostSlots)
	}
	return n, nil
}

// CheckName refuses what is no name of a host: nothing, what ssh would take for an
// option, and characters that mean something to a shell, through which a user's ssh
// settings may pass a name.
func CheckName(name string) error {
	const longest = 255
	switch {
	case name == "":
		return errors.New("the name is empty")
	case len(name) > longest:
		return fmt.Errorf("the name has %d characters; want at most %d", len(name), longest)
	case name[0] == '-':
		return fmt.Errorf("%q begins with -, as options do", name)
	}
	if i := strings.IndexFunc(name, strange); i >= 0 {
		return fmt.Errorf("%q is no name of a host; want letters, digits and any of . - _ : %% @", name)
	}
	return nil
}

func strange(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(".-_:%@", r)
}
