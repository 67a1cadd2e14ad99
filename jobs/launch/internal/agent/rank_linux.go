package agent

import "syscall"

// processAttributes puts a rank into a group of its own and ends it with launch,
// however launch ends.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
