//go:build amd64 && !purego

package kernel

import "golang.org/x/sys/cpu"

// machine lists the levels that the processor has. Every processor with AVX2 and
// FMA converts half precision, which the cpu package does not report.
func machine() []*kernels {
	x := &cpu.X86
	all := []*kernels{{level: Portable}}
	if x.HasAVX2 && x.HasFMA {
		all = append(all, &avx2)
		if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512VL && x.HasAVX512DQ {
			all = append(all, &avx512)
		}
	}
	return all
}

var avx2 = kernels{
	level: AVX2,
	gemm32: &gemm[float32]{rows: 6, columns: 16, tiles: [3][2]tile[float32]{
		{sgemmY2x8, sgemmY2x16}, {sgemmY4x8, sgemmY4x16}, {sgemmY6x8, sgemmY6x16},
	}},
	gemm64: &gemm[float64]{rows: 6, columns: 8, tiles: [3][2]tile[float64]{
		{dgemmY2x4, dgemmY2x8}, {dgemmY4x4, dgemmY4x8}, {dgemmY6x4, dgemmY6x8},
	}},
	vectors32: vectors[float32]{
		unary: map[Op]vector1[float32]{
			Neg:        sNegY,
			Abs:        sAbsY,
			Square:     sSquareY,
			Sqrt:       sSqrtY,
			Reciprocal: sReciprocalY,
			Rsqrt:      sRsqrtY,
			Exp:        sExpY,
			Log:        sLogY,
			Gelu:       sGeluY,
			Erf:        sErfY,
			Tanh:       sTanhY,
			Sigmoid:    sSigmoidY,
		},
		binary: map[Op]vector2[float32]{
			Add:     sAddY,
			Sub:     sSubY,
			Mul:     sMulY,
			Div:     sDivY,
			Maximum: sMaxY,
			Minimum: sMinY,
		},
	},
	vectors64: vectors[float64]{
		unary: map[Op]vector1[float64]{
			Neg:        dNegY,
			Abs:        dAbsY,
			Square:     dSquareY,
			Sqrt:       dSqrtY,
			Reciprocal: dReciprocalY,
			Rsqrt:      dRsqrtY,
			Exp:        dExpY,
			Log:        dLogY,
			Erf:        dErfY,
			Gelu:       dGeluY,
			Tanh:       dTanhY,
			Sigmoid:    dSigmoidY,
		},
		binary: map[Op]vector2[float64]{
			Add:     dAddY,
			Sub:     dSubY,
			Mul:     dMulY,
			Div:     dDivY,
			Maximum: dMaxY,
			Minimum: dMinY,
		},
	},
	sums32: summing[float32]{sSumY, sSumsY, sSumColumnsY, nil},
	sums64: summing[float64]{dSumY, dSumsY, dSumColumnsY, dSumStripesY},

	extremes32: extremes[float32]{sMaxOfY, sMinOfY, sMaxColumnsY, sMinColumnsY, 8, quickExtremes[float32]{sQuickMaxY, sQuickMinY, sMaxStripesY, sMinStripesY, 64}},
	extremes64: extremes[float64]{dMaxOfY, dMinOfY, dMaxColumnsY, dMinColumnsY, 4, quickExtremes[float64]{dQuickMaxY, dQuickMinY, dMaxStripesY, dMinStripesY, 32}},
	rows32:     rowFunctions[float32]{sSoftmaxY, sExpSumY, nil, sMomentsY, sNormalizeY},
	rows64:     rowFunctions[float64]{dSoftmaxY, dExpSumY, dSquaresY, nil, dNormalizeY},
	f16:        conversion{8, widenF16Y, narrowF16Y, map[Op]func(n int, z, x, y *uint16){Add: addF16Y, Sub: subF16Y, Mul: mulF16Y}},
	bf16:       conversion{8, widenBF16Y, narrowBF16Y, map[Op]func(n int, z, x, y *uint16){Add: addBF16Y, Sub: subBF16Y, Mul: mulBF16Y}},
	casts:      casts{widenSingleY, narrowDoubleY},
	choose32:   choose32Y,
	choose64:   choose64Y,
	products32: vectorProducts[float32]{sDotRowsY, sAddRowsY, 8},
	products64: vectorProducts[float64]{dDotRowsY, dAddRowsY, 4},
}

var avx512 = kernels{
	level: AVX512,
	gemm32: &gemm[float32]{rows: 12, columns: 32, tiles: [3][2]tile[float32]{
		{sgemmZ4x16, sgemmZ4x32}, {sgemmZ8x16, sgemmZ8x32}, {sgemmZ12x16, sgemmZ12x32},
	}},
	gemm64: &gemm[float64]{rows: 12, columns: 16, tiles: [3][2]tile[float64]{
		{dgemmZ4x8, dgemmZ4x16}, {dgemmZ8x8, dgemmZ8x16}, {dgemmZ12x8, dgemmZ12x16},
	}},
	vectors32: vectors[float32]{
		unary: map[Op]vector1[float32]{
			Neg:        sNegZ,
			Abs:        sAbsZ,
			Square:     sSquareZ,
			Sqrt:       sSqrtZ,
			Reciprocal: sReciprocalZ,
			Rsqrt:      sRsqrtZ,
			Exp:        sExpZ,
			Log:        sLogZ,
			Gelu:       sGeluZ,
			Erf:        sErfZ,
			Tanh:       sTanhZ,
			Sigmoid:    sSigmoidZ,
		},
		binary: map[Op]vector2[float32]{
			Add:     sAddZ,
			Sub:     sSubZ,
			Mul:     sMulZ,
			Div:     sDivZ,
			Maximum: sMaxZ,
			Minimum: sMinZ,
		},
	},
	vectors64: vectors[float64]{
		unary: map[Op]vector1[float64]{
			Neg:        dNegZ,
			Abs:        dAbsZ,
			Square:     dSquareZ,
			Sqrt:       dSqrtZ,
			Reciprocal: dReciprocalZ,
			Rsqrt:      dRsqrtZ,
			Exp:        dExpZ,
			Log:        dLogZ,
			Erf:        dErfZ,
			Gelu:       dGeluZ,
			Tanh:       dTanhZ,
			Sigmoid:    dSigmoidZ,
		},
		binary: map[Op]vector2[float64]{
			Add:     dAddZ,
			Sub:     dSubZ,
			Mul:     dMulZ,
			Div:     dDivZ,
			Maximum: dMaxZ,
			Minimum: dMinZ,
		},
	},
	sums32: summing[float32]{sSumZ, sSumsZ, sSumColumnsZ, nil},
	sums64: summing[float64]{dSumZ, dSumsZ, dSumColumnsZ, nil},

	extremes32: extremes[float32]{sMaxOfZ, sMinOfZ, sMaxColumnsZ, sMinColumnsZ, 16, quickExtremes[float32]{}},
	extremes64: extremes[float64]{dMaxOfZ, dMinOfZ, dMaxColumnsZ, dMinColumnsZ, 8, quickExtremes[float64]{}},
	rows32:     rowFunctions[float32]{sSoftmaxZ, sExpSumZ, nil, sMomentsZ, sNormalizeZ},
	rows64:     rowFunctions[float64]{dSoftmaxZ, dExpSumZ, dSquaresZ, nil, dNormalizeZ},
	f16:        conversion{16, widenF16Z, narrowF16Z, map[Op]func(n int, z, x, y *uint16){Add: addF16Z, Sub: subF16Z, Mul: mulF16Z}},
	bf16:       conversion{16, widenBF16Z, narrowBF16Z, map[Op]func(n int, z, x, y *uint16){Add: addBF16Z, Sub: subBF16Z, Mul: mulBF16Z}},
	casts:      casts{widenSingleZ, narrowDoubleZ},
	choose32:   choose32Z,
	choose64:   choose64Z,
	products32: vectorProducts[float32]{sDotRowsZ, sAddRowsZ, 16},
	products64: vectorProducts[float64]{dDotRowsZ, dAddRowsZ, 8},
}
