package agent

import (
	"net"
	"os"
	"testing"
)

func TestPrivateContent(t *testing.T) {
	for _, c := range []struct {
		name string
		keep func([]byte) (string, func(), error)
	}{{"wherever is best", keepPrivate}, {"on disk", keepOnDisk}} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			path, end, err := c.keep([]byte("secret"))
			if err != nil {
				t.Fatal(err)
			}
			if data, err := os.ReadFile(path); err != nil || string(data) != "secret" {
				t.Errorf("read %q, %v", data, err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("mode of %s: %v, %v; want 0600", path, info, err)
			}
			end()
			if _, err := os.Stat(path); !os.IsNotExist(err) {
				t.Errorf("it is still there: %v", err)
			}
			if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) != 0 {
				t.Errorf("left %v, %v", left, err)
			}
		})
	}
}

func TestReservedPlaceIsFreeForARank(t *testing.T) {
	place, err := reserve("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		listener, err := net.Listen("tcp", place)
		if err != nil {
			t.Fatal(err)
		}
		listener.Close()
	}
}
