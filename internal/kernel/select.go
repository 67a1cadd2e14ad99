package kernel

import "github.com/lockstep-go/lockstep/internal/buffer"

// Select returns the loop of three operands that takes elements of size bytes
// from the second where the first, a bool, is true, and else from the third.
func Select(size int) Loop {
	switch size {
	case 1:
		return choose[uint8]
	case 2:
		return choose[uint16]
	case 4:
		return choose[uint32]
	}
	return choose[uint64]
}

func choose[T unsigned](out []byte, in [][]byte) {
	z, x, y := buffer.As[T](out), buffer.As[T](in[1]), buffer.As[T](in[2])
	for i, yes := range buffer.As[bool](in[0]) {
		if yes {
			z[i] = x[i]
		} else {
			z[i] = y[i]
		}
	}
}
