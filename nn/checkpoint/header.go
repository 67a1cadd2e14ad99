package checkpoint

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/lockstep-go/lockstep/dtype"
)

// The format's own limit for the header, and what an array may have at most.
const (
	maxHeader = 100 << 20
	maxAxes   = 32
	sizeBytes = 8 // of the header's length, which comes first
)

// metadataKey is where the header holds the metadata.
const metadataKey = "__metadata__"

// names of the element types in the format.
var names = map[dtype.Type]string{
	dtype.Bool: "BOOL", dtype.Uint8: "U8", dtype.Int8: "I8", dtype.Uint16: "U16", dtype.Int16: "I16",
	dtype.Uint32: "U32", dtype.Int32: "I32", dtype.Uint64: "U64", dtype.Int64: "I64",
	dtype.Float16: "F16", dtype.BFloat16: "BF16", dtype.Float32: "F32", dtype.Float64: "F64", dtype.Complex64: "C64",
}

func typeNamed(name string) (dtype.Type, bool) {
	for t, n := range names {
		if n == name {
			return t, true
		}
	}
	return dtype.Invalid, false
}

// entry is what the header says of one array.
type entry struct {
	path       string
	dtype      dtype.Type
	shape      []int
	start, end int64 // in the data
}

// encodeHeader returns everything before the data. Arrays keep their order.
func encodeHeader(entries []entry, meta map[string]string) ([]byte, error) {
	var b bytes.Buffer
	b.Write(make([]byte, sizeBytes))
	b.WriteByte('{')
	if len(meta) > 0 {
		m, err := json.Marshal(meta) // sorts the keys
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", metadataKey, m)
	}
	for _, e := range entries {
		if b.Len() > sizeBytes+1 {
			b.WriteByte(',')
		}
		path, err := json.Marshal(e.path)
		if err != nil {
			return nil, err
		}
		shape, err := json.Marshal(append([]int{}, e.shape...))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, `%s:{"dtype":%q,"shape":%s,"data_offsets":[%d,%d]}`, path, names[e.dtype], shape, e.start, e.end)
	}
	b.WriteByte('}')
	for b.Len()%sizeBytes != 0 {
		b.WriteByte(' ') // the data begins at a multiple of 8
	}
	if n := b.Len() - sizeBytes; n > maxHeader {
		return nil, fmt.Errorf("the header has %d bytes; %d are allowed", n, maxHeader)
	}
	binary.LittleEndian.PutUint64(b.Bytes(), uint64(b.Len()-sizeBytes))
	return b.Bytes(), nil
}

// readHeader reads and checks everything before the data of a file of the given size. It
// allocates no more than the file is large.
func readHeader(r io.ReaderAt, size int64) (entries []entry, meta map[string]string, data int64, err error) {
	var length [sizeBytes]byte
	if size < sizeBytes {
		return nil, nil, 0, fmt.Errorf("%d bytes are no safetensors file", size)
	}
	if _, err := r.ReadAt(length[:], 0); err != nil {
		return nil, nil, 0, err
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader || int64(n) > size-sizeBytes {
		return nil, nil, 0, fmt.Errorf("the header claims %d bytes; the file has %d and %d are allowed", n, size, maxHeader)
	}
	header := make([]byte, n)
	if _, err := io.ReadFull(io.NewSectionReader(r, sizeBytes, int64(n)), header); err != nil {
		return nil, nil, 0, err
	}
	if entries, meta, err = decodeHeader(header); err != nil {
		return nil, nil, 0, fmt.Errorf("header: %w", err)
	}
	data = sizeBytes + int64(n)
	return entries, meta, data, checkOffsets(entries, size-data)
}

func decodeHeader(header []byte) (entries []entry, meta map[string]string, err error) {
	if len(header) == 0 || header[0] != '{' {
		return nil, nil, fmt.Errorf("it does not begin with {")
	}
	d := json.NewDecoder(bytes.NewReader(header))
	err = object(d, func(key string) error {
		if key == metadataKey {
			meta = map[string]string{}
			return object(d, func(name string) error {
				var value *string
				if err := d.Decode(&value); err != nil || value == nil {
					return fmt.Errorf("metadata %q is no text", name)
				}
				meta[name] = *value
				return nil
			})
		}
		e, err := decodeEntry(d, key)
		entries = append(entries, e)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if rest := bytes.Trim(header[d.InputOffset():], " "); len(rest) > 0 {
		return nil, nil, fmt.Errorf("%d bytes after the end", len(rest))
	}
	return entries, meta, nil
}

// decodeEntry reads what belongs to one path.
func decodeEntry(d *json.Decoder, path string) (entry, error) {
	e := entry{path: path}
	var name string
	var offsets []int64
	fields := 0
	err := object(d, func(key string) error {
		fields++
		switch key {
		case "dtype":
			return d.Decode(&name)
		case "shape":
			return d.Decode(&e.shape)
		case "data_offsets":
			return d.Decode(&offsets)
		}
		return fmt.Errorf("unknown field %q", key)
	})
	if err != nil {
		return e, fmt.Errorf("%q: %w", path, err)
	}
	var known bool
	if e.dtype, known = typeNamed(name); !known {
		return e, fmt.Errorf("%q has the dtype %q, which is not supported", path, name)
	}
	if fields != 3 || e.shape == nil || len(offsets) != 2 {
		return e, fmt.Errorf("%q lacks dtype, shape or the two data_offsets", path)
	}
	e.start, e.end = offsets[0], offsets[1]
	return e, e.check()
}

// check compares an array's shape with its bytes.
func (e entry) check() error {
	if len(e.shape) > maxAxes {
		return fmt.Errorf("%q has %d axes; %d are allowed", e.path, len(e.shape), maxAxes)
	}
	const most = 1 << 48
	bytes, empty := int64(e.dtype.Size()), false
	for _, n := range e.shape {
		if n < 0 || int64(n) > most/bytes {
			return fmt.Errorf("%q has an impossible shape %v", e.path, e.shape)
		}
		if n == 0 {
			empty = true
			continue // and an empty array hides no huge one
		}
		bytes *= int64(n)
	}
	if empty {
		bytes = 0
	}
	if e.start < 0 || e.end < e.start || e.end-e.start != bytes {
		return fmt.Errorf("%q, %v%v, has %d bytes, and lies from %d to %d", e.path, e.dtype, e.shape, bytes, e.start, e.end)
	}
	return nil
}

// checkOffsets makes sure that the arrays fill the data, without gap or overlap.
func checkOffsets(entries []entry, size int64) error {
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
	at := int64(0)
	for _, e := range sorted {
		if e.start != at {
			return fmt.Errorf("%q begins at %d of the data, where %d ends what comes before", e.path, e.start, at)
		}
		at = e.end
	}
	if at != size {
		return fmt.Errorf("the arrays have %d bytes, the file has %d for them", at, size)
	}
	return nil
}

// object reads one JSON object, calling value for each key with the decoder before its
// value. A key that comes twice is an error.
func object(d *json.Decoder, value func(key string) error) error {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("want an object, not %v (%v)", t, err)
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string) // the decoder lets only strings be keys
		if seen[key] {
			return fmt.Errorf("%q comes twice", key)
		}
		seen[key] = true
		if err := value(key); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}
