package group

import (
	"context"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
)

// idle is a communicator of two ranks that does nothing: what a call on it takes
// is what the group takes.
type idle struct{}

func (idle) Rank() int                                               { return 0 }
func (idle) Size() int                                               { return 2 }
func (idle) AllReduce(context.Context, Op, dtype.Type, []byte) error { return nil }
func (idle) AllGather(context.Context, []byte, []byte) error         { return nil }
func (idle) Send(_ context.Context, _, _ int, data []byte) error     { return nil }
func (idle) Close() error                                            { return nil }
func (idle) Next([]byte, string)                                     {}

// Recv returns an array of one float32.
func (idle) Recv(_ context.Context, _, _ int, data []byte) error {
	header{dtype.Float32, []int{1}}.encode(data, nil, []byte{1, 2, 3, 4})
	return nil
}

func BenchmarkGroup(b *testing.B) {
	g := New(idle{})
	defer g.Close()
	data, ctx := make([]byte, 4), b.Context()
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"all_reduce", func() error { return g.AllReduceBytes(ctx, Sum, dtype.Float32, data) }},
		{"send", func() error { return g.SendMessage(ctx, 1, 0, dtype.Float32, []int{1}, data) }},
		{"recv", func() error { return g.RecvMessage(ctx, 1, 0, dtype.Float32, []int{1}, data) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if err := c.do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
