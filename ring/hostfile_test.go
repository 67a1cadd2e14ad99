package ring

import (
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/lockstep-go/lockstep/internal/conform"
)

func TestHostFiles(t *testing.T) {
	conform.Row(t, "G13")
	for name, c := range map[string]struct {
		file string
		want [][]string
	}{
		"one address each":    {`[["10.0.0.1:5000"],["10.0.0.2:5000"]]`, [][]string{{"10.0.0.1:5000"}, {"10.0.0.2:5000"}}},
		"two addresses each":  {`[["a:1","b:1"],["c:1","d:1"]]`, [][]string{{"a:1", "b:1"}, {"c:1", "d:1"}}},
		"IPv6 in brackets":    {`[["[::1]:5000"],["[fe80::1%lo]:5001"]]`, [][]string{{"[::1]:5000"}, {"[fe80::1%lo]:5001"}}},
		"one rank":            {` [ ["127.0.0.1:1"] ] ` + "\n", [][]string{{"127.0.0.1:1"}}},
		"name and port 65535": {`[["node-1.example:65535"]]`, [][]string{{"node-1.example:65535"}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseHosts([]byte(c.file))
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, %v, want %v", got, err, c.want)
			}
		})
	}
}

func TestBadHostFiles(t *testing.T) {
	conform.Row(t, "G12", "G13")
	for name, c := range map[string]struct {
		file string
		want []string
	}{
		"empty":              {"", []string{"is empty", `"ip:port"`}},
		"white space":        {" \n", []string{"is empty"}},
		"not JSON":           {"10.0.0.1:5000\n", []string{`"ip:port"`}},
		"object":             {`{"hosts":[]}`, []string{"object", `"ip:port"`}},
		"strings, not lists": {`["10.0.0.1:5000"]`, []string{"string", `"ip:port"`}},
		"no rank":            {`[]`, []string{"no rank"}},
		"more behind":        {`[["a:1"]] [["b:1"]]`, []string{"follows"}},
		"rank without any":   {`[["a:1"],[]]`, []string{"rank 1 has 0 addresses and rank 0 has 1"}},
		"not equally many":   {`[["a:1"],["b:1"],["c:1","d:1"]]`, []string{"rank 2 has 2 addresses and rank 0 has 1"}},
		"no port":            {`[["a:1"],["10.0.0.2"]]`, []string{"address 1 of rank 1", `"10.0.0.2"`}},
		"no host":            {`[[":1"]]`, []string{"address 1 of rank 0", `":1"`}},
		"port zero":          {`[["a:0"]]`, []string{"address 1 of rank 0", "1 to 65535"}},
		"port too large":     {`[["a:1","b:65536"]]`, []string{"address 2 of rank 0", `"b:65536"`, "65535"}},
		"port not a number":  {`[["a:http"]]`, []string{`"a:http"`}},
		"IPv6, no brackets":  {`[["::1:5001"]]`, []string{`"::1:5001"`, "brackets"}},
		"same address twice": {`[["a:1"],["b:1"],["a:1"]]`, []string{"ranks 0 and 2", "a:1"}},
		"twice at one rank":  {`[["a:1","a:1"],["b:1","c:1"]]`, []string{"rank 0 has the address a:1 twice"}},
		"any host":           {`[["a:1"],["0.0.0.0:2"]]`, []string{"address 1 of rank 1", `"0.0.0.0:2"`, "can dial"}},
		"any host, IPv6":     {`[["a:1"],["[::]:2"]]`, []string{"address 1 of rank 1", `"[::]:2"`, "can dial"}},
		"two names, one place": {`[["127.0.0.1:1"],["127.0.0.1:2"],["[::ffff:127.0.0.1]:1"]]`,
			[]string{"127.0.0.1:1 of rank 0", "[::ffff:127.0.0.1]:1 of rank 2", "are the same address 127.0.0.1:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "hosts.json")
			if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := HostFile(t.Context(), 0, path, Config{})
			wantError(t, err, append(c.want, path)...)
		})
	}
}

func TestHostFileThatIsNotThere(t *testing.T) {
	conform.Row(t, "G13")
	_, err := HostFile(t.Context(), 0, "/nowhere/hosts.json", Config{})
	wantError(t, err, "host file", "/nowhere/hosts.json", "no such file")
}

func TestHostFileWithoutEnd(t *testing.T) {
	_, err := HostFile(t.Context(), 0, "/dev/zero", Config{})
	wantError(t, err, "host file", "/dev/zero holds more than 16777216 bytes")
}

func TestHostFileAndRank(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts.json")
	if err := os.WriteFile(path, []byte(`[["127.0.0.1:1"],["127.0.0.1:2"]]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, rank := range []int{-1, 2} {
		_, err := HostFile(t.Context(), rank, path, Config{})
		wantError(t, err, path, "2 ranks", "0 to 1")
	}
}

func TestLoopbackAmongOthers(t *testing.T) {
	err := checkReach(t.Context(), [][]string{{"10.0.0.1:5000"}, {"localhost:5000"}})
	wantError(t, err, "localhost:5000 of rank 1", "loopback", "10.0.0.1:5000 of rank 0")
	for name, hosts := range map[string][][]string{
		"all loopback": {{"127.0.0.1:1"}, {"[::1]:1"}},
		"none":         {{"10.0.0.1:1"}, {"10.0.0.2:1"}},
	} {
		if err := checkReach(t.Context(), hosts); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOnePlaceUnderTwoNames leaves alone what is another port, zone or rank's own
// second name.
func TestOnePlaceUnderTwoNames(t *testing.T) {
	for name, c := range map[string]struct {
		hosts [][]string
		want  string
	}{
		"a name and its number": {[][]string{{"localhost:7"}, {"127.0.0.1:7", "[::1]:7"}}, "localhost:7 of rank 0"},
		"another port":          {[][]string{{"127.0.0.1:7"}, {"localhost:8"}}, ""},
		"another zone":          {[][]string{{"[fe80::1%lo]:7"}, {"[fe80::1%eth0]:7"}}, ""},
		"twice at one rank":     {[][]string{{"127.0.0.1:7", "[::ffff:127.0.0.1]:7"}, {"127.0.0.1:8", "127.0.0.1:9"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkReach(t.Context(), c.hosts)
			if c.want != "" {
				wantError(t, err, c.want, "same address")
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestHostThatDoesNotResolve(t *testing.T) {
	err := checkReach(t.Context(), [][]string{{"127.0.0.1:1"}, {"no-such-host.invalid:1"}})
	wantError(t, err, "address 1 of rank 1", "no-such-host.invalid:1")
}

func TestUnusableAddressGivesWayToTheNext(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	places, err := listenAll(t.Context(), []string{taken.Addr().String(), "127.0.0.1:0", "127.0.0.1:0"}, Config{})
	defer closeAll(places)
	if err != nil || len(places) != 2 || places[0].at != 1 || places[1].at != 2 {
		t.Fatalf("%v, %v, want numbers 1 and 2", places, err)
	}
	_, err = listenAll(t.Context(), []string{taken.Addr().String(), places[0].Addr().String()}, Config{})
	wantError(t, err, taken.Addr().String(), places[0].Addr().String(), "in use")
	for token, want := range map[string]int{"": 1, "secret": 2} {
		places, err := listenAll(t.Context(), []string{"127.0.0.1:0", "0.0.0.0:0"}, Config{Token: []byte(token)})
		if err != nil || len(places) != want {
			t.Errorf("token %q: %d places, %v; want %d", token, len(places), err, want)
		}
		closeAll(places)
	}
}

func FuzzHostFile(f *testing.F) {
	f.Add([]byte(`[["10.0.0.1:5000","[::1]:2"],["a:1","b:2"]]`))
	f.Add([]byte(`[["10.0.0.1"]]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		hosts, err := parseHosts(data)
		if err != nil {
			return
		}
		for _, addrs := range hosts {
			if len(addrs) != len(hosts[0]) || len(addrs) == 0 {
				t.Errorf("%q read as %v", data, hosts)
			}
		}
	})
}

// wantError checks that an error says all of the words.
func wantError(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one that says %q", words)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q, want one that says %q", err, w)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q has several lines", err)
	}
}
