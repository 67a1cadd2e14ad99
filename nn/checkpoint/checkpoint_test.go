package checkpoint_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-go/lockstep/array"
	"github.com/lockstep-go/lockstep/array/tree"
	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/group/grouptest"
	"github.com/lockstep-go/lockstep/nn/checkpoint"
)

var meta = map[string]string{"step": "7", "note": "ñ \"quoted\"\n"}

func example() tree.Tree {
	t := tree.Tree{
		{Path: "z.weight", Array: array.From([]float32{1, -2, 0.5, 3, 4, 5}, 2, 3)},
		{Path: "a \"odd\" path", Array: array.Scalar(int64(-9))},
		{Path: "empty", Array: array.Zeros(dtype.Float16, 3, 0)},
		{Path: "column", Array: array.Arange(0, 6, 1, dtype.Int32).Reshape(2, 3).T()},
	}
	for _, d := range dtype.All() {
		t = append(t, tree.Leaf{Path: "all." + d.String(), Array: array.Ones(d, 3)})
	}
	return t
}

func compare(t *testing.T, got, want tree.Tree, gotMeta map[string]string) {
	t.Helper()
	if err := got.Same(want); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		g, err := array.Bytes(t.Context(), got[i].Array)
		if err != nil {
			t.Fatal(err)
		}
		w, err := array.Bytes(t.Context(), want[i].Array)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(g, w) || !got[i].Array.Spec().Equal(want[i].Array.Spec()) {
			t.Errorf("%s is %v, want %v", want[i].Path, got[i].Array, want[i].Array)
		}
	}
	if !maps.Equal(gotMeta, meta) {
		t.Errorf("metadata %q, want %q", gotMeta, meta)
	}
}

func TestWhatIsSavedIsLoaded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new folder", "a.safetensors")
	for range 2 { // makes the file, then replaces it
		if err := checkpoint.WriteFile(t.Context(), path, example(), meta); err != nil {
			t.Fatal(err)
		}
	}
	got, gotMeta, err := checkpoint.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, got, example(), gotMeta)
}

func TestRanksSaveAndLoadTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.safetensors")
	inWorld(t, 3, func(g *group.Group) {
		if err := checkpoint.Save(t.Context(), path, example(), meta, g); err != nil {
			t.Error(err)
		}
	})
	inWorld(t, 2, func(g *group.Group) {
		got, gotMeta, err := checkpoint.Load(t.Context(), path, g)
		if err != nil {
			t.Error(err)
			return
		}
		compare(t, got, example(), gotMeta)
	})
}

func TestAllRanksLearnOfAMistake(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	inWorld(t, 2, func(g *group.Group) {
		if _, _, err := checkpoint.Load(t.Context(), missing, g); err == nil || !strings.Contains(err.Error(), "no such file") {
			t.Errorf("rank %d: %v", g.Rank(), err)
		}
		if err := checkpoint.Save(t.Context(), "/dev/null/a", example(), meta, g); err == nil || !strings.Contains(err.Error(), "/dev/null") {
			t.Errorf("rank %d: %v", g.Rank(), err)
		}
	})
}

func inWorld(t *testing.T, n int, do func(g *group.Group)) {
	t.Helper()
	var wait sync.WaitGroup
	for _, comm := range grouptest.NewWorld(n) {
		wait.Go(func() {
			g := group.NewWith(comm, group.Config{Timeout: time.Minute})
			defer g.Close()
			do(g)
		})
	}
	wait.Wait()
}

// A write that fails half way leaves the file as it was, and nothing beside it; what a
// killed one left is removed by the next.
func TestAnInterruptedWriteHarmsNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.safetensors")
	if err := checkpoint.WriteFile(t.Context(), path, example(), meta); err != nil {
		t.Fatal(err)
	}
	wrong := append(example(), tree.Leaf{Path: "empty", Array: array.Zeros(dtype.Float32, 1)})
	if err := checkpoint.WriteFile(t.Context(), path, wrong, nil); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("error is %v", err)
	}
	if err := os.WriteFile(path+".part-123", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, gotMeta, err := checkpoint.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, got, example(), gotMeta)
	if err := checkpoint.WriteFile(t.Context(), path, example(), meta); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// file is a safetensors file with the given header and so many bytes of data.
func file(header string, data int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, data)...)
}

func TestHostileFiles(t *testing.T) {
	one := func(fields string) string { return `{"a":{` + fields + `}}` }
	for name, c := range map[string]struct {
		file []byte
		says string
	}{
		"nothing":            {nil, "0 bytes"},
		"a huge header":      {append(slices.Repeat([]byte{0xff}, 8), '{', '}'), "claims 18446744073709551615"},
		"a header too long":  {append(binary.LittleEndian.AppendUint64(nil, 3), '{', '}'), "claims 3"},
		"no object":          {file(`[]`, 0), "begin with {"},
		"cut":                {file(`{"a":`, 0), ""},
		"more behind":        {file(`{}x`, 0), "after the end"},
		"a path twice":       {file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2), `"a" comes twice`},
		"a field twice":      {file(one(`"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]`), 1), `"dtype" comes twice`},
		"metadata twice":     {file(`{"__metadata__":{"x":"1","x":"2"}}`, 0), `"x" comes twice`},
		"metadata no text":   {file(`{"__metadata__":{"x":1}}`, 0), "is no text"},
		"an unknown dtype":   {file(one(`"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]`), 1), "F8_E4M3"},
		"an unknown field":   {file(one(`"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1`), 1), `"x"`},
		"no shape":           {file(one(`"dtype":"U8","data_offsets":[0,1]`), 1), "lacks"},
		"one offset":         {file(one(`"dtype":"U8","shape":[1],"data_offsets":[0]`), 1), "lacks"},
		"a negative size":    {file(one(`"dtype":"U8","shape":[-1],"data_offsets":[0,1]`), 1), "impossible shape"},
		"an overflow":        {file(one(`"dtype":"U8","shape":[4294967296,4294967296,2],"data_offsets":[0,0]`), 0), "impossible shape"},
		"hidden by a zero":   {file(one(`"dtype":"U8","shape":[0,4294967296,4294967296],"data_offsets":[0,0]`), 0), "impossible shape"},
		"a fraction":         {file(one(`"dtype":"U8","shape":[1.5],"data_offsets":[0,1]`), 1), "number 1.5"},
		"another length":     {file(one(`"dtype":"F32","shape":[2],"data_offsets":[0,4]`), 4), "has 8 bytes"},
		"backwards":          {file(one(`"dtype":"U8","shape":[1],"data_offsets":[1,0]`), 1), "from 1 to 0"},
		"behind the end":     {file(one(`"dtype":"U8","shape":[281474976710656],"data_offsets":[0,281474976710656]`), 1), "the file has 1"},
		"a gap":              {file(one(`"dtype":"U8","shape":[1],"data_offsets":[1,2]`), 2), "begins at 1"},
		"an overlap":         {file(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, 3), "begins at 1"},
		"data of none":       {file(`{}`, 1), "the file has 1"},
		"too many axes":      {file(one(`"dtype":"U8","shape":[`+strings.Repeat("1,", 40)+`1],"data_offsets":[0,1]`), 1), "41 axes"},
		"nested without end": {file(`{"a":`+strings.Repeat("[", 1<<16), 0), "want an object"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err := checkpoint.Read(bytes.NewReader(c.file), int64(len(c.file)))
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error is %v, want %q in it", err, c.says)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
				t.Errorf("%d bytes allocated for a file of %d", n, len(c.file))
			}
		})
	}
}

func TestAFileInOrderOfAnotherWriter(t *testing.T) {
	b := file(`{"b":{"data_offsets":[1,2],"shape":[],"dtype":"U8"},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}  `, 0)
	b = append(b, 5, 6)
	got, _, err := checkpoint.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil || fmt.Sprint(got[0].Path, got[1].Path) != "ba" {
		t.Fatal(got, err)
	}
	if v, err := array.Item[uint8](t.Context(), got[0].Array); v != 6 || err != nil {
		t.Errorf("b is %d, %v", v, err)
	}
}

func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	if err := checkpoint.Write(f.Context(), &b, example(), meta); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(file(`{"__metadata__":{"x":"1"},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		arrays, meta, err := checkpoint.Read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := checkpoint.Write(t.Context(), &again, arrays, meta); err != nil {
			t.Fatal(err)
		}
		back, _, err := checkpoint.Read(bytes.NewReader(again.Bytes()), int64(again.Len()))
		if err != nil || back.Same(arrays) != nil {
			t.Errorf("what was read cannot be written and read: %v", err)
		}
	})
}
