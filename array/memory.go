package array

import "github.com/lockstep-go/lockstep/internal/buffer"

// MemoryStats are bytes of the storage of this process's arrays. Arrays of less
// than 4 KiB are not counted: they lie in Go's heap, unless a function made by
// transform.CompileDonating made them.
type MemoryStats struct {
	Active int64 // in use by arrays that are there
	Peak   int64 // the most that were in use at once, since the start or ResetPeakMemory
	Cached int64 // kept to be used again, beside those in use
}

// Memory returns the present figures. Storage is in use until the last array that
// needs it is gone, which only Go's collector can tell: where the figure
// must be exact, call ClearCache before, which collects.
func Memory() MemoryStats { return MemoryStats(buffer.ReadStats()) }

// ResetPeakMemory begins the measurement of MemoryStats.Peak anew.
func ResetPeakMemory() { buffer.ResetPeak() }

// SetCacheLimit sets how many bytes are kept to be used again, and returns the limit
// before. What is more goes back to the system at once. Fresh memory is many times
// slower than memory used again. The limit starts at half of the machine's
// memory, or at LOCKSTEP_CACHE_LIMIT.
func SetCacheLimit(bytes int64) (before int64) { return buffer.SetCacheLimit(bytes) }

// ClearCache looks for storage that no array needs any more, which takes a garbage
// collection, and gives it and all that is kept to be used again back to the system.
func ClearCache() {
	buffer.Collect()
	buffer.Trim()
}
