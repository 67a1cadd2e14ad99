package group

// Forget makes Init and the default group start afresh with these backends and
// returns what restores the registry.
func Forget(backends map[string]Backend) (restore func()) {
	registry.Lock()
	before := registry.backends
	registry.backends = backends
	registry.Unlock()
	formed.first, formed.named = nil, map[string]*Group{}
	preset.Store(nil)
	return func() {
		registry.Lock()
		registry.backends = before
		registry.Unlock()
		formed.first, formed.named = nil, map[string]*Group{}
		preset.Store(nil)
	}
}

// HeaderBytes is the length of an array header, HeaderDims how many dimensions it has
// room for.
const (
	HeaderBytes = headerBytes
	HeaderDims  = headerDims
)

// ID is the group's identity.
func ID(g *Group) string { return g.id }
