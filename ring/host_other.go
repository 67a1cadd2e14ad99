//go:build !linux

package ring

func hostName() string { return plainHostName() }
