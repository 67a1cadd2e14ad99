package ring

import "testing"

func TestSegments(t *testing.T) {
	const kib, mib = 1 << 10, 1 << 20
	for _, c := range []struct {
		name         string
		ranks, bytes int
		want         int
	}{
		{"nothing", 2, 0, 1},
		{"two ranks, one segment", 2, 64 * kib, 1},
		{"two ranks, one byte more", 2, 64*kib + 1, 2},
		{"two ranks, four segments", 2, mib, 4},
		{"two ranks, segments as long as they may be", 2, 32 * mib, 64},
		{"four ranks, one segment", 4, 512 * kib, 1},
		{"four ranks, one byte more", 4, 512*kib + 1, 2},
		{"64 ranks", 64, mib, 32},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := segmentsOf(c.ranks, c.bytes)
			if got != c.want {
				t.Errorf("%d segments, want %d", got, c.want)
			}
			if room := 2 * c.ranks * ceil(c.bytes, got); room > 4*mib {
				t.Errorf("the originals of two segments take up %d bytes, more than 4 MiB", room)
			}
		})
	}
}
