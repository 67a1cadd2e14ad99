package kernel

// Fetch asks for memory that will soon be read. It is a hint: it changes no result and
// does nothing where processors are not asked.
func Fetch(bytes []byte) {
	if lines := (len(bytes) + 63) / 64; lines > 0 {
		fetchLines(&bytes[0], lines)
	}
}
