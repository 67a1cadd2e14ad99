package layout

// Reshape returns the strides with which the elements of an array can be walked
// in the same order as another shape of the same size. ok is false when no
// strides do, so that the elements must be copied into row order first.
func Reshape(shape, strides, to []int) (out []int, ok bool) {
	if Size(to) == 0 {
		return Strides(to), true
	}
	old, lists := Coalesce(shape, strides)
	at := len(old) - 1
	left, stride := old[at], lists[0][at]
	out = make([]int, len(to))
	for i := len(to) - 1; i >= 0; i-- {
		if to[i] == 1 {
			continue
		}
		if left == 1 {
			at--
			left, stride = old[at], lists[0][at]
		}
		if left%to[i] != 0 {
			return nil, false
		}
		out[i] = stride
		stride *= to[i]
		left /= to[i]
	}
	return out, true
}
