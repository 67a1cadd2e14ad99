package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// meeting is what the ranks of one job share to find and to trust each other.
type meeting struct {
	coordinator string // host:port where rank 0 will listen
	tokenFile   string
	end         func() // removes the secret
}

// arrange reserves a port of loopback (a free one for port 0) and keeps a fresh
// secret where only this user can read it. The caller ends it.
func arrange(port int) (*meeting, error) {
	coordinator, err := reserve(port)
	if err != nil {
		return nil, fmt.Errorf("the ranks' meeting place: %w", err)
	}
	secret := make([]byte, 32)
	rand.Read(secret)
	path, end, err := keepSecret([]byte(hex.EncodeToString(secret)))
	if err != nil {
		return nil, fmt.Errorf("the job's secret: %w", err)
	}
	return &meeting{coordinator, path, end}, nil
}

// keepOnDisk writes a secret to a file of its own, which only end removes.
func keepOnDisk(secret []byte) (path string, end func(), err error) {
	dir, err := os.MkdirTemp("", "lockstep-")
	if err != nil {
		return "", nil, err
	}
	end = func() { os.RemoveAll(dir) }
	path = filepath.Join(dir, "token")
	if err := os.WriteFile(path, secret, 0o600); err != nil {
		end()
		return "", nil, err
	}
	return path, end, nil
}

// reserve returns an address of loopback on which rank 0 can listen and which the
// system hands to nobody else who asks for just any port: a connection to it was
// closed from its side, and for about a minute that remains (TIME_WAIT) keep it.
// A program that asks for this very port can still take it; rank 0 then says so.
func reserve(port int) (string, error) {
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return "", err
	}
	defer listener.Close()
	address := listener.Addr().String()
	dialled, err := net.Dial("tcp4", address)
	if err != nil {
		return "", err
	}
	accepted, err := listener.Accept()
	if err != nil {
		return "", errors.Join(err, dialled.Close())
	}
	return address, errors.Join(accepted.Close(), dialled.Close())
}
