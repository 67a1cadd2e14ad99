//go:build !amd64 || purego

package kernel

func machine() []*kernels { return []*kernels{{level: Portable}} }
