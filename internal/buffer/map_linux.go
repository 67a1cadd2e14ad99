//go:build linux && !race

package buffer

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapMemory returns n bytes, a multiple of a huge page's size, in huge pages
// where the system has them: with small ones the first touch of fresh memory
// costs more than what is computed in it.
func mapMemory(n int) mapping {
	const prot, flags = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_PRIVATE | unix.MAP_ANON
	start, err := unix.MmapPtr(-1, 0, nil, uintptr(n+pageBytes), prot, flags)
	if err != nil {
		return mapping{bytes: Make(n)} // which ends the program if memory is what lacks
	}
	// A huge page lies at a multiple of its size. What stands out goes back.
	before := int(-uintptr(start) & (pageBytes - 1))
	if before > 0 {
		unix.MunmapPtr(start, uintptr(before))
	}
	memory := unsafe.Add(start, before)
	if after := pageBytes - before; after > 0 {
		unix.MunmapPtr(unsafe.Add(memory, n), uintptr(after))
	}
	b := unsafe.Slice((*byte)(memory), n)
	unix.Madvise(b, unix.MADV_HUGEPAGE) // advice: without it pages are small
	return mapping{b, true}
}

// unmap gives the memory back; nothing may refer to it. That of Go's heap is left to
// the collector.
func (m mapping) unmap() {
	if m.system {
		unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(m.bytes)), uintptr(len(m.bytes)))
	}
}

// machineMemory is how many bytes of memory the machine has.
func machineMemory() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return defaultMemory
	}
	return int64(info.Totalram) * int64(info.Unit)
}
