package arraytest

import (
	"fmt"
	"slices"

	"github.com/lockstep-go/lockstep/array/transform"
)

// checkCompiled calls the compiled function twice, with other elements each time.
func (f function) checkCompiled(t tester) {
	compiled := function{transform.Compile(f.f), f.at}
	f.compareWith(t, "compiled", compiled)
	for i, x := range f.at {
		other := slices.Clone(f.at)
		other[i] = shaped(turned(elements(t, x), 1, x), x.Spec())
		compiled.at = other
		function{f.f, other}.compareWith(t, fmt.Sprintf("compiled, argument %d changed", i), compiled)
	}
}

// checkRederived compares the gradient with those of the compiled and of the
// recomputed function.
func (f function) checkRederived(t tester) {
	f.pullback().compareWith(t, "compiled", function{transform.Compile(f.f), f.at}.pullback())
	f.pullback().compareWith(t, "recomputed", function{transform.Checkpoint(f.f), f.at}.pullback())
}

// compareWith reports results of g that are not those of f.
func (f function) compareWith(t tester, what string, g function) {
	t.Helper()
	want := elementsOf(t, f.f(f.at...)...)
	results := g.f(g.at...)
	if len(results) != len(want) {
		t.Errorf("%s: %d results, want %d", what, len(results), len(want))
		return
	}
	for k, got := range elementsOf(t, results...) {
		compare(t, fmt.Sprintf("result %d %s", k, what), got, want[k], 1e-12)
	}
}
