package main

import (
	"fmt"
	"os/exec"
	"strconv"
	"time"

	"github.com/lockstep-go/lockstep/jobs/launch/internal/agent"
)

// A remote host needs nothing but a POSIX shell: the agent is launch itself, sent
// over the connection. What the remote side is asked to run is this text and the
// program's size, whatever the job is; everything of the user's goes to the agent
// over its input. Between the quotes are no characters that any login shell takes
// for more than themselves. A folder that forbids programs is passed over: the one
// tried does nothing. Launch says nothing further until the agent has answered, so
// it does no harm if head reads ahead.
const remoteScript = `exec /bin/sh -c 'umask 077; ` +
	`for d in "${TMPDIR:-/tmp}" "${XDG_RUNTIME_DIR:-/tmp}" "$HOME" /dev/shm; do ` +
	`a=$(mktemp -d "$d/lockstep-XXXXXX" 2>/dev/null) || continue; ` +
	`echo : >"$a/agent" && chmod 700 "$a/agent" && "$a/agent" 2>/dev/null && break; ` +
	`rm -rf "$a"; a=; done; ` +
	`test -n "$a" || { echo "no folder for a program in TMPDIR, /tmp, HOME and /dev/shm" >&2; exit 1; }; ` +
	`head -c "$1" >"$a/agent" && "$a/agent" ` + agent.Word + ` "$a"; s=$?; rm -rf "$a"; exit $s' lockstep `

// sshCommand leads to a host's shell, which runs the agent of so many bytes. The
// user's arguments come first, as ssh takes the first value of a setting.
func sshCommand(o *options, name string, size int) *exec.Cmd {
	const silentFor, silences = 5, 3 // seconds, and how many before the connection is given up
	args := append([]string{}, o.sshArgs...)
	for _, setting := range []string{
		"BatchMode=yes", "ConnectTimeout=" + strconv.Itoa(int((o.sshTimeout+time.Second-1)/time.Second)),
		fmt.Sprintf("ServerAliveInterval=%d", silentFor), fmt.Sprintf("ServerAliveCountMax=%d", silences),
		"ClearAllForwardings=yes", "LogLevel=ERROR",
	} {
		args = append(args, "-o", setting)
	}
	args = append(args, "-T", "--", name, remoteScript+strconv.Itoa(size))
	return exec.Command(o.ssh, args...)
}
