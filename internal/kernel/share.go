package kernel

import "github.com/lockstep-go/lockstep/internal/par"

const (
	// shareBytes is how much memory a share of a loop walks at least. To wake
	// another processor takes about as long as walking a tenth of that.
	shareBytes = 256 << 10
	// sharesEach is how many shares there are for each processor, so that one that
	// is held up leaves some to the others.
	sharesEach = 4
	// shareUnit is a number of elements at whose multiples shares begin, so that
	// no two write to the same cache line.
	shareUnit = 64
)

// isShared reports whether a loop over n elements of so many bytes each is worth
// the sharing.
func isShared(n, bytes int) bool { return n*bytes >= 2*shareBytes && n > 1 && par.Workers() > 1 }

// shares calls f for parts of n elements that are walked independently, on all
// processors where there is enough to do.
func shares(n, bytes int, f func(from, to int)) {
	if !isShared(n, bytes) {
		f(0, n)
		return
	}
	count := min(sharesEach*par.Workers(), n*bytes/shareBytes, n)
	unit := 1
	if n >= shareUnit*count {
		unit = shareUnit
	}
	edge := func(i int) int { return n * i / count / unit * unit }
	par.Do(count, func(i int) {
		to := n
		if i < count-1 {
			to = edge(i + 1)
		}
		f(edge(i), to)
	})
}
