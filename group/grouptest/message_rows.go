package grouptest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

// messageRowCases are the rows about messages and splits that need a group.
func messageRowCases() []testCase {
	return []testCase{
		{
			name: "row: messages in a group of one", rows: []string{"S9"}, least: 1, most: 1, check: onGroup(noPeers),
			rule: "In a group of one there is nobody to send to or to receive from.",
		},
		{
			name: "row: messages to no rank", rows: []string{"S7", "S8", "B4"}, least: 2, check: onGroup(noSuchPeers),
			rule: "Messages to oneself, to no rank and with a tag of the module's own are errors at once that say what is allowed.",
		},
		{
			name: "row: messages without elements", rows: []string{"S13", "B5"}, least: 2, check: onGroup(emptyMessages),
			rule: "A message without elements arrives with its shape.",
		},
		{
			name: "row: bytes that are no array", rows: []string{"S15"}, least: 2, check: onGroup(garbage),
			rule: "Bytes without a header are an error that says so, make nobody allocate what they claim, and the next array arrives whole.",
		},
		{
			name: "row: short and foreign messages", rows: []string{"S12"}, least: 2, check: onGroup(foreignElements),
			rule: "Elements never change their type and a message never fills less than it is asked for.",
		},
		{
			name: "row: negative colors", rows: []string{"P7"}, least: 2, needs: splitter, check: onGroup(negativeColors),
			rule: "Negative colors other than NoColor are errors at once that quote the color.",
		},
		{
			name: "row: split of a group of one", rows: []string{"P8"}, least: 1, most: 1, rule: "A group of one splits into itself.",
			check: onGroup(func(ctx context.Context, g *group.Group) error {
				if sub, err := g.Split(ctx, 5, 3); err != nil || sub != g {
					return fmt.Errorf("%v, %v; want the group itself", sub, err)
				}
				return nil
			}),
		},
		{
			name: "row: a rank alone in its color", rows: []string{"P6"}, least: 3, most: 3, needs: splitter, check: onGroup(aloneInColor),
			rule: "A rank that has a color alone gets a group of one.",
		},
	}
}

func noPeers(ctx context.Context, g *group.Group) error {
	_, err := group.Recv[int8](ctx, g, 0, 0)
	return first(says(err, "group of one"), says(group.Send(ctx, g, 0, 0, []int8{1}), "group of one"))
}

func noSuchPeers(ctx context.Context, g *group.Group) error {
	n := g.Size()
	allowed := fmt.Sprintf("0 to %d", n-1)
	for _, peer := range []int{n, -1} {
		_, err := group.Recv[int8](ctx, g, peer, 0)
		send := group.Send(ctx, g, peer, 0, []int8{1})
		quoted := fmt.Sprintf("rank %d", peer)
		if err := first(says(err, allowed), says(err, quoted), says(send, allowed), says(send, quoted)); err != nil {
			return err
		}
	}
	_, err := group.Recv[int8](ctx, g, g.Rank(), 0)
	reserved := group.Send(ctx, g, (g.Rank()+1)%n, group.TagReserved, []int8{1})
	return first(
		says(err, "other ranks"), says(group.Send(ctx, g, g.Rank(), 0, []int8{1}), "other ranks"),
		says(reserved, fmt.Sprint(group.TagReserved-1)),
		typedGather(ctx, g))
}

func emptyMessages(ctx context.Context, g *group.Group) error {
	send := func(shape ...int) error { return g.SendMessage(ctx, 1, 5, dtype.Float32, shape, nil) }
	recv := func(shape ...int) error { return g.RecvMessage(ctx, 0, 5, dtype.Float32, shape, nil) }
	return onPair(g.Communicator(), func() error {
		return first(send(0, 3), send(3, 0), send(2, 0), group.Send(ctx, g, 1, 5, []float32{}))
	}, func() error {
		err := first(recv(0, 3), says(recv(0, 3), "float32[3 0]"), recv(2, 0))
		got, last := group.Recv[float32](ctx, g, 0, 5)
		if last == nil && len(got) != 0 {
			last = fmt.Errorf("%d elements came of none", len(got))
		}
		return first(err, last)
	})
}

func garbage(ctx context.Context, g *group.Group) error {
	comm := g.Communicator()
	large := make([]byte, 48)
	for i := range large {
		large[i] = 0xff // as a length it is most of the address space
	}
	claims := append([]byte("LKS3\x0b\x01\x00\x00"), large[8:]...)
	all := [][]byte{[]byte("GET / HTTP/1.1\r\n"), large, claims, {}}
	return onPair(comm, func() error {
		for _, b := range all {
			if err := comm.Send(ctx, 1, 5, b); err != nil {
				return err
			}
		}
		return group.Send(ctx, g, 1, 5, []int16{4})
	}, func() error {
		for i := range all {
			_, _, _, err := g.RecvArray(ctx, 0, 5)
			var message *group.MessageError
			if !errors.As(err, &message) || message.Src != 0 || !strings.Contains(err.Error(), "no array header") {
				return fmt.Errorf("garbage %d: error %v, want a MessageError that says \"no array header\"", i, err)
			}
		}
		got, err := group.Recv[int16](ctx, g, 0, 5)
		return first(err, sameElements("next array", got, []int16{4}))
	})
}

func foreignElements(ctx context.Context, g *group.Group) error {
	return onPair(g.Communicator(), func() error {
		return first(
			group.Send(ctx, g, 1, 5, []float64{1, 2}),
			group.Send(ctx, g, 1, 5, []float32{1}),
			group.Send(ctx, g, 1, 5, []float32{3, 4}))
	}, func() error {
		_, err := group.Recv[float32](ctx, g, 0, 5)
		var message *group.MessageError
		if !errors.As(err, &message) || message.Got != "float64[2]" {
			return fmt.Errorf("float64 for float32: error %v, want a MessageError about float64[2]", err)
		}
		room := make([]byte, 8)
		if err := g.RecvMessage(ctx, 0, 5, dtype.Float32, []int{2}, room); !errors.As(err, &message) || message.Got != "float32[1]" {
			return fmt.Errorf("a short message: error %v, want a MessageError about float32[1]", err)
		}
		return first(
			g.RecvMessage(ctx, 0, 5, dtype.Float32, []int{2}, room),
			equal("next message", room, append(encodeFloat(dtype.Float32, 3), encodeFloat(dtype.Float32, 4)...)))
	})
}

func negativeColors(ctx context.Context, g *group.Group) error {
	for _, color := range []int{-2, math.MinInt} {
		_, err := g.Split(ctx, color, 0)
		if err := first(says(err, fmt.Sprint(color)), says(err, "color")); err != nil {
			return err
		}
	}
	return typedGather(ctx, g)
}

func aloneInColor(ctx context.Context, g *group.Group) error {
	sub, err := g.Split(ctx, []int{7, 7, 1000}[g.Rank()], group.KeepRank)
	if err != nil {
		return err
	}
	rank, size := []int{0, 1, 0}[g.Rank()], []int{2, 2, 1}[g.Rank()]
	if sub.Rank() != rank || sub.Size() != size || (size == 1) != (sub.Backend() == group.Single().Backend()) {
		return fmt.Errorf("rank %d of %d on %s, want rank %d of %d", sub.Rank(), sub.Size(), sub.Backend(), rank, size)
	}
	return first(typedGather(ctx, sub), sub.Close())
}
