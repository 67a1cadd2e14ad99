package layout

import (
	"slices"
	"testing"

	"github.com/lockstep-go/lockstep/internal/buffer"
)

// places lists the offsets of all elements in row order, one index at a time.
func places(shape, strides []int, offset int) []int {
	if len(shape) == 0 {
		return []int{offset}
	}
	var at []int
	for i := range shape[0] {
		at = append(at, places(shape[1:], strides[1:], offset+i*strides[0])...)
	}
	return at
}

// strided are arrays in a storage of 24 elements.
var strided = map[string]struct {
	shape, strides []int
	offset         int
}{
	"a number":           {nil, nil, 5},
	"contiguous":         {[]int{2, 3, 4}, []int{12, 4, 1}, 0},
	"transposed":         {[]int{4, 3, 2}, []int{1, 4, 12}, 0},
	"swapped":            {[]int{3, 2, 4}, []int{4, 12, 1}, 0},
	"a part":             {[]int{2, 2, 2}, []int{12, 4, 1}, 5},
	"every other":        {[]int{2, 3, 2}, []int{12, 4, 2}, 1},
	"reversed":           {[]int{2, 3, 4}, []int{-12, -4, -1}, 23},
	"reversed rows":      {[]int{6, 4}, []int{-4, 1}, 20},
	"broadcast":          {[]int{3, 4, 2}, []int{0, 1, 0}, 4},
	"repeated":           {[]int{2, 3}, []int{0, 0}, 7},
	"axes of length one": {[]int{1, 6, 1, 4}, []int{99, 4, -7, 1}, 0},
	"nothing":            {[]int{3, 0, 2}, []int{8, 4, 1}, 0},
}

func TestCopiesInEverySize(t *testing.T) {
	for name, c := range strided {
		at := places(c.shape, c.strides, c.offset)
		for _, size := range []int{1, 2, 4, 8} {
			src := buffer.Make(24 * size)
			for i := range src {
				src[i] = byte(7*i + i/256)
			}
			dst := buffer.Make(len(at) * size)
			Copy(dst, src, size, c.shape, c.strides, c.offset)
			for i, from := range at {
				if !slices.Equal(dst[i*size:(i+1)*size], src[from*size:(from+1)*size]) {
					t.Fatalf("%s, %d bytes: element %d is not that at %d", name, size, i, from)
				}
			}
			back := buffer.Make(24 * size)
			Put(back, dst, size, c.shape, c.strides, c.offset)
			for _, to := range at {
				if !slices.Equal(back[to*size:(to+1)*size], src[to*size:(to+1)*size]) {
					t.Fatalf("%s, %d bytes: put misses %d", name, size, to)
				}
			}
			moved := buffer.Make(len(dst))
			Move(moved, back, size, c.shape, Strides(c.shape), c.strides, 0, c.offset)
			if !slices.Equal(moved, dst) {
				t.Errorf("%s, %d bytes: move differs from copy", name, size)
			}
		}
	}
}

func TestCoalescedAxesVisitTheSamePlaces(t *testing.T) {
	for name, c := range strided {
		shape, lists := Coalesce(c.shape, c.strides, Strides(c.shape))
		if !slices.Equal(places(shape, lists[0], c.offset), places(c.shape, c.strides, c.offset)) {
			t.Errorf("%s: shape %v with strides %v", name, shape, lists[0])
		}
		if !slices.Equal(places(shape, lists[1], 0), places(c.shape, Strides(c.shape), 0)) {
			t.Errorf("%s: second list %v for shape %v", name, lists[1], shape)
		}
		var rows []int
		Rows(c.shape, [][]int{c.strides}, []int{c.offset}, func(at []int) {
			if last := len(c.shape) - 1; last >= 0 {
				rows = append(rows, places(c.shape[last:], c.strides[last:], at[0])...)
			} else {
				rows = append(rows, at[0])
			}
		})
		if !slices.Equal(rows, places(c.shape, c.strides, c.offset)) {
			t.Errorf("%s: rows visit %v", name, rows)
		}
	}
	if shape, _ := Coalesce([]int{2, 3, 4}, []int{12, 4, 1}); !slices.Equal(shape, []int{24}) {
		t.Errorf("contiguous axes are left as %v", shape)
	}
}

func TestReshapeWithoutACopy(t *testing.T) {
	for name, c := range strided {
		n := Size(c.shape)
		for _, to := range [][]int{{n}, {1, n, 1}, {2, 12}, {4, 6}, {3, 2, 4}, {2, 3, 4}, {24, 1}, {3, 8}, {6, 4}, {2, 3}, {3, 4, 2}, {4, 3, 2}, {2, 2, 2}, {}, {0, 5}} {
			if Size(to) != n {
				continue
			}
			strides, ok := Reshape(c.shape, c.strides, to)
			if ok && n > 0 && !slices.Equal(places(to, strides, c.offset), places(c.shape, c.strides, c.offset)) {
				t.Errorf("%s as %v: strides %v", name, to, strides)
			}
			if !ok && slices.Equal(to, c.shape) {
				t.Errorf("%s cannot keep its shape", name)
			}
			if !ok && (name == "contiguous" || name == "reversed") {
				t.Errorf("%s cannot become %v", name, to)
			}
		}
	}
	if _, ok := Reshape([]int{2, 3}, []int{1, 2}, []int{6}); ok {
		t.Error("a transpose was flattened without a copy")
	}
}

func TestContiguity(t *testing.T) {
	for name, c := range strided {
		want := slices.Equal(places(c.shape, c.strides, c.offset), places(c.shape, Strides(c.shape), c.offset))
		if got := IsContiguous(c.shape, c.strides); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestBroadcastShapes(t *testing.T) {
	for name, c := range map[string]struct {
		a, b, want []int
	}{
		"equal":         {[]int{2, 3}, []int{2, 3}, []int{2, 3}},
		"a number":      {nil, []int{2}, []int{2}},
		"ones":          {[]int{2, 1}, []int{1, 3}, []int{2, 3}},
		"fewer axes":    {[]int{3}, []int{2, 1}, []int{2, 3}},
		"an empty axis": {[]int{0, 1}, []int{1, 3}, []int{0, 3}},
		"no fit":        {[]int{2}, []int{3}, nil},
		"empty, no fit": {[]int{0}, []int{3}, nil},
	} {
		for _, pair := range [][2][]int{{c.a, c.b}, {c.b, c.a}} {
			got, ok := Broadcast(pair[0], pair[1])
			if ok != (c.want != nil) || !slices.Equal(got, c.want) {
				t.Errorf("%s: %v and %v give %v, %v", name, pair[0], pair[1], got, ok)
			}
		}
	}
	for _, c := range []struct {
		axis, ndim, want int
		ok               bool
	}{{0, 1, 0, true}, {-1, 3, 2, true}, {-3, 3, 0, true}, {3, 3, 3, false}, {-4, 3, -1, false}, {0, 0, 0, false}} {
		if got, ok := Axis(c.axis, c.ndim); got != c.want || ok != c.ok {
			t.Errorf("axis %d of %d: %d, %v", c.axis, c.ndim, got, ok)
		}
	}
}
