// Package all links every backend of the module into a program, for its side
// effect of registering them with package group:
//
//	import _ "github.com/lockstep-go/lockstep/group/all"
package all

import (
	_ "github.com/lockstep-go/lockstep/mpi"
	_ "github.com/lockstep-go/lockstep/ring"
)
