package main

import "golang.org/x/sys/unix"

// adviseLargePages asks for large pages; where the system refuses them, the reference gets none either.
func adviseLargePages(b []byte) { unix.Madvise(b, unix.MADV_HUGEPAGE) }
