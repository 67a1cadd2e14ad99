package array

import (
	"runtime"
	"testing"
)

func TestWhoseMistakeItIs(t *testing.T) {
	const root = "/src/lockstep/"
	for name, c := range map[string]struct {
		frame   runtime.Frame
		library bool
	}{
		"an operation":                 {runtime.Frame{Function: module + "array.(*Array).Add", File: root + "array/binary.go"}, true},
		"a layer":                      {runtime.Frame{Function: module + "nn.(*Linear).Forward", File: root + "nn/linear.go"}, true},
		"a closure inlined by a user":  {runtime.Frame{Function: "main.main.ValueAndGrad.func2", File: root + "nn/params.go"}, true},
		"Go's own":                     {runtime.Frame{Function: "slices.SortFunc", File: "/go/src/slices/sort.go"}, true},
		"without paths of the machine": {runtime.Frame{Function: module + "nn.(*Linear).Forward", File: "somewhere/nn/linear.go"}, true},
		"a user's program":             {runtime.Frame{Function: "main.main", File: "/home/user/nn/main.go"}, false},
		"a user's package":             {runtime.Frame{Function: "example.com/fit.Step", File: "/home/user/fit/step.go"}, false},
		"a job":                        {runtime.Frame{Function: "main.run", File: root + "jobs/train/main.go"}, false},
		"an example":                   {runtime.Frame{Function: "main.main", File: root + "examples/hello/main.go"}, false},
		"a test":                       {runtime.Frame{Function: module + "nn_test.TestLinear", File: root + "nn/layers_test.go"}, false},
	} {
		if got := isLibrary(c.frame, root); got != c.library {
			t.Errorf("%s: library is %v", name, got)
		}
	}
}
