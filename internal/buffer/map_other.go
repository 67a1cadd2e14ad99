//go:build !linux || race

package buffer

// mapMemory returns n bytes of Go's heap, which the race detector watches.
func mapMemory(n int) mapping { return mapping{bytes: Make(n)} }

// unmap leaves the memory to the collector.
func (mapping) unmap() {}

func machineMemory() int64 { return defaultMemory }
