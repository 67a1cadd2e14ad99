package kernel

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Several vectors at a time are computed another way than one, and an incomplete one by
// mask: what an element gives must not hang on where it stands.
func TestFunctionsOfAnElementDoNotDependOnItsNeighbours(t *testing.T) {
	fast(t, func(t *testing.T, k *kernels) {
		checkAlone(t, k.vectors32)
		checkAlone(t, k.vectors64)
	})
}

func checkAlone[T float](t *testing.T, v vectors[T]) {
	x := random[T](300, rand.New(rand.NewPCG(41, 42)))
	for i, a := range awkward[T]() {
		x[40+i] = a // among others that are ordinary
	}
	for i := range 100 {
		x[150+i] = T(i*i)/10 - 300 // on both sides of where exponentials vanish
	}
	for op, f := range v.unary {
		got := make([]T, len(x))
		f(len(x), &got[0], &x[0])
		for i := range x {
			var alone T
			f(1, &alone, &x[i])
			if bitsOf(got[i]) != bitsOf(alone) {
				t.Errorf("%v of %T: of %v got %v among others and %v alone", op, x[0], x[i], got[i], alone)
				break
			}
		}
	}
}

func TestSoftmaxOfOrdinaryNumbersIsTheSameBesideOthers(t *testing.T) {
	fast(t, func(t *testing.T, k *kernels) {
		checkBeside(t, &k.rows32)
		checkBeside(t, &k.rows64)
	})
}

// checkBeside has one element that vanishes, at every place: the others must keep their bits.
func checkBeside[T float](t *testing.T, f *rowFunctions[T]) {
	r := rand.New(rand.NewPCG(43, 44))
	const n = 70
	for at := range n {
		x, y, want := random[T](n, r), make([]T, n), make([]T, n)
		x[at] = -80 // its exponential is too small to change the sum
		f.softmax(n, &want[0], &x[0])
		x[at] = T(math.Inf(-1))
		f.softmax(n, &y[0], &x[0])
		if y[at] != 0 {
			t.Errorf("softmax of -Inf is %v", y[at])
		}
		y[at] = want[at]
		for i := range y {
			if bitsOf(y[i]) != bitsOf(want[i]) {
				t.Fatalf("%T: with -Inf at %d element %d is %v, else %v", y[i], at, i, y[i], want[i])
			}
		}
	}
}

// Processors of AVX2 have sixteen registers of 32 bytes; where there are more, a kernel
// that takes them works all the same.
func TestKernelsOfAVX2TakeNoRegistersOfAVX512(t *testing.T) {
	files, err := filepath.Glob("*_amd64.s")
	if err != nil || len(files) == 0 {
		t.Fatalf("no assembly here: %v", err)
	}
	others := regexp.MustCompile(`\b([XY](1[6-9]|2\d|3[01])|Z\d+|K[0-7])\b`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, function := range strings.Split(string(text), "\nTEXT ·")[1:] {
			name, body, _ := strings.Cut(function, "(SB)")
			if r := others.FindString(body); r != "" && strings.HasSuffix(name, "Y") {
				t.Errorf("%s: %s uses %s", file, name, r)
			}
		}
	}
}
