package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// fewFiles is less than a rank with some dozens of peers needs.
const fewFiles = 256

// system looks at what the machine gives to a process.
func system(r *report) {
	r.ok("cores", "%d%s", runtime.NumCPU(), quota(cgroupQuota))
	var files syscall.Rlimit
	switch err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); {
	case err != nil:
		r.fail("files", "%v", err)
	case files.Max < fewFiles:
		r.fail("files", "at most %d can be open (ulimit -n); want %d", files.Max, fewFiles)
	default:
		r.ok("files", "at most %d can be open (ulimit -n)", files.Max)
	}
	interfaces(r)
}

const cgroupQuota = "/sys/fs/cgroup/cpu.max"

// quota is what a cgroup allows of the cores, if it says so: microseconds of
// processor in a period of so many.
func quota(path string) string {
	text, err := os.ReadFile(path)
	fields := strings.Fields(string(text))
	if err != nil || len(fields) != 2 {
		return ""
	}
	used, err1 := strconv.ParseFloat(fields[0], 64)
	period, err2 := strconv.ParseFloat(fields[1], 64)
	if err1 != nil || err2 != nil || period <= 0 {
		return ", not limited by a cgroup"
	}
	return fmt.Sprintf(", of which a cgroup allows %.1f", used/period)
}

func interfaces(r *report) {
	all, err := net.Interfaces()
	if err != nil {
		r.fail("interfaces", "%v", err)
		return
	}
	var up []string
	for _, i := range all {
		addrs, err := i.Addrs()
		if err != nil || i.Flags&net.FlagUp == 0 || len(addrs) == 0 {
			continue
		}
		var texts []string
		for _, a := range addrs {
			texts = append(texts, a.String())
		}
		up = append(up, i.Name+" "+strings.Join(texts, " "))
	}
	if len(up) == 0 {
		r.fail("interfaces", "none is up, not even loopback, on which ranks of one machine meet")
		return
	}
	r.ok("interfaces", "%s", strings.Join(up, ", "))
}
