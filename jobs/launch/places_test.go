package main

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/internal/conform"
	"github.com/lockstep-go/lockstep/internal/hostlist"
)

func TestPortsAreInARow(t *testing.T) {
	conform.Row(t, "X2")
	two := []hostlist.Host{{Name: "a.invalid", IPs: []string{"10.0.0.1", "10.1.0.1"}}, {Name: "b.invalid", IPs: []string{"10.0.0.2", "fe80::2%eth0"}}}
	for _, c := range []struct {
		name    string
		hosts   []hostlist.Host
		perHost int
		port    int
		want    [][]string
	}{
		{"two hosts of two addresses", two, 1, 32323, [][]string{{"10.0.0.1:32323", "10.1.0.1:32324"}, {"10.0.0.2:32325", "[fe80::2%eth0]:32326"}}},
		{"two ranks each", two, 2, 100, [][]string{
			{"10.0.0.1:100", "10.1.0.1:101"}, {"10.0.0.1:102", "10.1.0.1:103"},
			{"10.0.0.2:104", "[fe80::2%eth0]:105"}, {"10.0.0.2:106", "[fe80::2%eth0]:107"}}},
		{"no port", two, 1, 0, [][]string{{"10.0.0.1:0", "10.1.0.1:0"}, {"10.0.0.2:0", "[fe80::2%eth0]:0"}}},
		{"one host alone meets on loopback", two[:1], 2, 32323, [][]string{{"127.0.0.1:32323"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &options{seats: seatsOn(c.hosts, c.perHost), port: c.port}
			hosts := hostsOf(o.seats)
			if err := o.findAddresses(hosts); err != nil {
				t.Fatal(err)
			}
			if got := o.places(hosts); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %v\nwant %v", got, c.want)
			}
		})
	}
}

func TestAddressesThatTheRingCannotUse(t *testing.T) {
	conform.Row(t, "X4")
	for _, c := range []struct {
		name  string
		hosts []hostlist.Host
		port  int
		want  string
	}{
		{"a name that means nothing", []hostlist.Host{{Name: "a.invalid"}, {Name: "b.invalid"}}, 0, "the ring needs IPs: a.invalid has none in the host file, and "},
		{"more addresses than others", []hostlist.Host{{Name: "a", IPs: []string{"10.0.0.1", "10.1.0.1"}}, {Name: "b", IPs: []string{"10.0.0.2"}}}, 0,
			"the ring needs as many IPs for each host: a has 2 and b has 1"},
		{"loopback beside others", []hostlist.Host{{Name: "localhost"}, {Name: "b", IPs: []string{"10.0.0.2"}}}, 0,
			"the ring needs IPs that all hosts reach: localhost has 127.0.0.1, which is loopback and which b cannot reach"},
		{"ports beyond the last", []hostlist.Host{{Name: "a", IPs: []string{"10.0.0.1"}}, {Name: "b", IPs: []string{"10.0.0.2"}}}, 65535,
			"--starting-port 65535 leaves no room for 2 ports"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &options{seats: seatsOn(c.hosts, 1), port: c.port}
			err := o.findAddresses(hostsOf(o.seats))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestWhichHostIsThisOne(t *testing.T) {
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"": true, "localhost": true, "127.0.0.1": true, own: true, "127.0.0.2": false, "far.invalid": false, "192.0.2.1": false} {
		if got := isHere(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

func TestHostsOfSeats(t *testing.T) {
	var got [][]int
	for _, h := range hostsOf(seatsOn([]hostlist.Host{{Name: "a"}, {Name: "b", Slots: 2}, {Name: "a"}}, 1)) {
		got = append(got, h.ranks)
	}
	if want := [][]int{{0, 3}, {1, 2}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
