package main

import (
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// pin keeps this program, and the reference that it will start, to one processor, so that whatever
// slows one processor down slows both of them. It is for the goroutine that calls it. release
// lets all threads go again.
func pin() (release func(), err error) {
	runtime.LockOSThread()
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return nil, err
	}
	for i := 0; one.Count() == 0; i++ {
		if all.IsSet(i) {
			one.Set(i)
		}
	}
	return func() { setAll(&all) }, setAll(&one)
}

func setAll(to *unix.CPUSet) error {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range tasks {
		id, _ := strconv.Atoi(t.Name())
		if err := unix.SchedSetaffinity(id, to); err != nil && err != unix.ESRCH {
			return err
		}
	}
	return nil
}
