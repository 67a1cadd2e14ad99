//go:build poison

package buffer

const poison = true
