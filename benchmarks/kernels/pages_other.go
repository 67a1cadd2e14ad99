//go:build !linux

package main

// adviseLargePages leaves the pages to the system.
func adviseLargePages([]byte) {}
