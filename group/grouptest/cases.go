package grouptest

import "slices"

// communicatorCases are the cases in the order in which they run: what others
// rely on comes first.
func communicatorCases() []testCase {
	return slices.Concat(reduceCases(), messageCases())
}
