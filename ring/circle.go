package ring

// circle is those ranks of a group that follow a schedule among themselves, and
// this rank's place among them. Schedules count places.
type circle struct {
	ranks     []int // of the group, in its order
	at        int
	schedules itinerary
}

func newCircle(ranks []int, at int) *circle { return &circle{ranks: ranks, at: at} }

func (r *circle) size() int { return len(r.ranks) }

func (r *circle) doubling() []step { return r.schedules.doubling(r.at, r.size()) }

func (r *circle) direct() []step { return r.schedules.direct(r.at, r.size()) }

// within has x follow its schedules among the members of a circle until the next
// call.
func (x *exchange) within(r *circle) { x.circle = r }
