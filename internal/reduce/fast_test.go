package reduce

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/internal/kernel"
)

// levels are the tables that this machine can run.
func levels() map[kernel.Level]*table {
	all := map[kernel.Level]*table{}
	for _, level := range kernel.Levels() {
		if t := tables[level]; t != nil {
			all[level] = t
		}
	}
	return all
}

func eachLoop(t *testing.T, do func(t *testing.T, fast *table, op Op, elem dtype.Type)) {
	for level, fast := range levels() {
		for _, elem := range dtype.All() {
			for op := range ops {
				if Check(op, elem) == nil {
					t.Run(fmt.Sprintf("%v %v %v", level, elem, op), func(t *testing.T) { do(t, fast, op, elem) })
				}
			}
		}
	}
}

// same compares a level with the portable loops.
func same(t *testing.T, fast *table, op Op, elem dtype.Type, parts [][]byte) {
	t.Helper()
	want := make([]byte, len(parts[0]))
	portable(op, elem, want, parts, 0)
	got := make([]byte, len(parts[0])+1)[1:] // at an odd address
	into(fast, op, elem, got, parts)
	for lo := 0; lo < len(got); lo += elem.Size() {
		if hi := lo + elem.Size(); !bytes.Equal(got[lo:hi], want[lo:hi]) {
			t.Fatalf("%d parts of %d bytes, element %d: % x, want % x", len(parts), len(got), lo/elem.Size(), got[lo:hi], want[lo:hi])
		}
	}
}

// pattern draws bits of an element: any, those of numbers of similar size, tiny
// ones, and special ones.
func pattern(r *rand.Rand, elem dtype.Type) []byte {
	b := binary.LittleEndian.AppendUint64(nil, r.Uint64())[:elem.Size()]
	top := &b[elem.Size()-1]
	switch kind := r.IntN(8); {
	case elem == dtype.Bool:
		b[0] &= 1
	case kind < 3:
		*top = *top&0x80 | 0x3f&*top | 0x38
	case kind == 3:
		*top &= 0x80
	case kind == 4:
		clear(b)
		*top = byte(r.IntN(2)) << 7
	case kind == 5:
		*top |= 0x7f
	}
	return b
}

func TestLevelsGiveThePortableBits(t *testing.T) {
	eachLoop(t, func(t *testing.T, fast *table, op Op, elem dtype.Type) {
		r := rand.New(rand.NewPCG(5, uint64(op)<<8|uint64(elem)))
		for _, count := range []int{2, 3, 4, fewParts, fewParts + 1} {
			for _, elems := range []int{0, 1, 31, whole, whole + 1, 5*whole + 7} {
				parts := make([][]byte, count)
				for i := range parts {
					parts[i] = make([]byte, i%3, elems*elem.Size()+3)
					for range elems {
						parts[i] = append(parts[i], pattern(r, elem)...)
					}
					parts[i] = parts[i][i%3:]
				}
				same(t, fast, op, elem, parts)
			}
		}
	})
}

// TestLevelsCombineEveryHalf has every float16 and bfloat16 meet others, in an
// order that differs from part to part.
func TestLevelsCombineEveryHalf(t *testing.T) {
	eachLoop(t, func(t *testing.T, fast *table, op Op, elem dtype.Type) {
		if elem.Size() != 2 {
			return
		}
		for count := 2; count <= 3; count++ {
			parts := make([][]byte, count)
			for i := range parts {
				for x := range 1 << 16 {
					parts[i] = binary.LittleEndian.AppendUint16(parts[i], uint16(x*[]int{1, 40503, 27061}[i]+i*x>>7))
				}
			}
			same(t, fast, op, elem, parts)
		}
	})
}

func TestLevelsReduceInPlace(t *testing.T) {
	eachLoop(t, func(t *testing.T, fast *table, op Op, elem dtype.Type) {
		r := rand.New(rand.NewPCG(6, uint64(op)<<8|uint64(elem)))
		for own := range 3 {
			parts := make([][]byte, 3)
			for i := range parts {
				for range 2*whole + 3 {
					parts[i] = append(parts[i], pattern(r, elem)...)
				}
			}
			want := make([]byte, len(parts[0]))
			portable(op, elem, want, parts, 0)
			into(fast, op, elem, parts[own], parts)
			if !bytes.Equal(parts[own], want) {
				t.Errorf("into part %d of 3: other bits than into memory of its own", own)
			}
		}
	})
}

func TestSmallReductionsTakeNoMemory(t *testing.T) {
	for level, fast := range levels() {
		parts := [][]byte{make([]byte, 300), make([]byte, 300)}
		if n := testing.AllocsPerRun(10, func() { into(fast, Sum, dtype.Float32, parts[0], parts) }); n != 0 {
			t.Errorf("%v: %v allocations, want none", level, n)
		}
	}
}
