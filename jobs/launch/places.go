package main

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-go/lockstep/internal/hostlist"
	"github.com/lockstep-go/lockstep/jobs/launch/internal/agent"
)

// seat is where one rank runs.
type seat struct {
	host string   // as the user gave it; empty where this machine is all there is
	ips  []string // where the rank listens, if the user said so
}

// seatsOn are the seats of all ranks, in order: each host has as many as it says, or
// perHost.
func seatsOn(hosts []hostlist.Host, perHost int) []seat {
	if len(hosts) == 0 {
		hosts = []hostlist.Host{{}}
	}
	var seats []seat
	for _, h := range hosts {
		slots := perHost
		if h.Slots > 0 {
			slots = h.Slots
		}
		seats = append(seats, slices.Repeat([]seat{{h.Name, h.IPs}}, slots)...)
	}
	return seats
}

// hostsOf are the hosts of seats, in the order in which they first appear.
func hostsOf(seats []seat) []*host {
	var hosts []*host
	for rank, s := range seats {
		i := slices.IndexFunc(hosts, func(h *host) bool { return h.name == s.host })
		if i < 0 {
			i = len(hosts)
			hosts = append(hosts, newHost(s.host))
		}
		hosts[i].ranks = append(hosts[i].ranks, rank)
	}
	return hosts
}

// isHere reports whether a name means this machine: by what everyone calls it, by
// its own name, or by an address that it has. Of loopback that is 127.0.0.1 and ::1.
func isHere(name string) bool {
	if own, err := os.Hostname(); name == "" || name == "localhost" || err == nil && name == own {
		return true
	}
	ip := net.ParseIP(name)
	addrs, _ := net.InterfaceAddrs()
	return ip != nil && slices.ContainsFunc(addrs, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip)
	})
}

// loopback is where ranks meet that share a host.
const loopback = "127.0.0.1"

// places are the addresses at which the ranks listen: on one host a meeting place for
// rank 0, on several one for every rank and address, with ports in a row from the
// first. Without a first port all are 0, for any that is free.
func (o *options) places(hosts []*host) [][]string {
	if len(hosts) == 1 {
		return [][]string{{net.JoinHostPort(loopback, strconv.Itoa(o.port))}}
	}
	port := o.port
	var places [][]string
	for _, s := range o.seats {
		var own []string
		for _, ip := range s.ips {
			own = append(own, net.JoinHostPort(ip, strconv.Itoa(port)))
			if port > 0 {
				port++
			}
		}
		places = append(places, own)
	}
	return places
}

// own are the addresses of the host's ranks, one after the other.
func (h *host) own(places [][]string) []string {
	var addresses []string
	for rank, own := range places {
		if slices.Contains(h.ranks, rank) {
			addresses = append(addresses, own...)
		}
	}
	return addresses
}

// fill puts addresses, in the order of own, in their places.
func (h *host) fill(places [][]string, addresses []string) {
	for rank, own := range places {
		if slices.Contains(h.ranks, rank) {
			addresses = addresses[copy(own, addresses):]
		}
	}
}

// findAddresses gives every seat of the ring its addresses, where several hosts need
// them: those of the host file, else what its host's name means here.
func (o *options) findAddresses(hosts []*host) error {
	if len(hosts) == 1 {
		return nil
	}
	count, local, remote := 0, "", ""
	for i := range o.seats {
		s := &o.seats[i]
		if len(s.ips) == 0 {
			ip, err := addressOf(s.host)
			if err != nil {
				return err
			}
			s.ips = []string{ip}
		}
		if len(s.ips) != len(o.seats[0].ips) {
			return fmt.Errorf("the ring needs as many IPs for each host: %s has %d and %s has %d", o.seats[0].host, len(o.seats[0].ips), s.host, len(s.ips))
		}
		for _, ip := range s.ips {
			if net.ParseIP(strings.SplitN(ip, "%", 2)[0]).IsLoopback() {
				local = s.host + " has " + ip
			} else {
				remote = s.host
			}
		}
		count += len(s.ips)
	}
	switch {
	case local != "" && remote != "":
		return fmt.Errorf("the ring needs IPs that all hosts reach: %s, which is loopback and which %s cannot reach", local, remote)
	case o.port+count-1 > 65535:
		return fmt.Errorf("--starting-port %d leaves no room for %d ports, one for each rank and address", o.port, count)
	}
	return nil
}

// addressOf is what a host's name means on this machine.
func addressOf(name string) (string, error) {
	name = name[strings.LastIndexByte(name, '@')+1:]
	if ip, _, _ := strings.Cut(name, "%"); net.ParseIP(ip) != nil {
		return name, nil
	}
	ips, err := net.LookupIP(name)
	if err != nil {
		return "", fmt.Errorf(`the ring needs IPs: %s has none in the host file, and %w; give "ips" there, or --hosts with addresses`, name, agent.Reason(err))
	}
	// Of several, IPv4 ones come first, as names of clusters often have no other that works.
	for _, ip := range ips {
		if ip.To4() != nil {
			return ip.String(), nil
		}
	}
	return ips[0].String(), nil
}
