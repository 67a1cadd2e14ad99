package hostlist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"

	"github.com/lockstep-go/lockstep/internal/env"
)

// File is what a host file says.
type File struct {
	Hosts   []Host
	Env     []string // NAME=value or NAME, for every rank
	Backend string   // empty if nothing was said
}

// maxFile is far more than the hosts of any job take.
const maxFile = 16 << 20

// Read reads a host file: MLX's JSON, either a list of hosts
//
//	[{"ssh": "a", "ips": ["10.0.0.1"]}, {"ssh": "b", "ips": ["10.0.0.2"]}]
//
// or an object with such a list as "hosts" and, if wanted, "envs" and "backend"; or
// one host a line with "slots=N" behind it, and comments from # on. In JSON a host
// may stand several times, once for each of its ranks.
func Read(path string) (File, error) {
	data, err := env.ReadFile(path, maxFile)
	if err != nil {
		return File{}, err
	}
	file, err := parseFile(data)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

func parseFile(data []byte) (file File, err error) {
	switch first := bytes.TrimSpace(data); {
	case len(first) == 0:
		return file, errors.New("it is empty; want hosts, in JSON or one a line")
	case first[0] == '[' || first[0] == '{':
		file, err = parseJSON(first)
	default:
		file.Hosts, err = parseLines(string(data))
	}
	if err == nil && len(file.Hosts) == 0 {
		err = errors.New("it lists no host")
	}
	return file, err
}

// entry is a host in MLX's JSON. RDMA devices are for networks that MLX alone uses.
type entry struct {
	SSH  string   `json:"ssh"`
	IPs  []string `json:"ips"`
	RDMA any      `json:"rdma"`
}

type object struct {
	Backend string    `json:"backend"`
	Envs    []string  `json:"envs"`
	Hosts   *[]*entry `json:"hosts"`
}

func parseJSON(data []byte) (file File, err error) {
	var o object
	if data[0] == '[' {
		err = decode(data, &o.Hosts)
	} else {
		err = decode(data, &o)
	}
	switch {
	case err != nil:
		return file, fmt.Errorf(`%w; want a list of {"ssh": host, "ips": [address, ...]}, or an object with that list as "hosts"`, err)
	case o.Hosts == nil:
		return file, errors.New(`the object has no "hosts"`)
	}
	file.Env, file.Backend = o.Envs, o.Backend
	for i, e := range *o.Hosts {
		h, err := e.host()
		if err != nil {
			return file, fmt.Errorf("host %d: %w", i+1, err)
		}
		file.Hosts = append(file.Hosts, h)
	}
	return file, nil
}

// decode reads one value and refuses what is not known, as a name misspelt would
// otherwise be overlooked.
func decode(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows the hosts")
	}
	return nil
}

func (e *entry) host() (Host, error) {
	if e == nil {
		return Host{}, errors.New(`it is null`)
	}
	if err := CheckName(e.SSH); err != nil {
		return Host{}, fmt.Errorf(`"ssh": %w`, err)
	}
	for _, ip := range e.IPs {
		if _, err := netip.ParseAddr(ip); err != nil {
			return Host{}, fmt.Errorf(`%s: "ips" holds %q; want IP addresses without ports`, e.SSH, ip)
		}
	}
	return Host{Name: e.SSH, IPs: e.IPs}, nil
}

func parseLines(text string) ([]Host, error) {
	var hosts []Host
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		h, err := parseLine(words)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		hosts = append(hosts, h)
	}
	return hosts, nil
}

func parseLine(words []string) (h Host, err error) {
	h.Name = words[0]
	if err := CheckName(h.Name); err != nil {
		return h, err
	}
	for _, word := range words[1:] {
		slots, ok := strings.CutPrefix(word, "slots=")
		if !ok || h.Slots != 0 {
			return h, fmt.Errorf("%s: %q is not understood; want slots=N once", h.Name, word)
		}
		if h.Slots, err = parseSlots(slots); err != nil {
			return h, fmt.Errorf("%s: slots: %w", h.Name, err)
		}
	}
	return h, nil
}
