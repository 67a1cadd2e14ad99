package slurm

import (
	"fmt"
	"strings"
)

// ExpandTasks lists the tasks of each node that a list such as "2(x3),1" stands for:
// 2 2 2 1. Each is at least 1. Whatever else there is, an empty list too, is an error
// that quotes the list.
func ExpandTasks(list string) ([]int, error) {
	var tasks []int
	total := 0
	for entry := range strings.SplitSeq(list, ",") {
		count, times, err := repeated(entry)
		if err != nil {
			return nil, fmt.Errorf("tasks per node %q: %w", shortened(list), err)
		}
		if total += count * times; total > MaxHosts {
			return nil, fmt.Errorf("tasks per node %q: more than %d in all", shortened(list), MaxHosts)
		}
		for range times {
			tasks = append(tasks, count)
		}
	}
	return tasks, nil
}

// repeated reads "2(x3)" or "2", both numbers from 1 to MaxHosts.
func repeated(entry string) (count, times int, err error) {
	text, behind, found := strings.Cut(entry, "(x")
	repeat := "1"
	if found {
		var closed bool
		if repeat, closed = strings.CutSuffix(behind, ")"); !closed {
			repeat = ""
		}
	}
	count, err = number(text)
	times, err2 := number(repeat)
	if err != nil || err2 != nil || count < 1 || times < 1 || count > MaxHosts || times > MaxHosts {
		return 0, 0, fmt.Errorf("%q is not like 2 or 2(x3)", entry)
	}
	return count, times, nil
}
