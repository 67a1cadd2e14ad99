package main

import "fmt"

// demand is a ratio that lockstep has set itself: a figure of ours is at most
// factor times another one, plus an allowance, of the same run. With no other
// figure the allowance is the limit.
type demand struct {
	part   string
	ours   cell
	than   cell // row is empty where the allowance alone counts
	factor float64
	plus   float64
}

// verdict is what became of a demand.
type verdict struct {
	demand
	got, other float64
	measured   bool // ours
	disturbed  bool // one of the two
	status     string
}

// The outcomes of a demand. A figure of ours that a whole run does not have is a
// miss; one of a peer, or one that was not asked for, leaves the demand open.
const (
	met    = "met"
	missed = "missed"
	open   = "open"
)

// judge holds every demand against the figures.
func (r *results) judge(all []demand) []verdict {
	verdicts := make([]verdict, len(all))
	for i, d := range all {
		verdicts[i] = r.judgeOne(d)
	}
	return verdicts
}

func (r *results) judgeOne(d demand) verdict {
	got, a, mine := r.best(d.ours)
	other, b, theirs := r.best(d.than)
	v := verdict{demand: d, got: got, other: other, measured: mine, status: missed}
	v.disturbed = mine && len(a.Values) == 0 || theirs && len(b.Values) == 0
	switch {
	case !mine && (r.options.quick || r.options.only != nil):
		v.status = open
	case !mine:
	case d.than.row != "" && !theirs:
		v.status = open
	case got <= d.allowed(other):
		v.status = met
	}
	return v
}

func (d demand) allowed(other float64) float64 { return d.factor*other + d.plus }

// terms is what is demanded, in words.
func (d demand) terms() string {
	switch {
	case d.than.row == "":
		return fmt.Sprintf("at most %g %%", d.plus)
	case d.plus > 0:
		return fmt.Sprintf("at most %g µs more", d.plus)
	}
	return fmt.Sprintf("at most %.3g×", d.factor)
}

// demands lists all of them, by part.
func demands() []demand {
	var all []demand
	for _, part := range []func() []demand{sharedDemands, tcpDemands, halfDemands, messageDemands, crowdDemands, mpiDemands} {
		all = append(all, part()...)
	}
	return all
}

// against demands a factor for several sizes of one scenario.
func against(part, scenario, ours, other string, factor float64, sizes ...int) []demand {
	var all []demand
	for _, n := range sizes {
		all = append(all, demand{part: part, ours: cell{scenario, ours, n}, than: cell{scenario, other, n}, factor: factor})
	}
	return all
}

const (
	two   = "allreduce/f32/2"
	four  = "allreduce/f32/4"
	eight = "allreduce/f32/8"
)

func sharedDemands() []demand {
	const part = "shared memory"
	all := against(part, two, ringShared, limitShared, 1.3, 128*kib, mib, 16*mib, 64*mib)
	all = append(all, against(part, two, ringShared, openMPIShared, 4, 4)...)
	all = append(all, against(part, two, ringShared, openMPIShared, 1, sums[1:]...)...)
	return append(all, against(part, four, ringShared, openMPIShared, 1, sums...)...)
}

func tcpDemands() []demand {
	const part = "TCP"
	all := against(part, two, ringTCP, limitTCP, 1.6, 128*kib)
	all = append(all, against(part, two, ringTCP, limitTCP, 1.4, mib)...)
	all = append(all, against(part, two, ringTCP, limitTCP, 1.25, 16*mib, 64*mib)...)
	all = append(all, against(part, two, ringTCP, gloo, 1/2., 4, 4*kib, 16*kib)...)
	all = append(all, against(part, two, ringTCP, gloo, 1/1.4, 128*kib)...)
	all = append(all, against(part, two, ringTCP, gloo, 1/1.9, mib)...)
	all = append(all, against(part, two, ringTCP, gloo, 1, 16*mib, 64*mib)...)
	all = append(all, against(part, four, ringTCP, gloo, 1, sums...)...)
	all = append(all, against(part, two, ringTCP, openMPITCP, 2.5, 4, 4*kib, 16*kib)...)
	all = append(all, against(part, two, ringTCP, openMPITCP, 1, 128*kib, mib)...)
	return append(all, against(part, two, ringTCP, openMPITCP, 1.1, 16*mib, 64*mib)...)
}

// halfDemands compare equally many elements: halves have half the bytes.
func halfDemands() []demand {
	var all []demand
	for _, row := range []string{ringShared, ringTCP} {
		for _, kind := range []string{"f16", "bf16"} {
			for _, n := range []int{mib, 16 * mib, 64 * mib} {
				all = append(all, demand{part: "halves", factor: 0.65,
					ours: cell{"allreduce/" + kind + "/2", row, n / 2}, than: cell{two, row, n}})
			}
		}
	}
	return all
}

func messageDemands() []demand {
	const part = "messages"
	all := against(part, "pingpong/f32/2", ringShared, limitShared, 6, 4)
	all = append(all, against(part, "pingpong/f32/2", ringTCP, limitTCP, 3, 4)...)
	streams := []int{64 * kib, 256 * kib, mib, 4 * mib, 16 * mib}
	all = append(all, against(part, "stream/f32/2", ringShared, limitShared, 1/0.8, streams...)...)
	return append(all, against(part, "stream/f32/2", ringTCP, limitTCP, 1/0.8, streams...)...)
}

func crowdDemands() []demand {
	all := against("more ranks than cores", eight, ringShared, openMPIShared, 1, 4*kib)
	for _, row := range []string{ringShared, ringTCP} {
		all = append(all, demand{part: "more ranks than cores", ours: cell{"idle/f32/8", row, 0}, plus: 5})
	}
	return all
}

func mpiDemands() []demand {
	const part = "over Open MPI"
	var all []demand
	for _, n := range []int{4, 4 * kib, 16 * kib} {
		all = append(all, demand{part: part, ours: cell{two, overMPI, n}, than: cell{two, openMPIShared, n}, factor: 1, plus: 3})
	}
	all = append(all, against(part, two, overMPI, openMPIShared, 1.25, 128*kib)...)
	all = append(all, against(part, two, overMPI, openMPIShared, 1, mib, 16*mib, 64*mib)...)
	return append(all, against(part, eight, overMPI, openMPIShared, 2, 4*kib)...)
}
