package kernel

import "github.com/lockstep-go/lockstep/internal/buffer"

// Select returns the loop of three operands that takes elements of size bytes
// from the second where the first, a bool, is true, and else from the third.
func Select(size int) Loop {
	switch size {
	case 1:
		return choice[uint8](nil)
	case 2:
		return choice[uint16](nil)
	case 4:
		return choice(active().choose32)
	}
	return choice(active().choose64)
}

// chooser is the choice of a level for n elements, a multiple of chooserUnit.
type chooser[T unsigned] func(n int, z *T, yes *byte, x, y *T)

const chooserUnit = 16

// choice is by the level what it has, the rest in Go.
func choice[T unsigned](f chooser[T]) Loop {
	return func(out []byte, in [][]byte) {
		z, x, y := buffer.As[T](out), buffer.As[T](in[1]), buffer.As[T](in[2])
		n := 0
		if f != nil && len(z) >= chooserUnit {
			n = len(z) / chooserUnit * chooserUnit
			_, _, _ = x[n-1], y[n-1], in[0][n-1]
			f(n, &z[0], &in[0][0], &x[0], &y[0])
		}
		choose(z[n:], buffer.As[bool](in[0][n:]), x[n:], y[n:])
	}
}

func choose[T unsigned](z []T, which []bool, x, y []T) {
	for i, yes := range which {
		if yes {
			z[i] = x[i]
		} else {
			z[i] = y[i]
		}
	}
}
