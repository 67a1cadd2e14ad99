package agent

import (
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// reaping is how long a killed group may take to vanish.
const reaping = time.Second

// rank is one process of the job and the process group that it leads.
type rank struct {
	number  int
	cmd     *exec.Cmd
	stdin   *os.File // the writing end
	outputs []*output
	talk    *talk
	over    chan struct{} // closed when the process has ended
	asked   atomic.Bool   // the group was told to end
	gone    atomic.Bool   // the group is empty; its number may belong to others
}

// start starts cmd as a rank in a process group of its own. The calling goroutine
// stays on its thread until the job has ended, because the kernel ends ranks with
// the thread that started them. A call of wait must follow.
func start(number int, cmd *exec.Cmd, t *talk) (*rank, error) {
	p, err := openPipes()
	defer closeAll(p.theirs)
	if err == nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = p.theirs[0], p.theirs[1], p.theirs[2]
		cmd.SysProcAttr = processAttributes()
		err = cmd.Start()
	}
	if err != nil {
		closeAll(p.ours)
		return nil, err
	}
	return &rank{
		number:  number,
		cmd:     cmd,
		stdin:   p.ours[0],
		outputs: []*output{{pipe: p.ours[1]}, {pipe: p.ours[2], err: true}},
		talk:    t,
		over:    make(chan struct{}),
	}, nil
}

// pipes are standard input, output and error of a rank: launch's ends and the
// rank's.
type pipes struct{ ours, theirs []*os.File }

func openPipes() (p pipes, err error) {
	for fd := range 3 {
		read, write, err := os.Pipe()
		if err != nil {
			return p, err
		}
		if fd == 0 {
			read, write = write, read
		}
		p.ours, p.theirs = append(p.ours, read), append(p.theirs, write)
	}
	return p, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// wait reports what the process writes and how it ends. It returns when its group is
// gone too and everything it wrote has been reported.
func (r *rank) wait(input *chunk) {
	var work sync.WaitGroup
	for _, o := range r.outputs {
		work.Go(func() { o.pass(r.number, r.talk) })
	}
	work.Go(func() { feed(r.stdin, input, r.over) })
	r.cmd.Wait()
	status := r.cmd.ProcessState.Sys().(syscall.WaitStatus)
	r.talk.report(Report{Kind: Exited, Rank: r.number, Status: uint32(status)})
	close(r.over)
	r.stdin.Close()
	r.endGroup()
	for _, o := range r.outputs {
		o.end()
	}
	work.Wait()
}

// signal sends sig to the whole group, as long as there is one.
func (r *rank) signal(sig syscall.Signal) {
	r.asked.Store(true)
	if !r.gone.Load() {
		syscall.Kill(-r.cmd.Process.Pid, sig)
	}
}

// endGroup ends what the process left behind in its group.
func (r *rank) endGroup() {
	if !r.asked.Load() {
		r.signal(syscall.SIGTERM)
	}
	if !r.emptied(Grace) {
		r.signal(syscall.SIGKILL)
		r.emptied(reaping)
	}
	r.gone.Store(true)
}

// emptied waits until the group has no member. Members that ended but that nobody
// collects count, so the wait has its limit.
func (r *rank) emptied(limit time.Duration) bool {
	const step = 10 * time.Millisecond
	for waited := time.Duration(0); waited < limit; waited += step {
		if syscall.Kill(-r.cmd.Process.Pid, 0) == syscall.ESRCH {
			return true
		}
		time.Sleep(step)
	}
	return false
}
