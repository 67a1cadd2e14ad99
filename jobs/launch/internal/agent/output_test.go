package agent

import (
	"bytes"
	"encoding/gob"
	"io"
	"os"
	"testing"
)

func TestAnOutputEndsThoughAStrangerHoldsItsPipe(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	var reports bytes.Buffer
	o := &output{pipe: read, err: true}
	io.WriteString(write, "one\ntwo")
	o.end()
	o.pass(3, newTalk(&reports))
	reports.Next(len(Greeting))
	var r Report
	if err := gob.NewDecoder(&reports).Decode(&r); err != nil || r.Kind != Output || r.Rank != 3 || !r.Err || string(r.Data) != "one\ntwo" {
		t.Errorf("got %+v, %v", r, err)
	}
}
