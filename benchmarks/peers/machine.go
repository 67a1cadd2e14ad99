package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// machine is what the figures depend on and a reader cannot see.
type machine struct {
	Processor string `json:"processor"`
	Cores     int    `json:"cores"`
	System    string `json:"system"`
	Go        string `json:"go"`
	OpenMPI   string `json:"openmpi,omitempty"`
}

func thisMachine() machine {
	m := machine{Processor: runtime.GOARCH, Cores: runtime.NumCPU(), System: runtime.GOOS, Go: runtime.Version()}
	if name := valueIn("/proc/cpuinfo", "model name"); name != "" {
		m.Processor = name
	}
	if kernel, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System = "Linux " + strings.TrimSpace(string(kernel))
	}
	if out, err := exec.Command("mpirun", "--version").Output(); err == nil {
		first, _, _ := strings.Cut(string(out), "\n")
		m.OpenMPI = first[strings.LastIndex(first, " ")+1:]
	}
	return m
}

// valueIn is what follows "name :" in the first such line of a file.
func valueIn(file, name string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(text), name)
	line, _, _ := strings.Cut(rest, "\n")
	_, value, _ := strings.Cut(line, ":")
	return strings.TrimSpace(value)
}

func (m machine) String() string {
	text := fmt.Sprintf("%d cores of %s, %s, %s", m.Cores, m.Processor, m.System, m.Go)
	if m.OpenMPI != "" {
		text += ", Open MPI " + m.OpenMPI
	}
	return text + "."
}

// busy is how much processor time all processes, and those that this one has
// started and waited for, have used by some moment.
type busy struct {
	at       time.Time
	all, own time.Duration
	known    bool
}

// tick is the unit of /proc/stat.
const tick = 10 * time.Millisecond

func readBusy() busy {
	text, err := os.ReadFile("/proc/stat")
	var children, self syscall.Rusage
	if err != nil || syscall.Getrusage(syscall.RUSAGE_CHILDREN, &children) != nil || syscall.Getrusage(syscall.RUSAGE_SELF, &self) != nil {
		return busy{}
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return busy{time.Now(), busyTicks(line) * tick, used(children) + used(self), true}
}

// busyTicks adds up user, nice, system, irq and softirq of /proc/stat's first
// line.
func busyTicks(line string) (sum time.Duration) {
	columns := strings.Fields(line)
	for i, c := range columns {
		n, err := strconv.Atoi(c)
		if err == nil && (i <= 3 || i == 6 || i == 7) {
			sum += time.Duration(n)
		}
	}
	return sum
}

func used(u syscall.Rusage) time.Duration {
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// foreignShare is the share of all cores that went to other processes since b;
// below 0 where the system does not tell.
func (b busy) foreignShare() float64 {
	now := readBusy()
	if !b.known || !now.known {
		return -1
	}
	others := (now.all - b.all) - (now.own - b.own)
	return max(0, others.Seconds()/(now.at.Sub(b.at).Seconds()*float64(runtime.NumCPU())))
}
