package kernel

import (
	"os"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/internal/env"
)

func TestChoiceOfLevel(t *testing.T) {
	both := []*kernels{{level: Portable}, {level: AVX2}}
	for _, c := range []struct {
		name, value string
		want        Level
		err         string
	}{
		{"the best by default", "-", AVX2, ""},
		{"forced down", "portable", Portable, ""},
		{"forced to the best", "avx2", AVX2, ""},
		{"beyond the processor", "avx512", "", `LOCKSTEP_KERNEL is "avx512"; this program has on this processor: portable, avx2`},
		{"unknown", "sse9", "", `LOCKSTEP_KERNEL is "sse9"; want portable, avx2 or avx512`},
		{"empty", "", "", `LOCKSTEP_KERNEL is ""; want portable, avx2 or avx512`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(env.Kernel, c.value)
			if c.value == "-" {
				os.Unsetenv(env.Kernel) // the tests themselves may run at a level
			}
			got, err := chooseLevel(both)
			switch {
			case c.err != "":
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %q", err, c.err)
				}
			case err != nil || got.level != c.want:
				t.Errorf("level %v, error %v; want %v", got.level, err, c.want)
			}
		})
	}
}

func TestPortableIsAlwaysThereAndFirst(t *testing.T) {
	if levels := Levels(); levels[0] != Portable {
		t.Errorf("levels %v do not begin with %v", levels, Portable)
	}
}
