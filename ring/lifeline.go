package ring

import "github.com/lockstep-go/lockstep/group"

// A lifeline is a group of the same members beside each group, for messages alone,
// which no fault breaks: the loss of a peer ends what has to do with that peer. It
// costs no connection before its first message.

// noSplit stands in the id of a lifeline where a group that was split off has the
// number of the split and its color.
const noSplit = -1

// Lifeline carries messages between the members that are left after the group has
// broken. It ends with the group's Close.
func (c *comm) Lifeline() group.Communicator { return c.lifeline }

func (c *comm) isLifeline() bool { return c.lifeline == nil }

// lose acts on the loss of a member.
func (c *comm) lose(f fault) {
	c.fail(f)
	c.lifeline.part(f.peer, f.err)
}
