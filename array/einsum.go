package array

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/layout"
)

// Einsum adds up products of elements by Einstein's rule: in "ij,jk->ik" every
// letter names an axis, those that are missing from the result are summed over,
// and those that several operands share run together. Without "->" the result
// has the letters that occur once, in alphabetical order. A letter that an
// operand has twice takes its diagonal. "..." stands for any number of axes,
// which broadcast. Blanks are ignored.
//
// Operands are combined from left to right, in pairs, by matrix products where
// the type is inexact. An error if the letters do not fit the operands.
func Einsum(subscripts string, xs ...*Array) *Array {
	terms, out, err := parseEinsum(subscripts, xs)
	if err != nil {
		return mistake("einsum", err, xs...)
	}
	total := terms[0]
	for i, next := range terms[1:] {
		needed := slices.Clone(out)
		for _, later := range terms[i+2:] {
			needed = append(needed, later.labels...)
		}
		total = combine(total, next, needed)
	}
	return total.arranged(out)
}

// mistake is the first error that xs carry, or else err as the mistake of op.
func mistake(op string, err error, xs ...*Array) *Array {
	for i, x := range xs {
		if x == nil {
			return Fail(op, fmt.Errorf("argument %d: %w", i, errNil))
		}
		if x.Err() != nil {
			return x
		}
	}
	return failed(newOpError(op, err), xs...)
}

// term is an operand whose axes have names, none twice.
type term struct {
	x      *Array
	labels []rune
}

func (t term) has(label rune) bool { return slices.Contains(t.labels, label) }

// length is that of a named axis, 1 if there is none.
func (t term) length(label rune) int {
	if i := slices.Index(t.labels, label); i >= 0 {
		return t.x.Dim(i)
	}
	return 1
}

// summed adds up over the axes that are not in keep.
func (t term) summed(keep []rune) term {
	var axes []int
	var labels []rune
	for i, label := range t.labels {
		if slices.Contains(keep, label) {
			labels = append(labels, label)
		} else {
			axes = append(axes, i)
		}
	}
	if len(axes) == 0 {
		return t
	}
	return term{t.x.Sum(axes...), labels}
}

// arranged has the axes of order, in that order; it sums over the others.
func (t term) arranged(order []rune) *Array {
	t = t.summed(order)
	axes := make([]int, len(order))
	for i, label := range order {
		axes[i] = slices.Index(t.labels, label)
	}
	return t.x.Transpose(axes...)
}

// combine multiplies two terms and sums over the axes that nobody needs.
func combine(a, b term, needed []rune) term {
	a = a.summed(slices.Concat(needed, b.labels))
	b = b.summed(slices.Concat(needed, a.labels))
	var batch, left, right, inner []rune
	for _, label := range a.labels {
		switch {
		case !b.has(label):
			left = append(left, label)
		case slices.Contains(needed, label):
			batch = append(batch, label)
		default:
			inner = append(inner, label)
		}
	}
	for _, label := range b.labels {
		if !a.has(label) {
			right = append(right, label)
		}
	}
	labels := slices.Concat(batch, left, right)
	if len(inner) == 0 || !promoted(a.x, b.x).IsInexact() {
		all := slices.Concat(labels, inner)
		return term{a.spread(all).Mul(b.spread(all)), all}.summed(labels)
	}
	lengths := joint(a, b)
	z := a.folded(lengths, batch, left, inner).MatMul(b.folded(lengths, batch, inner, right))
	return term{z.Reshape(lengthsOf(lengths, labels)...), labels}
}

// spread has the axes all in that order, with length 1 where t lacks one.
func (t term) spread(all []rune) *Array {
	var have []rune
	shape := make([]int, len(all))
	for i, label := range all {
		shape[i] = t.length(label)
		if t.has(label) {
			have = append(have, label)
		}
	}
	return t.arranged(have).Reshape(shape...)
}

// folded is t as a stack of matrices: the axes of batch, then those of rows and
// those of cols, each joined into one.
func (t term) folded(lengths map[rune]int, batch, rows, cols []rune) *Array {
	full := lengthsOf(lengths, slices.Concat(batch, rows, cols))
	x := t.arranged(slices.Concat(batch, rows, cols)).BroadcastTo(full...)
	shape := append(full[:len(batch):len(batch)], layout.Size(full[len(batch):len(batch)+len(rows)]))
	return x.Reshape(append(shape, layout.Size(full[len(batch)+len(rows):]))...)
}

// joint is the length of every axis of a and b; an axis of length 1 follows the
// other operand.
func joint(a, b term) map[rune]int {
	lengths := map[rune]int{}
	for _, label := range slices.Concat(a.labels, b.labels) {
		lengths[label] = a.length(label)
		if lengths[label] == 1 {
			lengths[label] = b.length(label)
		}
	}
	return lengths
}

func lengthsOf(lengths map[rune]int, labels []rune) []int {
	shape := make([]int, len(labels))
	for i, label := range labels {
		shape[i] = lengths[label]
	}
	return shape
}

// parseEinsum gives every operand its labels and lists those of the result.
func parseEinsum(subscripts string, xs []*Array) ([]term, []rune, error) {
	inputs, output, explicit := strings.Cut(strings.ReplaceAll(subscripts, " ", ""), "->")
	parts := strings.Split(inputs, ",")
	if len(parts) != len(xs) {
		return nil, nil, fmt.Errorf("%q has %d operands, %d are given", subscripts, len(parts), len(xs))
	}
	terms := make([]term, len(xs))
	lengths := map[rune]int{}
	extra := 0
	for i, part := range parts {
		labels, dots, err := parseLabels(part, xs[i].NDim())
		if err != nil {
			return nil, nil, fmt.Errorf("operand %d of %q: %w", i, subscripts, err)
		}
		if err := noteLengths(lengths, labels, xs[i]); err != nil {
			return nil, nil, fmt.Errorf("operand %d of %q: %w", i, subscripts, err)
		}
		extra = max(extra, dots)
		terms[i] = diagonal(term{xs[i], labels})
	}
	if !explicit {
		output = implicitOutput(inputs)
	}
	out, err := parseOutput(output, extra, lengths)
	if err != nil {
		return nil, nil, fmt.Errorf("result of %q: %w", subscripts, err)
	}
	return terms, out, nil
}

// dotsLabel names the n-th axis from the end of those that "..." stands for.
func dotsLabel(n int) rune { return rune(0xE000 + n) }

// parseLabels reads the letters of one operand; "..." takes the axes that are
// left, dots of them.
func parseLabels(part string, ndim int) (labels []rune, dots int, err error) {
	before, after, open := strings.Cut(part, "...")
	dots = ndim - len(before) - len(after)
	if dots < 0 || !open && dots != 0 {
		return nil, 0, fmt.Errorf("%q does not name %d axes", part, ndim)
	}
	for _, r := range before + after {
		if !isLetter(r) {
			return nil, 0, fmt.Errorf("%q is not a letter", r)
		}
	}
	labels = []rune(before)
	for i := range dots {
		labels = append(labels, dotsLabel(dots-1-i))
	}
	return append(labels, []rune(after)...), dots, nil
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// noteLengths checks that an axis has the same length wherever it occurs; those
// of "..." may also have length 1.
func noteLengths(lengths map[rune]int, labels []rune, x *Array) error {
	for i, label := range labels {
		d := x.Dim(i)
		have, known := lengths[label]
		broadcasts := !isLetter(label) && (have == 1 || d == 1)
		if known && have != d && !broadcasts {
			return fmt.Errorf("axis %d of shape %v has another length than %d", i, x.Shape(), have)
		}
		if !known || have == 1 {
			lengths[label] = d
		}
	}
	return nil
}

func implicitOutput(inputs string) string {
	var once []rune
	for r := 'A'; r <= 'z'; r++ {
		if isLetter(r) && strings.Count(inputs, string(r)) == 1 {
			once = append(once, r)
		}
	}
	if strings.Contains(inputs, "...") {
		return "..." + string(once)
	}
	return string(once)
}

// parseOutput reads the letters of the result; "..." stands for extra axes.
func parseOutput(output string, extra int, lengths map[rune]int) ([]rune, error) {
	ndim := len(output)
	if strings.Contains(output, "...") {
		ndim += extra - len("...")
	}
	labels, _, err := parseLabels(output, ndim)
	if err != nil {
		return nil, err
	}
	for i, label := range labels {
		if _, known := lengths[label]; !known {
			return nil, fmt.Errorf("no operand has %q", label)
		}
		if slices.Contains(labels[:i], label) {
			return nil, fmt.Errorf("%q is there twice", label)
		}
	}
	return labels, nil
}

// diagonal joins axes of the same name: it takes the elements at which their
// indices are equal.
func diagonal(t term) term {
	for i, label := range t.labels {
		j := slices.Index(t.labels[i+1:], label) + i + 1
		if j == i {
			continue
		}
		n := t.x.Dim(i)
		shape := slices.Repeat([]int{1}, t.x.NDim())
		shape[i], shape[j] = n, n
		onIt := Eye(n, n, 0, dtype.Bool).Reshape(shape...)
		return diagonal(term{t.x.onlyWhere(onIt).Sum(j).AsType(t.x.DType()), slices.Delete(slices.Clone(t.labels), j, j+1)})
	}
	return t
}
