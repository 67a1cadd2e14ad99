package ring

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/env"
)

// HostFile forms the world that a host file describes: a JSON list that holds
// for each rank a list of addresses "ip:port", equally many each, IPv6 in
// brackets, as MLX's ring reads it. A host name in place of an ip is resolved. A
// rank listens on all of its addresses that it can; the others try them in turn, so
// that one that cannot be reached does no harm. All ranks read the same file.
func HostFile(ctx context.Context, rank int, path string, cfg Config) (group.Communicator, error) {
	hosts, err := readHostFile(path)
	if err != nil {
		return nil, fmt.Errorf("ring: %w", err)
	}
	comm, err := fromHostFile(ctx, rank, hosts, cfg)
	if err != nil {
		return nil, fmt.Errorf("ring: host file %s: %w", path, err)
	}
	return comm, nil
}

func fromHostFile(ctx context.Context, rank int, hosts [][]string, cfg Config) (*comm, error) {
	size := len(hosts)
	if rank < 0 || rank >= size {
		return nil, fmt.Errorf("it lists %d ranks, and rank %d is not one of 0 to %d", size, rank, size-1)
	}
	if size == 1 {
		return fromHosts(ctx, rank, size, nil, hosts, cfg)
	}
	if err := checkReach(ctx, hosts); err != nil {
		return nil, err
	}
	places, err := listenAll(ctx, hosts[rank], cfg)
	if err != nil {
		return nil, fmt.Errorf("rank %d cannot listen: %w", rank, err)
	}
	return fromHosts(ctx, rank, size, places, hosts, cfg)
}

// maxHostFile is far more than the addresses of any world take.
const maxHostFile = 16 << 20

func readHostFile(path string) ([][]string, error) {
	data, err := env.ReadFile(path, maxHostFile)
	if err != nil {
		return nil, fmt.Errorf("host file: %w", err)
	}
	hosts, err := parseHosts(data)
	if err != nil {
		return nil, fmt.Errorf("host file %s: %w", path, err)
	}
	return hosts, nil
}

// parseHosts checks everything that can be checked without a network.
func parseHosts(data []byte) ([][]string, error) {
	const want = `want a JSON list with one list of "ip:port" for each rank`
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("is empty; " + want)
	}
	var hosts [][]string
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&hosts); err != nil {
		return nil, fmt.Errorf("%w; %s", err, want)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the list; " + want)
	}
	if len(hosts) == 0 {
		return nil, errors.New("lists no rank; " + want)
	}
	for rank, addrs := range hosts {
		if len(addrs) == 0 || len(addrs) != len(hosts[0]) {
			return nil, fmt.Errorf("rank %d has %d addresses and rank 0 has %d; want equally many, 1 or more", rank, len(addrs), len(hosts[0]))
		}
		for i, addr := range addrs {
			if err := checkEntry(rank, i, addr); err != nil {
				return nil, err
			}
		}
	}
	if err := checkDistinct(hosts); err != nil {
		return nil, err
	}
	return hosts, nil
}

// checkDistinct refuses one address for two ranks, of which only one could listen.
func checkDistinct(hosts [][]string) error {
	taken := map[string]int{}
	for rank, addrs := range hosts {
		for _, addr := range addrs {
			other, ok := taken[addr]
			switch {
			case ok && other == rank:
				return fmt.Errorf("rank %d has the address %s twice", rank, addr)
			case ok:
				return fmt.Errorf("ranks %d and %d have the same address %s", other, rank, addr)
			}
			taken[addr] = rank
		}
	}
	return nil
}

func checkEntry(rank, i int, addr string) error {
	where := fmt.Sprintf("address %d of rank %d", i+1, rank)
	name, port, err := env.SplitHostPort(where, addr)
	if err == nil && port == 0 {
		err = fmt.Errorf("%s is %q; want a port from 1 to 65535", where, addr)
	}
	if ip := net.ParseIP(name); ip != nil && ip.IsUnspecified() {
		err = fmt.Errorf("%s is %q; want a host that the other ranks can dial", where, addr)
	}
	return err
}

// checkReach resolves every host and refuses one place under two names for two
// ranks, and a mixture of loopback and other hosts: a name that means 127.0.1.1 on
// its own host is a common one.
func checkReach(ctx context.Context, hosts [][]string) error {
	local, remote := "", ""
	taken := map[string]entry{}
	for rank, addrs := range hosts {
		loopback := 0
		for i, addr := range addrs {
			ip, err := resolve(ctx, addr)
			if err != nil {
				return fmt.Errorf("address %d of rank %d: %w", i+1, rank, err)
			}
			if ip.IsLoopback() {
				loopback++
				local = fmt.Sprintf("%s of rank %d is the loopback address %v", addr, rank, ip)
			}
			place := placeOf(ip, addr)
			if other, ok := taken[place]; ok && other.rank != rank {
				return fmt.Errorf("%s of rank %d and %s of rank %d are the same address %s", other.addr, other.rank, addr, rank, place)
			}
			taken[place] = entry{rank, addr}
		}
		if loopback == 0 {
			remote = fmt.Sprintf("%s of rank %d is not", addrs[0], rank)
		}
	}
	if local != "" && remote != "" {
		return fmt.Errorf("%s, which other hosts cannot reach, and %s", local, remote)
	}
	return nil
}

// entry is an address of a rank, as it was given.
type entry struct {
	rank int
	addr string
}

// placeOf is an address with its host resolved; the zone of a link-local one stays.
func placeOf(ip net.IP, addr string) string {
	name, port, _ := net.SplitHostPort(addr)
	if _, zone, ok := strings.Cut(name, "%"); ok {
		return net.JoinHostPort(ip.String()+"%"+zone, port)
	}
	return net.JoinHostPort(ip.String(), port)
}

// resolve returns the first address of the host, as dialling it uses.
func resolve(ctx context.Context, addr string) (net.IP, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	ips, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", addr, err)
	}
	return ips[0].IP, nil
}

// entrance is where a rank listens.
type entrance struct {
	net.Listener
	at int // the number among the rank's addresses
}

// listenAll listens on all addresses that it can, but for those, after the first
// one, where a world without a token must not.
func listenAll(ctx context.Context, addrs []string, cfg Config) ([]entrance, error) {
	var places []entrance
	var errs []error
	for i, addr := range addrs {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
		switch {
		case err != nil:
			errs = append(errs, err)
		case len(places) > 0 && !cfg.trusts(l.Addr()):
			l.Close()
		default:
			places = append(places, entrance{l, i})
		}
	}
	if len(places) == 0 {
		return nil, joined(errs)
	}
	return places, nil
}

// reachedAt is the number of this rank's address that a connection has, which is
// known to work, or of the first one.
func (n *node) reachedAt(conn net.Conn) int {
	own, _ := conn.LocalAddr().(*net.TCPAddr)
	for _, p := range n.entrances {
		if l, ok := p.Addr().(*net.TCPAddr); ok && own != nil && l.IP.Equal(own.IP) {
			return p.at
		}
	}
	return n.entrances[0].at
}
