package ring

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/env"
)

// Coordinate forms a world whose ranks know one address, "host:port": rank 0
// listens there and the others ask it for the addresses of all. It does not
// matter who starts first. Every other rank listens on the interface by which it
// reaches rank 0, on a port that the system chooses. It waits for all ranks, up
// to cfg.ConnectTimeout, and when they do not come, or disagree about the size or
// who they are, all that came get an error that says so.
func Coordinate(ctx context.Context, rank, size int, address string, cfg Config) (group.Communicator, error) {
	comm, err := coordinate(ctx, rank, size, address, "", cfg)
	if err != nil {
		return nil, fmt.Errorf("ring: %w", err)
	}
	return comm, nil
}

// coordinate is Coordinate, for ranks that may know what others call their host: they
// then listen at all of its addresses and give that name.
func coordinate(ctx context.Context, rank, size int, address, name string, cfg Config) (*comm, error) {
	if err := checkPlace(rank, size); err != nil {
		return nil, err
	}
	if size == 1 {
		n, err := newNode(rank, size, nil, [16]byte{}, cfg)
		if err != nil {
			return nil, err
		}
		return n.form(ctx)
	}
	if err := checkMeetingPlace(address); err != nil {
		return nil, err
	}
	if rank == 0 {
		return host(ctx, size, address, name, cfg)
	}
	return join(ctx, rank, size, address, name, cfg)
}

// checkMeetingPlace refuses addresses that name no host to go to.
func checkMeetingPlace(address string) error {
	name, port, err := env.SplitHostPort("the coordinator's address", address)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(name); ip != nil && ip.IsUnspecified() || port == 0 {
		return fmt.Errorf("the coordinator's address is %q; want a host and a port that the other ranks can dial", address)
	}
	return nil
}

const (
	maxAddress = 256
	maxTable   = 4 << 20
	// lingerTime is how long a coordinator that gave up tells latecomers why.
	lingerTime = 300 * time.Millisecond
)

// joiner is a rank that waits for the table.
type joiner struct {
	rank, size int
	conn       net.Conn
	address    string
}

// host plays rank 0.
func host(ctx context.Context, size int, address, name string, cfg Config) (*comm, error) {
	place := address
	if name != "" {
		_, port, _ := net.SplitHostPort(address)
		place = ":" + port
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", place)
	if err != nil {
		return nil, fmt.Errorf("rank 0 is the coordinator: %w", err)
	}
	var job [16]byte
	rand.Read(job[:])
	n, err := newNode(0, size, listener, job, cfg)
	if err != nil {
		listener.Close()
		return nil, err
	}
	n.joins = make(chan joiner)
	n.serve()
	joined, err := n.gather(ctx)
	if err == nil {
		err = n.distribute(joined, address)
	}
	if err == nil {
		err = n.unite(ctx)
	}
	if err != nil {
		n.abandon(err)
		return nil, err
	}
	return n.root, nil
}

// admitJoiner takes an authenticated rank to gather. The connection stays in the
// list of callers meanwhile.
func (n *node) admitJoiner(h hello, conn net.Conn) error {
	if n.joins == nil {
		return fmt.Errorf("rank %d is no coordinator", n.rank)
	}
	if err := writeVerdict(conn, nil); err != nil {
		return err
	}
	conn.SetReadDeadline(time.Now().Add(knockTime))
	address, err := readBlock(conn, maxAddress)
	if err != nil {
		return err
	}
	conn.SetReadDeadline(noDeadline)
	j := joiner{h.from, h.size, conn, string(address)}
	select {
	case n.joins <- j:
	case <-n.formed:
		j.reply(table{Error: "the world is complete"})
	case <-n.root.life.Done():
		conn.Close()
	}
	return nil
}

// gather waits for every other rank. When they disagree or one does not come,
// all that came and, for a moment, all that still come are told.
func (n *node) gather(ctx context.Context) ([]joiner, error) {
	ctx, cancel := n.connecting(ctx)
	defer cancel()
	joined := make([]joiner, n.size)
	var err error
	for missing := n.size - 1; missing > 0 && err == nil; missing-- {
		select {
		case j := <-n.joins:
			if err = n.checkJoiner(j, joined); err != nil {
				j.reply(refusalOf(err, nil))
				break
			}
			joined[j.rank] = j
		case <-ctx.Done():
			err = fmt.Errorf("rank 0: %s%s: %w", didNotCome(absentees(joined)), n.hints(), context.Cause(ctx))
		}
	}
	if err == nil {
		return joined, nil
	}
	refused := refusalOf(err, ctx.Err())
	for _, j := range joined {
		if j.conn != nil {
			j.reply(refused)
		}
	}
	n.linger(refused, len(absentees(joined)))
	return nil, err
}

func absentees(joined []joiner) []int {
	var absent []int
	for r, j := range joined {
		if r > 0 && j.conn == nil {
			absent = append(absent, r)
		}
	}
	return absent
}

// linger gives count latecomers the same answer.
func (n *node) linger(answer table, count int) {
	timer := time.NewTimer(lingerTime)
	defer timer.Stop()
	for range count {
		select {
		case j := <-n.joins:
			j.reply(answer)
		case <-timer.C:
			return
		}
	}
}

func (n *node) checkJoiner(j joiner, joined []joiner) error {
	switch {
	case j.size != n.size:
		return fmt.Errorf("rank %d says that the world has %d ranks, rank 0 that it has %d", j.rank, j.size, n.size)
	case j.rank < 1 || j.rank >= n.size:
		return fmt.Errorf("a rank %d came to a world of %d", j.rank, n.size)
	case joined[j.rank].conn != nil:
		return fmt.Errorf("two processes say that they are rank %d: %v and %v", j.rank, joined[j.rank].conn.RemoteAddr(), j.conn.RemoteAddr())
	}
	_, _, err := env.SplitHostPort(fmt.Sprintf("the address of rank %d", j.rank), j.address)
	return err
}

// distribute gives every rank the table.
func (n *node) distribute(joined []joiner, own string) error {
	t := table{Job: n.job[:], Addresses: []string{own}}
	for _, j := range joined[1:] {
		t.Addresses = append(t.Addresses, j.address)
	}
	n.setHosts(t.Addresses)
	var first error
	for _, j := range joined[1:] {
		if err := j.reply(t); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (n *node) setHosts(addrs []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hosts = make([][]string, len(addrs))
	for r, addr := range addrs {
		n.hosts[r] = []string{addr}
	}
}

// join plays a rank other than 0.
func join(ctx context.Context, rank, size int, address, name string, cfg Config) (*comm, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	conn, err := knockUntil(ctx, rank, size, address, cfg)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	listener, err := listenBeside(ctx, conn, name)
	if err != nil {
		return nil, fmt.Errorf("rank %d: %w", rank, err)
	}
	own := listener.Addr().String()
	if name != "" {
		_, port, _ := net.SplitHostPort(own)
		own = net.JoinHostPort(name, port)
	}
	t, err := askTable(ctx, conn, own, cfg)
	if err == nil && len(t.Addresses) != size {
		err = fmt.Errorf("rank 0 listed %d addresses for %d ranks", len(t.Addresses), size)
	}
	if err != nil {
		listener.Close()
		return nil, fmt.Errorf("rank %d: coordinator %s: %w", rank, address, err)
	}
	t.Addresses[0] = address
	n, err := newNode(rank, size, listener, [16]byte(t.Job), cfg)
	if err != nil {
		listener.Close()
		return nil, err
	}
	n.setHosts(t.Addresses)
	return n.form(ctx)
}

// knockUntil waits for the coordinator, which may start later.
func knockUntil(ctx context.Context, rank, size int, address string, cfg Config) (net.Conn, error) {
	ctx, cancel := withTimeout(ctx, cfg.ConnectTimeout)
	defer cancel()
	t := newTries()
	for {
		conn, err := knock(ctx, address, hello{purpose: forJoining, size: size, from: rank}, cfg)
		if err == nil {
			return conn, nil
		}
		if !t.again(ctx, err) {
			return nil, fmt.Errorf("rank %d %w", rank, t.failure("rank 0, the coordinator, at "+address))
		}
	}
}

// listenBeside listens on a free port, on the interface of a connection, or on all of a
// host that has a name.
func listenBeside(ctx context.Context, conn net.Conn, name string) (net.Listener, error) {
	if name != "" {
		return new(net.ListenConfig).Listen(ctx, "tcp", ":0")
	}
	host, _, err := net.SplitHostPort(conn.LocalAddr().String())
	if err != nil {
		return nil, err
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
}

// askTable says where this rank listens and waits for the answer, which comes
// when all ranks have come or the coordinator's patience has ended.
func askTable(ctx context.Context, conn net.Conn, address string, cfg Config) (table, error) {
	const slack = 5 * time.Second
	ctx, cancel := withTimeout(ctx, cfg.ConnectTimeout+slack)
	defer cancel()
	release := interruptible(ctx, conn)
	defer release()
	var t table
	data, err := []byte(nil), writeBlock(conn, []byte(address))
	if err == nil {
		data, err = readBlock(conn, maxTable)
	}
	if err == nil {
		err = json.Unmarshal(data, &t)
	}
	switch {
	case ctx.Err() != nil:
		return t, fmt.Errorf("no list of all ranks: %w", context.Cause(ctx))
	case err != nil:
		return t, fmt.Errorf("no list of all ranks: %w", plainEOF(err))
	case t.Error != "":
		return t, t.refusal()
	case len(t.Job) != 16:
		return t, errors.New("list of ranks without a job")
	}
	return t, nil
}
