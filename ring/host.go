package ring

import (
	"fmt"
	"os"
)

// plainHostName is the machine's name; a machine without one is no rank's host
// but this one's.
func plainHostName() string {
	name, err := os.Hostname()
	if err != nil {
		return fmt.Sprintf("process %d", os.Getpid())
	}
	return name
}
