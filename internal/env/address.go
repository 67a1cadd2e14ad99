package env

import (
	"net"
	"strconv"
	"strings"
	"unicode"
)

// SplitHostPort splits "host:port"; IPv6 hosts stand in brackets. The host is
// not empty, has at most 255 characters and no white space or control characters
// among them; the port lies from 0 to 65535. The error names the variable or file
// entry that where describes.
func SplitHostPort(where, address string) (host string, port int, err error) {
	const allowed = "host:port, with an IPv6 host in brackets"
	host, service, err := net.SplitHostPort(address)
	if err != nil || host == "" || len(host) > maxHost || strings.ContainsFunc(host, odd) {
		return "", 0, wrong(where, address, allowed)
	}
	port, err = strconv.Atoi(service)
	if err != nil || port < 0 || port > 65535 || strconv.Itoa(port) != service {
		return "", 0, wrong(where, address, allowed+" and a port from 0 to 65535")
	}
	return host, port, nil
}

// maxHost is the longest name that the domain name system knows.
const maxHost = 255

func odd(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

func checkHostPort(where, address string) error {
	_, _, err := SplitHostPort(where, address)
	return err
}

func joinHostPort(host string, port int) string {
	return net.JoinHostPort(host, strconv.Itoa(port))
}
