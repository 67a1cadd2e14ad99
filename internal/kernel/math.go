package kernel

import "math"

// transcendental computes in float64 and rounds the result to T.
func transcendental[T float](op Op) func(y, x []T) {
	switch op {
	case Exp:
		return exp[T]
	case Expm1:
		return expm1[T]
	case Log:
		return log[T]
	case Log1p:
		return log1p[T]
	case Log2:
		return log2[T]
	case Log10:
		return log10[T]
	case Erf:
		return erf[T]
	case ErfInv:
		return erfInv[T]
	case Sinh:
		return sinh[T]
	case Cosh:
		return cosh[T]
	case Tanh:
		return tanh[T]
	case Asinh:
		return asinh[T]
	case Acosh:
		return acosh[T]
	case Atanh:
		return atanh[T]
	}
	return nil
}

func circular[T float](op Op) func(y, x []T) {
	switch op {
	case Sin:
		return sin[T]
	case Cos:
		return cos[T]
	case Tan:
		return tan[T]
	case Asin:
		return asin[T]
	case Acos:
		return acos[T]
	case Atan:
		return atan[T]
	}
	return nil
}

func exp[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.Exp(float64(v)))
	}
}

func expm1[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.Expm1(float64(v)))
	}
}

// log takes numbers below the normal range apart, which the assembly of the
// standard library does not know on some processors.
func log[T float](y, x []T) {
	for i, v := range x {
		if w := float64(v); w > 0 && w < 0x1p-1022 {
			y[i] = T(math.Log(w*0x1p54) - 54*math.Ln2)
			continue
		}
		y[i] = T(math.Log(float64(v)))
	}
}

func log1p[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.Log1p(float64(v)))
	}
}

func log2[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.Log2(float64(v)))
	}
}

func log10[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.Log10(float64(v)))
	}
}

func erf[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.Erf(float64(v)))
	}
}

func erfInv[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.Erfinv(float64(v)))
	}
}

func sinh[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.Sinh(float64(v)))
	}
}

func cosh[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.Cosh(float64(v)))
	}
}

func tanh[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.Tanh(float64(v)))
	}
}

func asinh[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.Asinh(float64(v)))
	}
}

func acosh[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.Acosh(float64(v)))
	}
}

func atanh[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.Atanh(float64(v)))
	}
}

func sin[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.Sin(float64(v)))
	}
}

func cos[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.Cos(float64(v)))
	}
}

func tan[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.Tan(float64(v)))
	}
}

func asin[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.Asin(float64(v)))
	}
}

func acos[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.Acos(float64(v)))
	}
}

func atan[T float](y, x []T) {
	for i, v := range x {
		y[i] = T(math.Atan(float64(v)))
	}
}
