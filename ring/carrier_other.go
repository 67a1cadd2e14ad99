//go:build !linux

package ring

import "net"

func newCarrier() (carrier, error) { return newPumps(), nil }

func newWire(net.Conn) (wire, error) { return nil, nil }

func unpaced(net.Conn) {}
