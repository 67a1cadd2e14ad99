package agent

import (
	"slices"
	"testing"
)

func TestSettingsOfOpenMPIStayOutsideItsWorlds(t *testing.T) {
	got := withoutWorlds([]string{"OMPI_MCA_btl=tcp,self", "PMI_RANK=0", "RANKS=2", "A=OMPI_COMM_WORLD_RANK=1"})
	want := []string{"OMPI_MCA_btl=tcp,self", "RANKS=2", "A=OMPI_COMM_WORLD_RANK=1"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEachVariableIsPassedOnceWithItsLastValue(t *testing.T) {
	s := &Spec{Env: []string{"A=2", "A=3", "LOCKSTEP_BACKEND=mpi"}}
	got := s.environ([]string{"A=1", "PWD=/here", "B=1", "LOCKSTEP_BACKEND=ring"}, "/d")
	want := []string{"B=1", "A=3", "LOCKSTEP_BACKEND=mpi", "PWD=/d"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPlaceOfARank(t *testing.T) {
	for _, c := range []struct {
		name string
		spec Spec
		m    meeting
		want []string
	}{
		{"with a coordinator", Spec{Size: 4, Coordinator: "h:1"}, meeting{tokenFile: "/t"},
			[]string{"LOCKSTEP_RANK=2", "LOCKSTEP_SIZE=4", "LOCKSTEP_COORDINATOR=h:1", "LOCKSTEP_TOKEN_FILE=/t"}},
		{"with a host file", Spec{Size: 4}, meeting{hostFile: "/h", tokenFile: "/t"},
			[]string{"LOCKSTEP_RANK=2", "LOCKSTEP_HOSTFILE=/h", "LOCKSTEP_TOKEN_FILE=/t"}},
		{"no rank but mpirun", Spec{}, meeting{}, nil},
	} {
		if got := c.spec.place(2, c.m); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
