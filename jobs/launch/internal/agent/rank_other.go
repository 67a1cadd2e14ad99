//go:build !linux

package agent

import "syscall"

// processAttributes puts a rank into a group of its own. Only Linux can also end
// it when launch is killed by SIGKILL.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
