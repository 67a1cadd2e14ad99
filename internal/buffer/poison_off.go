//go:build !poison

package buffer

// poison makes a mistake in the lifetime of memory show: under the build tag poison
// buffers of every size are pooled, hold 0xff when they are made and again when they are
// given back, and the collector is called often.
const poison = false
