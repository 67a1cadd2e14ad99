package ring

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstep-go/lockstep/internal/env"
	"github.com/lockstep-go/lockstep/internal/shm"
)

// closeTime bounds the whole of closing a world.
const closeTime = 4 * time.Second

// node is this process's end of a world: its listener, its control connections
// and the groups that it is in. It hands what arrives to the group concerned.
//
// Locks: mu may be held while a group's lock is taken, never the other way round.
type node struct {
	cfg        Config
	log        *slog.Logger
	rank, size int
	job        [16]byte
	listener   net.Listener  // the first of entrances
	entrances  []entrance    // the addresses at which it listens; empty in a world of one
	door       net.Listener  // for ranks of this host; nil when there is none
	remote     []atomic.Bool // ranks that have no door here
	root       *comm
	life       context.Context // ends when everything has been closed
	end        context.CancelFunc
	work       sync.WaitGroup            // every goroutine of the node
	joins      chan joiner               // to the coordinator that gathers ranks; else nil
	company    atomic.Int32              // a shm.Company: that of messages between ranks of this host
	cores      atomic.Int32              // how many those have, if that is known
	formed     chan struct{}             // closed once all control connections are there and all ranks have spoken
	controls   []atomic.Pointer[control] // by rank; nil for this rank, and until they are there

	mu       sync.Mutex
	hosts    [][]string // addresses to try, by rank
	inUse    []int      // the number of the one to try first
	missing  int        // ranks that have not said yet how they talk
	claimed  []claim    // what each rank says of itself; complete when formed
	departed []bool     // ranks that said goodbye to the world
	lost     []error    // ranks whose connection ended without a goodbye
	comms    map[groupID]*comm
	closed   map[groupID]bool
	early    map[groupID][]event // for groups that do not exist here yet
	callers  callers
	refused  string    // the last caller that was refused, for messages
	warned   time.Time // when a warning of such a caller was last given
	closing  bool
}

// event is what came for a group that a peer has formed before this rank did.
type event struct {
	from     int      // rank in the world
	conn     net.Conn // with purpose; nil when it is a notice
	purpose  purpose
	welcomed bool // the verdict on conn has been written
	notice   notice
}

// maxEarly bounds what is kept for one group that may never be formed here.
const maxEarly = 1 << 12

// newNode checks the arguments. It starts nothing.
func newNode(rank, size int, listener net.Listener, job [16]byte, cfg Config) (*node, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	if err := checkPlace(rank, size); err != nil {
		return nil, err
	}
	if size > 1 && listener == nil {
		return nil, errors.New("no listener")
	}
	if size > 1 {
		if err := cfg.checkTrust(listener.Addr()); err != nil {
			return nil, err
		}
	}
	n := &node{
		cfg: cfg, rank: rank, size: size, job: job, listener: listener,
		log:    cfg.Logger.With("backend", "ring", "rank", rank, "size", size),
		formed: make(chan struct{}), missing: size - 1, claimed: make([]claim, size), remote: make([]atomic.Bool, size),
		controls: make([]atomic.Pointer[control], size), inUse: make([]int, size), departed: make([]bool, size), lost: make([]error, size),
		comms: map[groupID]*comm{}, closed: map[groupID]bool{}, early: map[groupID][]event{}, callers: newCallers(size),
	}
	if listener != nil {
		n.entrances = []entrance{{listener, 0}}
	}
	n.claimed[rank] = claim{cfg.settings(), cmp.Or(cfg.host, hostName())}
	n.company.Store(int32(shm.Crowded))
	n.life, n.end = context.WithCancel(context.Background())
	n.root = newComm(n, groupID(job), everyone(size), rank)
	n.add(n.root)
	return n, nil
}

// checkPlace refuses worlds that cannot be, and places that are not in them.
func checkPlace(rank, size int) error {
	switch {
	case size < 1 || size > env.MaxRanks:
		return fmt.Errorf("a world of %d ranks; want 1 to %d", size, env.MaxRanks)
	case rank < 0 || rank >= size:
		return fmt.Errorf("rank %d is not one of 0 to %d", rank, size-1)
	}
	return nil
}

func everyone(size int) []int {
	ranks := make([]int, size)
	for r := range ranks {
		ranks[r] = r
	}
	return ranks
}

// crowded reports whether the ranks of this host take turns on its processors.
func (n *node) crowded() bool { return n.neighbours() > min(runtime.NumCPU(), runtime.GOMAXPROCS(0)) }

// neighbours counts the ranks at this rank's address, itself included.
func (n *node) neighbours() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	host := func(r int) string {
		name, _, _ := net.SplitHostPort(n.hosts[r][n.inUse[r]])
		return name
	}
	count := 0
	for r := range n.hosts {
		if host(r) == host(n.rank) {
			count++
		}
	}
	return count
}

// childID names a group that a split made.
func childID(parent groupID, split, color int) groupID {
	sum := sha256.Sum256(fmt.Appendf(nil, "%x/%d:%d", parent, split, color))
	return groupID(sum[:16])
}

// enter makes a new group known and gives it what came early.
func (n *node) enter(c *comm) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.add(c)
	for r, world := range c.ranks {
		if n.lost[world] != nil {
			c.lose(fault{peer: r, by: -1, err: n.lost[world]})
		}
		if n.departed[world] {
			c.farewell(r)
		}
	}
	for _, c := range []*comm{c, c.lifeline} {
		events := n.early[c.id]
		delete(n.early, c.id)
		for _, e := range events {
			if err := c.take(e); err != nil && e.conn != nil {
				e.conn.Close()
			}
		}
	}
}

// add makes a group and its lifeline known. mu is held, or nobody knows n yet.
func (n *node) add(c *comm) {
	n.comms[c.id] = c
	n.comms[c.lifeline.id] = c.lifeline
}

// forget makes a closed group unknown for ever.
func (n *node) forget(c *comm) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.comms, c.id)
	n.closed[c.id] = true
}

// groups lists the groups that exist here, without their lifelines. mu is not held.
func (n *node) groups() []*comm {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := make([]*comm, 0, len(n.comms)/2)
	for _, c := range n.comms {
		if !c.isLifeline() {
			all = append(all, c)
		}
	}
	return all
}

// shutdown closes all groups, says goodbye to all ranks and ends every goroutine
// and socket of the node.
func (n *node) shutdown() {
	until := time.Now().Add(closeTime)
	var leaving sync.WaitGroup
	for _, c := range n.groups() {
		if c != n.root {
			leaving.Go(func() { c.leave.Do(func() { c.depart(until) }) })
		}
	}
	leaving.Wait()
	n.root.depart(until)
	for _, k := range n.stop() {
		leaving.Go(func() { k.hangUp(until) })
	}
	leaving.Wait()
	n.end()
	n.work.Wait()
}

// stop turns all callers away and returns the control connections.
func (n *node) stop() []*control {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closing = true
	closeAll(n.entrances)
	if n.door != nil {
		n.door.Close()
	}
	n.callers.hangUp()
	for _, events := range n.early {
		for _, e := range events {
			if e.conn != nil {
				e.conn.Close()
			}
		}
	}
	clear(n.early)
	var all []*control
	for r := range n.controls {
		if k := n.controls[r].Load(); k != nil {
			all = append(all, k)
		}
	}
	return all
}
