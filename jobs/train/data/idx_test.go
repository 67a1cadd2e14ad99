package data

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// idx spells a file out: the type byte, the sizes, the elements.
func idx(elem byte, sizes []uint32, elements ...byte) []byte {
	file := []byte{0, 0, elem, byte(len(sizes))}
	for _, n := range sizes {
		file = binary.BigEndian.AppendUint32(file, n)
	}
	return append(file, elements...)
}

func TestReadIDX(t *testing.T) {
	cases := []struct {
		name  string
		file  []byte
		shape []int
		data  []byte
	}{
		{"labels", idx(8, []uint32{3}, 7, 0, 255), []int{3}, []byte{7, 0, 255}},
		{"images", idx(8, []uint32{2, 1, 2}, 1, 2, 3, 4), []int{2, 1, 2}, []byte{1, 2, 3, 4}},
		{"no elements", idx(8, []uint32{0, 28, 28}), []int{0, 28, 28}, nil},
		{"elements that look like gzip", idx(8, []uint32{2}, 0x1f, 0x8b), []int{2}, []byte{0x1f, 0x8b}},
	}
	for _, c := range cases {
		for how, file := range map[string][]byte{"plain": c.file, "gzip": zipped(t, c.file)} {
			t.Run(c.name+" "+how, func(t *testing.T) {
				got, err := ReadIDX(bytes.NewReader(file))
				if err != nil || !slices.Equal(got.Shape, c.shape) || !bytes.Equal(got.Data, c.data) {
					t.Errorf("shape %v, data %v, error %v; want %v, %v", got.Shape, got.Data, err, c.shape, c.data)
				}
			})
		}
	}
}

func TestReadIDXRefuses(t *testing.T) {
	good := idx(8, []uint32{2, 2}, 1, 2, 3, 4)
	damaged := zipped(t, good)
	damaged[len(damaged)-5] ^= 1 // within the check sum
	cases := []struct {
		name string
		file []byte
		want string
	}{
		{"an empty file", nil, "idx: magic number: EOF"},
		{"half a magic number", good[:3], "idx: magic number: unexpected EOF"},
		{"a text", []byte("images"), "idx: starts with 69 6d 61 67, not with 00 00: not an IDX file"},
		{"float elements", idx(0x0d, []uint32{1}, 0, 0, 0, 0), "idx: element type 0x0d: only 0x08, unsigned bytes, is read"},
		{"no dimension", idx(8, nil, 1), "idx: 0 dimensions: 1 to 4 are allowed"},
		{"five dimensions", idx(8, []uint32{1, 1, 1, 1, 1}, 1), "idx: 5 dimensions"},
		{"a header cut short", good[:9], "idx: 2 sizes: unexpected EOF"},
		{"a missing element", good[:len(good)-1], "idx: ends after 3 of the 4 elements that shape [2 2] announces"},
		{"a missing element in gzip", zipped(t, good[:len(good)-1]), "idx: ends after 3 of the 4 elements"},
		{"an element too many", append(slices.Clone(good), 5), "idx: more bytes follow the 4 elements"},
		{"gzip cut short", zipped(t, good)[:20], "idx: "},
		{"gzip with a wrong sum", damaged, "idx: after 4 of 4 elements: gzip: invalid checksum"},
		{"only a gzip magic", []byte{0x1f, 0x8b}, "idx: gzip: "},
		{"a huge size", idx(8, []uint32{1<<32 - 1}), "idx: sizes [4294967295]: at most 1073741824"},
		{"sizes whose product overflows", idx(8, []uint32{1 << 30, 1 << 30, 1 << 30, 1 << 30}), "at most 1073741824"},
		{"a huge size beside a zero", idx(8, []uint32{0, 1<<32 - 1}), "at most 1073741824"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadIDX(bytes.NewReader(c.file))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, c.want)
			}
		})
	}
}

func TestReadIDXAllocatesByWhatArrives(t *testing.T) {
	file := idx(8, []uint32{1 << 30}, 1, 2, 3)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := ReadIDX(bytes.NewReader(file))
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; err == nil || grown > 1<<20 {
		t.Errorf("a header of 1 GiB before 3 bytes: allocated %d bytes, error %v", grown, err)
	}
}

func FuzzReadIDX(f *testing.F) {
	f.Add(idx(8, []uint32{2, 2}, 1, 2, 3, 4))
	f.Add(idx(8, []uint32{1 << 30}, 1))
	f.Add(zipped(f, idx(8, []uint32{3}, 1, 2, 3)))
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := ReadIDX(bytes.NewReader(file))
		if err != nil {
			return
		}
		size := 1
		for _, n := range got.Shape {
			size *= n
		}
		if size != len(got.Data) {
			t.Errorf("shape %v with %d elements", got.Shape, len(got.Data))
		}
	})
}
