package ring

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/internal/env"
)

// jobVariable is a number of the job, which is part of what its ranks sum.
const jobVariable = "RING_TEST_JOB"

// outcome is the first line of each rank of a job: "ready", or why not.
func outcome(t *testing.T, ranks []*process) (texts []string, ready int) {
	t.Helper()
	for r, p := range ranks {
		if !p.lines.Scan() {
			t.Fatalf("rank %d said nothing", r)
		}
		texts = append(texts, p.lines.Text())
		ready += boolean(p.lines.Text() == "ready")
	}
	return texts, ready
}

func says(texts []string, words string) bool {
	return strings.Contains(strings.Join(texts, "\n"), words)
}

// TestTwoJobsOnTheSamePorts starts two jobs at once that were given the same meeting
// place, or host file, and tokens of their own, as launch makes them. A job forms as
// a whole, and sums what is its own; or none of its ranks is ready, and one says that
// the address is in use, or that who has it belongs to another job.
func TestTwoJobsOnTheSamePorts(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]func(*testing.T, int) []string{"a meeting place": coordinatorPlace, "a host file": hostFilePlace} {
		for round, order := range [][]int{{0, 1}, {1, 0}} {
			t.Run(fmt.Sprint(name, ", round ", round), func(t *testing.T) {
				t.Parallel()
				shared := append(place(t, 3), roleVariable+"=told", connectVariable+"=3s")
				var jobs [2][]*process
				for r := range 3 {
					if round > 0 {
						r = 2 - r
					}
					for _, job := range order {
						own := []string{tokenFile(t, fmt.Append(secret, job)), jobVariable + "=" + fmt.Sprint(1000*job), env.Rank + "=" + fmt.Sprint(r)}
						p := startRank(t, append(own, shared...))
						jobs[job] = append(jobs[job], p)
					}
				}
				formed := 0
				for job, ranks := range jobs {
					texts, ready := outcome(t, ranks)
					switch {
					case ready == len(ranks):
						formed++
						all(t, ranks, "sum 1000")
						all(t, ranks, "sum 100000")
					case ready > 0 || !says(texts, "address already in use") && !says(texts, "different tokens"):
						t.Errorf("job %d: %q", job, texts)
					}
				}
				if formed > 1 || formed == 0 && name == "a meeting place" {
					t.Errorf("%d of two jobs have formed", formed)
				}
			})
		}
	}
}

// TestJobsSideBySide has three jobs with memory of their own work on one host at once.
// A death in one does no harm to the others.
func TestJobsSideBySide(t *testing.T) {
	t.Parallel()
	var jobs [3][]*process
	for job := range jobs {
		variables := append(roleOf(t, "told", 3), jobVariable+"="+fmt.Sprint(1000*job))
		for r := range 3 {
			jobs[job] = append(jobs[job], startRank(t, append(variables, env.Rank+"="+fmt.Sprint(r))))
		}
	}
	for _, ranks := range jobs {
		if texts, ready := outcome(t, ranks); ready != 3 {
			t.Fatalf("%q", texts)
		}
	}
	for _, ranks := range jobs {
		for _, p := range ranks {
			for range 20 {
				p.tell(t, "sum 100000")
			}
			p.tell(t, "until-error sum 1000")
		}
	}
	for _, ranks := range jobs {
		for r, p := range ranks {
			for range 20 {
				failsSoon(t, r, p, "<nil>")
			}
		}
	}
	jobs[0][1].Process.Kill()
	for _, r := range []int{0, 2} {
		failsSoon(t, r, jobs[0][r], "rank 1", "all_reduce #")
	}
	time.Sleep(100 * time.Millisecond)
	jobs[1][2].Process.Kill() // which until now went on
	for _, r := range []int{0, 1} {
		failsSoon(t, r, jobs[1][r], "rank 2", "all_reduce #")
	}
}
