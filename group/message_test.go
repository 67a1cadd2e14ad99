package group_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

func TestMessagesArriveInOrder(t *testing.T) {
	everywhere(t, func(t *testing.T, gs []*group.Group) {
		if len(gs) == 1 {
			return
		}
		must(t, gs, func(g *group.Group) error {
			right, left := (g.Rank()+1)%g.Size(), (g.Rank()+g.Size()-1)%g.Size()
			lengths := []int{3, 0, 35, 1}
			for _, n := range lengths {
				if err := group.Send(background(), g, right, 1, fill(g.Rank(), n)); err != nil {
					return err
				}
			}
			for _, n := range lengths {
				got, err := group.Recv[uint8](background(), g, left, 1)
				if err != nil || !slices.Equal(got, fill(left, n)) {
					return fmt.Errorf("%v, %w; want %v", got, err, fill(left, n))
				}
			}
			return nil
		})
	})
}

func TestTagsAreIndependent(t *testing.T) {
	gs := world(t, 2, nil)
	for _, tag := range []int{2, 3} {
		if err := group.Send(background(), gs[0], 1, tag, []int64{int64(tag)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tag := range []int{3, 2} {
		if got, err := group.Recv[int64](background(), gs[1], 0, tag); err != nil || len(got) != 1 || got[0] != int64(tag) {
			t.Errorf("tag %d: %v, %v", tag, got, err)
		}
	}
}

func TestRecvOfAnotherArray(t *testing.T) {
	f32, i32 := dtype.Float32, dtype.Int32
	cases := []struct {
		name       string
		sent, want dtype.Type
		shape, as  []int
		words      []string
	}{
		{"type", f32, i32, []int{2}, []int{2}, []string{"float32[2]", "int32[2]"}},
		{"shape of the same length", f32, f32, []int{2, 3}, []int{3, 2}, []string{"float32[2 3]", "float32[3 2]"}},
		{"dimensions", f32, f32, []int{4}, []int{4, 1}, []string{"float32[4]", "float32[4 1]"}},
		{"length", f32, f32, []int{2}, []int{3}, []string{"float32[2]", "float32[3]"}},
		{"empty", f32, f32, []int{0}, []int{3}, []string{"float32[0]", "float32[3]"}},
		{"scalar", f32, f32, nil, []int{1}, []string{"float32[]", "float32[1]"}},
	}
	room := func(t dtype.Type, shape []int) []byte {
		n := t.Size()
		for _, d := range shape {
			n *= d
		}
		return make([]byte, n)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			gs := world(t, 2, nil)
			if err := gs[0].SendMessage(background(), 1, 4, c.sent, c.shape, room(c.sent, c.shape)); err != nil {
				t.Fatal(err)
			}
			if err := gs[0].SendMessage(background(), 1, 4, f32, []int{3}, fill(0, 12)); err != nil {
				t.Fatal(err)
			}
			err := gs[1].RecvMessage(background(), 0, 4, c.want, c.as, room(c.want, c.as))
			wantError(t, err, append(c.words, "recv", "rank 0", "tag 4")...)
			var message *group.MessageError
			if !errors.As(err, &message) {
				t.Errorf("%T", err)
			}
			data := make([]byte, 12)
			if err := gs[1].RecvMessage(background(), 0, 4, f32, []int{3}, data); err != nil {
				t.Fatal(err)
			}
			if err := same(data, fill(0, 12)); err != nil {
				t.Error(err)
			}
			must(t, gs, func(g *group.Group) error { return g.Barrier(background()) })
		})
	}
}

func TestRecvTypedOfAnotherType(t *testing.T) {
	gs := world(t, 2, nil)
	_ = group.Send(background(), gs[0], 1, 0, []float32{1, 2})
	_ = group.Send(background(), gs[0], 1, 0, []int32{3})
	_, err := group.Recv[int32](background(), gs[1], 0, 0)
	wantError(t, err, "rank 0", "float32[2]", "int32")
	if got, err := group.Recv[int32](background(), gs[1], 0, 0); err != nil || !slices.Equal(got, []int32{3}) {
		t.Errorf("next message: %v, %v", got, err)
	}
}

func TestRecvArray(t *testing.T) {
	gs := world(t, 2, nil)
	if err := gs[0].SendMessage(background(), 1, 0, dtype.Int16, []int{2, 1}, fill(0, 4)); err != nil {
		t.Fatal(err)
	}
	dt, shape, data, err := gs[1].RecvArray(background(), 0, 0)
	if err != nil || dt != dtype.Int16 || !slices.Equal(shape, []int{2, 1}) || same(data, fill(0, 4)) != nil {
		t.Errorf("%v%v %v, %v", dt, shape, data, err)
	}
}

// TestMessagesAroundTheHeader sends what just fits into a header, and what does not, of
// few and of many dimensions.
func TestMessagesAroundTheHeader(t *testing.T) {
	gs := world(t, 2, nil)
	for dims := range 17 {
		room := 8 * (group.HeaderDims - dims)
		for _, n := range []int{0, 1, room - 1, room, room + 1, 1000} {
			if n < 0 || dims == 0 && n != 1 {
				continue
			}
			shape, other := slices.Repeat([]int{1}, dims), slices.Repeat([]int{1}, dims)
			if dims > 0 {
				shape[dims-1], other[0] = n, n
			}
			sent := fill(7, n)
			if err := gs[0].SendMessage(background(), 1, 0, dtype.Uint8, shape, sent); err != nil {
				t.Fatal(err)
			}
			if err := gs[0].SendMessage(background(), 1, 0, dtype.Uint8, shape, sent); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(shape, other) {
				err := gs[1].RecvMessage(background(), 0, 0, dtype.Uint8, other, make([]byte, n))
				wantError(t, err, fmt.Sprintf("uint8%v", shape), fmt.Sprintf("uint8%v", other))
			} else if err := gs[1].RecvMessage(background(), 0, 0, dtype.Uint8, shape, make([]byte, n)); err != nil {
				t.Fatal(err)
			}
			kind, gotShape, got, err := gs[1].RecvArray(background(), 0, 0)
			if err != nil || kind != dtype.Uint8 || !slices.Equal(gotShape, shape) || same(got, sent) != nil {
				t.Errorf("%d bytes of shape %v: got %v%v, %v, %v", n, shape, kind, gotShape, got, err)
			}
		}
	}
}

func TestGarbageInsteadOfAHeader(t *testing.T) {
	huge := make([]byte, group.HeaderBytes)
	copy(huge, "LKS3")
	huge[4], huge[5], huge[14], huge[22] = byte(dtype.Uint8), 1, 1, 2 // claims 2^48 bytes, shape says 2^49
	wraps := make([]byte, group.HeaderBytes)
	copy(wraps, "LKS3")
	wraps[4], wraps[5], wraps[20], wraps[28] = byte(dtype.Float32), 2, 1, 1 // 2^32 × 2^32 × 4 wraps to 0
	for name, garbage := range map[string][]byte{
		"short":                    fill(0, 5),
		"more than a MiB":          make([]byte, 1<<20+1),
		"a header's length":        fill(0, group.HeaderBytes),
		"zeros":                    make([]byte, group.HeaderBytes),
		"lengths that disagree":    huge,
		"a product that overflows": wraps,
		"too many dimensions":      append([]byte("LKS3\x0b\x11"), make([]byte, group.HeaderBytes-6)...),
	} {
		t.Run(name, func(t *testing.T) {
			gs := world(t, 2, nil)
			if err := gs[0].Communicator().Send(background(), 1, 0, garbage); err != nil {
				t.Fatal(err)
			}
			_, err := group.Recv[uint8](background(), gs[1], 0, 0)
			wantError(t, err, "rank 0", "no array header")
			if err := group.Send(background(), gs[0], 1, 0, []uint8{9}); err != nil {
				t.Fatal(err)
			}
			if got, err := group.Recv[uint8](background(), gs[1], 0, 0); err != nil || !slices.Equal(got, []uint8{9}) {
				t.Errorf("next message: %v, %v", got, err)
			}
		})
	}
}

func TestWrongMessageArguments(t *testing.T) {
	g := world(t, 3, nil)[1]
	send := func(dst, tag int, t dtype.Type, shape []int, bytes int) error {
		return g.SendMessage(background(), dst, tag, t, shape, make([]byte, bytes))
	}
	recv := func(src, tag int) error {
		return g.RecvMessage(background(), src, tag, dtype.Int8, nil, make([]byte, 1))
	}
	cases := []struct {
		name  string
		err   error
		words []string
	}{
		{"send too high", send(3, 0, dtype.Int8, nil, 1), []string{"send", "rank 3", "0 to 2"}},
		{"send too low", send(-1, 0, dtype.Int8, nil, 1), []string{"send", "rank -1", "0 to 2"}},
		{"send to self", send(1, 0, dtype.Int8, nil, 1), []string{"send", "rank 1", "this rank"}},
		{"recv too high", recv(3, 0), []string{"recv", "rank 3", "0 to 2"}},
		{"recv from self", recv(1, 0), []string{"recv", "rank 1", "this rank"}},
		{"negative tag", recv(0, -1), []string{"tag -1"}},
		{"reserved tag", send(0, group.TagReserved, dtype.Int8, nil, 1), []string{"tag 1048576", "1048575"}},
		{"no type", send(0, 0, dtype.Invalid, nil, 0), []string{"invalid"}},
		{"negative dimension", send(0, 0, dtype.Int8, []int{-1, -1}, 1), []string{"negative", "[-1 -1]"}},
		{"too much", send(0, 0, dtype.Float64, []int{1 << 40, 1 << 40}, 0), []string{"too large"}},
		{"too many dimensions", send(0, 0, dtype.Int8, make([]int, 17), 0), []string{"17 dimensions"}},
		{"length is not the shape's", send(0, 0, dtype.Int16, []int{3}, 4), []string{"int16[3]", "6 bytes", "got 4"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { wantError(t, c.err, c.words...) })
	}
}

func TestRecvTimeoutNamesThePeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gs := world(t, 2, nil)
		_, err := group.Recv[int8](background(), gs[1], 0, 7)
		wantError(t, err, "recv", "rank 0", "tag 7", "timeout after 10m0s")
		wantError(t, gs[0].Barrier(background()), "group broken by rank 1")
	})
}

func TestCancelledRecvHarmsNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gs := world(t, 2, nil)
		ctx, cancel := context.WithCancelCause(background())
		ended := make(chan error, 1)
		go func() {
			_, err := group.Recv[int8](ctx, gs[1], 0, 7)
			ended <- err
		}()
		synctest.Wait()
		cancel(errors.New("not needed any more"))
		wantError(t, <-ended, "recv", "rank 0", "not needed any more")
		must(t, gs, func(g *group.Group) error { return g.Barrier(background()) })
		_ = group.Send(background(), gs[0], 1, 7, []int8{5})
		if got, err := group.Recv[int8](background(), gs[1], 0, 7); err != nil || !slices.Equal(got, []int8{5}) {
			t.Errorf("next message: %v, %v", got, err)
		}
	})
}

// slow is a communicator whose sends wait until their context ends.
type slow struct{ group.Communicator }

func (s slow) Send(ctx context.Context, dst, tag int, data []byte) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestCancelledSendCutsItsLaneOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gs := world(t, 2, func(c group.Communicator) group.Communicator { return slow{c} })
		ctx, cancel := context.WithCancelCause(background())
		time.AfterFunc(time.Second, func() { cancel(errors.New("enough")) })
		wantError(t, group.Send(ctx, gs[0], 1, 7, []int8{5}), "send", "rank 1", "enough")
		wantError(t, group.Send(background(), gs[0], 1, 7, []int8{5}), "cut off", "enough")
		must(t, gs, func(g *group.Group) error { return g.Barrier(background()) })
	})
}

func TestMessagesDoNotWaitForCollectives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gs := world(t, 2, nil)
		var wg sync.WaitGroup
		var barrier error
		wg.Go(func() { barrier = gs[0].Barrier(background()) })
		synctest.Wait()
		if err := group.Send(background(), gs[0], 1, 0, []int8{1}); err != nil {
			t.Error(err)
		}
		if _, err := group.Recv[int8](background(), gs[1], 0, 0); err != nil {
			t.Error(err)
		}
		if err := gs[1].Barrier(background()); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if barrier != nil {
			t.Error(barrier)
		}
	})
}

func TestTypedFormsLeaveInputAfterAnError(t *testing.T) {
	gs := world(t, 2, nil)
	gs[0].Close()
	xs := []float32{1, 2}
	if err := group.AllReduce(background(), gs[1], group.Sum, xs); err == nil {
		t.Fatal("no error")
	}
	if !slices.Equal(xs, []float32{1, 2}) {
		t.Errorf("input became %v", xs)
	}
}

func TestNilGroupIsTheDefault(t *testing.T) {
	using(t, nil)
	xs := []float32{1, 2}
	if err := group.AllReduce(background(), nil, group.Sum, xs); err != nil || !slices.Equal(xs, []float32{1, 2}) {
		t.Errorf("all reduce: %v, %v", xs, err)
	}
	if ys, err := group.AllGather(background(), nil, xs); err != nil || !slices.Equal(ys, xs) {
		t.Errorf("all gather: %v, %v", ys, err)
	}
	if err := group.Broadcast(background(), nil, 0, xs); err != nil {
		t.Error(err)
	}
	wantError(t, group.Send(background(), nil, 0, 0, xs), "no other rank")
}
