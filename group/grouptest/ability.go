package grouptest

import "github.com/lockstep-go/lockstep/group"

// ability is an optional interface that a case needs; the zero value needs none.
type ability struct {
	name string
	is   func(group.Communicator) bool
}

func (a ability) has(comm group.Communicator) bool { return a.is == nil || a.is(comm) }

func needs[T any](name string) ability {
	return ability{name, func(comm group.Communicator) bool { _, ok := comm.(T); return ok }}
}

var (
	splitter      = needs[group.Splitter]("group.Splitter")
	fingerprinter = needs[group.Fingerprinter]("group.Fingerprinter")
	breaker       = needs[group.Breaker]("group.Breaker")
	lifeliner     = needs[group.Lifeliner]("group.Lifeliner")
)
