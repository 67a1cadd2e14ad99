package tree_test

import (
	"testing"

	"github.com/lockstep-go/lockstep/array/tree"
)

func TestFieldName(t *testing.T) {
	for field, want := range map[string]string{
		"Weight": "weight", "QueryProj": "query_proj", "MLP": "mlp", "MLPNorm": "mlp_norm", "Layers2": "layers2", "A": "a", "": "", "ÄBc": "ä_bc",
	} {
		if got := tree.FieldName(field); got != want {
			t.Errorf("%q: %q, want %q", field, got, want)
		}
	}
}

func TestJoin(t *testing.T) {
	if got := tree.Join(tree.Join("", "layers"), "0"); got != "layers.0" {
		t.Error(got)
	}
}
