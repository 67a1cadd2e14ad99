package agent

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

var errNoDirectory error = syscall.ENOTDIR

// keepOnDisk writes a file of its own for content, which only end removes.
func keepOnDisk(content []byte) (path string, end func(), err error) {
	dir, err := os.MkdirTemp("", "lockstep-")
	if err != nil {
		return "", nil, err
	}
	end = func() { os.RemoveAll(dir) }
	path = filepath.Join(dir, "private")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		end()
		return "", nil, err
	}
	return path, end, nil
}

// reserve returns an address, with a free port for port 0, at which a rank can
// listen and which the system hands to nobody else who asks for just any port: a
// connection to it was closed from its side, and for about a minute that remains
// (TIME_WAIT) keep it. A program that asks for this very port can still take it; the
// rank then says so.
func reserve(address string) (string, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return "", err
	}
	defer listener.Close()
	got := listener.Addr().String()
	dialled, err := net.Dial("tcp", got)
	if err != nil {
		return "", err
	}
	accepted, err := listener.Accept()
	if err != nil {
		return "", errors.Join(err, dialled.Close())
	}
	return got, errors.Join(accepted.Close(), dialled.Close())
}
