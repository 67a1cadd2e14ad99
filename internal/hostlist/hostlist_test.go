package hostlist

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, list string
		want       []Host
	}{
		{"one", "a", []Host{{Name: "a"}}},
		{"two, with spaces between", "a, b", []Host{{Name: "a"}, {Name: "b"}}},
		{"numbers of ranks", "a:2,b:4", []Host{{Name: "a", Slots: 2}, {Name: "b", Slots: 4}}},
		{"a user", "me@a.example:3", []Host{{Name: "me@a.example", Slots: 3}}},
		{"addresses", "10.0.0.1,10.0.0.2:2", []Host{{Name: "10.0.0.1"}, {Name: "10.0.0.2", Slots: 2}}},
		{"IPv6 bare", "::1,fe80::1%eth0", []Host{{Name: "::1"}, {Name: "fe80::1%eth0"}}},
		{"IPv6 in brackets", "[::1],[fe80::1%eth0]:4", []Host{{Name: "::1"}, {Name: "fe80::1%eth0", Slots: 4}}},
		{"a host twice", "a,a", []Host{{Name: "a"}, {Name: "a"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := Parse(c.list); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestListsThatAreNone(t *testing.T) {
	for _, c := range []struct{ name, list, want string }{
		{"empty", "", `host 1 of "": the name is empty`},
		{"an empty name", "a,,b", `host 2 of "a,,b": the name is empty`},
		{"a comma at the end", "a,", "host 2"},
		{"only a number", ":2", "the name is empty"},
		{"no number behind the colon", "a:", `"" is no number of ranks; want 1 to 16384`},
		{"zero ranks", "a:0", `"0" is no number of ranks`},
		{"a sign", "a:+2", `"+2" is no number`},
		{"a word", "a:two", `"two" is no number`},
		{"far too many", "a:99999999999999999999", "is no number of ranks"},
		{"an option", "-oProxyCommand=touch x", `begins with -`},
		{"a space", "a b", "is no name of a host"},
		{"a shell's words", "a;touch x", "is no name of a host"},
		{"a substitution", "$(touch x)", "is no name of a host"},
		{"a quote", "a'", "is no name of a host"},
		{"a line end", "a\nb", "is no name of a host"},
		{"an open bracket", "[::1", "bracket"},
		{"too long", strings.Repeat("a", 256), "256 characters"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Parse(c.list)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, %v; want an error of one line with %q", got, err, c.want)
			}
		})
	}
}

func TestReadFile(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       File
	}{
		{"a list", `[{"ssh": "a", "ips": ["10.0.0.1", "fe80::1%eth0"]}, {"ssh": "b"}]`,
			File{Hosts: []Host{{Name: "a", IPs: []string{"10.0.0.1", "fe80::1%eth0"}}, {Name: "b"}}}},
		{"a list with devices", `[{"ssh": "a", "ips": ["10.0.0.1"], "rdma": [null, "rdma_en5"]}]`,
			File{Hosts: []Host{{Name: "a", IPs: []string{"10.0.0.1"}}}}},
		{"an object", `{"backend": "mpi", "envs": ["A=b c", "B"], "hosts": [{"ssh": "a", "ips": []}]}`,
			File{Hosts: []Host{{Name: "a", IPs: []string{}}}, Env: []string{"A=b c", "B"}, Backend: "mpi"}},
		{"lines", "# nodes\nn1 slots=2\n\n  n2\t# the old one\r\n::1 slots=3\n",
			File{Hosts: []Host{{Name: "n1", Slots: 2}, {Name: "n2"}, {Name: "::1", Slots: 3}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Read(write(t, c.text))
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

func TestFilesThatAreNone(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", " \n", "it is empty"},
		{"only comments", "# nothing\n", "it lists no host"},
		{"a list without hosts", "[]", "it lists no host"},
		{"an object without hosts", `{"backend": "ring"}`, `the object has no "hosts"`},
		{"an object whose hosts are null", `{"hosts": null}`, `the object has no "hosts"`},
		{"an object with an empty list", `{"hosts": []}`, "it lists no host"},
		{"broken JSON", `[{"ssh": "a"`, "want a list of"},
		{"two values", `[{"ssh": "a"}] []`, "something follows"},
		{"a word for a host", `["a"]`, "want a list of"},
		{"null for a host", `[null]`, "host 1: it is null"},
		{"what ranks read", `[["127.0.0.1:5000"]]`, "want a list of"},
		{"a misspelt name", `[{"ssh": "a", "ip": ["10.0.0.1"]}]`, `unknown field "ip"`},
		{"no name", `[{"ssh": "a"}, {"ips": ["10.0.0.1"]}]`, `host 2: "ssh": the name is empty`},
		{"an option", `[{"ssh": "-oProxyCommand=x"}]`, `host 1: "ssh": "-oProxyCommand=x" begins with -`},
		{"an address with a port", `[{"ssh": "a", "ips": ["10.0.0.1:5"]}]`, `a: "ips" holds "10.0.0.1:5"; want IP addresses without ports`},
		{"a name for an address", `[{"ssh": "a", "ips": ["b"]}]`, `"ips" holds "b"`},
		{"an unknown word", "a slot=2\n", `line 1: a: "slot=2" is not understood`},
		{"slots twice", "a\nb slots=2 slots=3\n", "line 2: b: "},
		{"slots in words", "a slots=two\n", `line 1: a: slots: "two" is no number`},
		{"an option on a line", "-v slots=1\n", `line 1: "-v" begins with -`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, c.text)
			got, err := Read(path)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %+v, %v; want an error with the path and %q", got, err, c.want)
			}
		})
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func checkHosts(t *testing.T, hosts []Host, err error) {
	t.Helper()
	if err != nil {
		return
	}
	if len(hosts) == 0 {
		t.Error("neither a host nor an error")
	}
	for _, h := range hosts {
		if h.Name == "" || h.Name[0] == '-' || strings.ContainsAny(h.Name, " \t\n\r'\"$`\\;&|<>(){}*?![]#~\x00") || h.Slots < 0 || h.Slots > mostSlots {
			t.Errorf("accepted %+v", h)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a,b", "a:2,[::1]:4", "::1", "-oProxyCommand=x", "a,,b", "[", "]:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, list string) {
		hosts, err := Parse(list)
		checkHosts(t, hosts, err)
	})
}

func FuzzParseFile(f *testing.F) {
	for _, seed := range []string{`[{"ssh": "a", "ips": ["10.0.0.1"]}]`, `{"backend": "ring", "envs": ["A=1"], "hosts": [{"ssh": "a"}]}`, "a slots=2\n# x\nb\n", "[[]]", "{"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := parseFile(data)
		checkHosts(t, file.Hosts, err)
	})
}
