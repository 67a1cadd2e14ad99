// Training measures whole training steps.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
)

func main() {
	worker := flag.String("worker", "", "")
	plain := flag.Bool("plain", false, "")
	profile := flag.String("profile", "", "")
	steps := flag.Int("steps", 20, "")
	flag.Parse()
	if *profile != "" {
		t, err := newTrainer(*worker, !*plain)
		if err != nil {
			fail(err)
		}
		for range 3 {
			if _, err := t.measure(3); err != nil {
				fail(err)
			}
		}
		f, _ := os.Create(*profile)
		pprof.StartCPUProfile(f)
		fig, err := t.measure(*steps)
		pprof.StopCPUProfile()
		fmt.Printf("%+v %v %s\n", fig, err, memory())
		return
	}
	if err := work(*worker, !*plain, os.Stdin, os.Stdout); err != nil {
		fail(err)
	}
}
