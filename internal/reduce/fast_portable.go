//go:build !amd64 || purego

package reduce

import "github.com/lockstep-go/lockstep/internal/kernel"

var tables map[kernel.Level]*table
