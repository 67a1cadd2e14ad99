package array

import (
	"fmt"
	"slices"
)

// Outer is the product of every element of x with every one of y, both in row
// order: shape [x.Size(), y.Size()].
func (x *Array) Outer(y *Array) *Array {
	if x.Err() != nil || y.Err() != nil {
		return x.Mul(y)
	}
	return x.Reshape(-1, 1).Mul(y.Reshape(1, -1))
}

// Inner adds up products over the last axes of x [..., k] and y [..., k]; the
// other axes of both follow each other. With a number on either side it is the
// product.
func (x *Array) Inner(y *Array) *Array {
	if x.Err() != nil || y.Err() != nil || x.NDim() == 0 || y.NDim() == 0 {
		return x.Mul(y)
	}
	return contract("inner", x, y, []int{-1}, []int{-1})
}

// Tensordot adds up products over pairs of axes, xAxes[i] of x with yAxes[i] of
// y, which must have equal lengths. The result has the other axes of x, then
// those of y. Without axes it has all of them.
func Tensordot(x, y *Array, xAxes, yAxes []int) *Array {
	return contract("tensordot", x, y, xAxes, yAxes)
}

func contract(op string, x, y *Array, xAxes, yAxes []int) *Array {
	if x.Err() != nil || y.Err() != nil {
		return mistake(op, nil, x, y)
	}
	at, err := pairedAxes(x, y, xAxes, yAxes)
	if err != nil {
		return mistake(op, fmt.Errorf("axes %v of shape %v and %v of %v: %w", xAxes, x.Shape(), yAxes, y.Shape(), err), x, y)
	}
	a, b := term{x: x, labels: namedAxes(x, 0)}, term{x: y, labels: namedAxes(y, x.NDim())}
	for i, j := range at {
		b.labels[j] = a.labels[i]
	}
	var out []rune
	for i, label := range a.labels {
		if _, paired := at[i]; !paired {
			out = append(out, label)
		}
	}
	for _, label := range b.labels {
		if !a.has(label) {
			out = append(out, label)
		}
	}
	return combine(a, b, out).arranged(out)
}

// pairedAxes maps axes of x to axes of y, both counted from the front.
func pairedAxes(x, y *Array, xAxes, yAxes []int) (map[int]int, error) {
	if len(xAxes) != len(yAxes) {
		return nil, fmt.Errorf("%d axes and %d", len(xAxes), len(yAxes))
	}
	pairs := map[int]int{}
	var taken []int
	for k := range xAxes {
		i, err := x.oneAxis(xAxes[k])
		if err != nil {
			return nil, err
		}
		j, err := y.oneAxis(yAxes[k])
		if err != nil {
			return nil, err
		}
		if _, twice := pairs[i]; twice || slices.Contains(taken, j) {
			return nil, fmt.Errorf("an axis is given twice")
		}
		if x.Dim(i) != y.Dim(j) {
			return nil, fmt.Errorf("lengths %d and %d", x.Dim(i), y.Dim(j))
		}
		pairs[i], taken = j, append(taken, j)
	}
	return pairs, nil
}

// namedAxes numbers the axes of x from first on.
func namedAxes(x *Array, first int) []rune {
	labels := make([]rune, x.NDim())
	for i := range labels {
		labels[i] = rune(first + i)
	}
	return labels
}
