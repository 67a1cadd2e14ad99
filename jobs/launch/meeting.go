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
	dir         string // private, holds the token
}

// arrange reserves a port of loopback (a free one for port 0) and writes a fresh
// secret that only this user can read. The caller ends it.
func arrange(port int) (*meeting, error) {
	coordinator, err := reserve(port)
	if err != nil {
		return nil, fmt.Errorf("the ranks' meeting place: %w", err)
	}
	dir, err := os.MkdirTemp("", "lockstep-")
	if err != nil {
		return nil, fmt.Errorf("the job's secret: %w", err)
	}
	m := &meeting{coordinator: coordinator, tokenFile: filepath.Join(dir, "token"), dir: dir}
	secret := make([]byte, 32)
	rand.Read(secret)
	if err := os.WriteFile(m.tokenFile, []byte(hex.EncodeToString(secret)), 0o600); err != nil {
		m.end()
		return nil, fmt.Errorf("the job's secret: %w", err)
	}
	return m, nil
}

// end removes the secret.
func (m *meeting) end() { os.RemoveAll(m.dir) }

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
