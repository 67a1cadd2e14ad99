package kernel

// Fetch asks for memory that will soon be read. It is a hint: it changes no result and
// does nothing where processors are not asked.
func Fetch(bytes []byte) {
	if lines := cacheLines(len(bytes)); lines > 0 {
		fetchLines(&bytes[0], lines)
	}
}

// cacheLines is how many lines of the cache n bytes fill, if they begin with one.
func cacheLines(n int) int { return (n + 63) / 64 }
