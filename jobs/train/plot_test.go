package main

import (
	"bytes"
	"image/png"
	"math"
	"strings"
	"testing"
)

func TestPicturesOfLosses(t *testing.T) {
	held := number(2.25)
	for name, c := range map[string]struct {
		losses []float32
		eval   *number
		words  []string
		lacks  string
	}{
		"a curve":                   {[]float32{4, 3, 2}, nil, []string{"Opticks", "step", "loss (nats)", "of each batch"}, "held back"},
		"two curves":                {[]float32{4, 3}, &held, []string{"of each batch", "of what is held back"}, "nothing"},
		"one step":                  {[]float32{4}, nil, []string{"of each batch"}, "held back"},
		"losses that are no more":   {[]float32{4, float32(math.NaN()), float32(math.Inf(1))}, nil, []string{"of each batch"}, "NaN"},
		"no loss that can be drawn": {[]float32{float32(math.NaN())}, nil, []string{"loss (nats)"}, "of each batch"},
	} {
		t.Run(name, func(t *testing.T) {
			var curve curve
			for i, loss := range c.losses {
				curve.add(i+1, loss, c.eval)
			}
			var svg, picture bytes.Buffer
			if err := curve.drawn(&svg, "svg", "Opticks"); err != nil {
				t.Fatal(err)
			}
			for _, w := range c.words {
				if !strings.Contains(svg.String(), w) {
					t.Errorf("the picture lacks %q", w)
				}
			}
			if strings.Contains(svg.String(), c.lacks) {
				t.Errorf("the picture has %q", c.lacks)
			}
			if err := curve.drawn(&picture, "png", "Opticks"); err != nil {
				t.Fatal(err)
			}
			if img, err := png.Decode(&picture); err != nil || img.Bounds().Dx() < 400 {
				t.Errorf("the picture is %v, %v", img.Bounds(), err)
			}
		})
	}
}

func TestTicksAreRound(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{1, 500, "50 100 150 200 250 300 350 400 450 500"},
		{1.6, 4.8, "2 2.5 3 3.5 4 4.5"},
		{0, 1, "0 0.2 0.4 0.6 0.8 1"},
		{1, 20000, "2000 4000 6000 8000 10000 12000 14000 16000 18000 20000"},
		{0.002, 0.0095, "0.002 0.003 0.004 0.005 0.006 0.007 0.008 0.009"},
	} {
		var got []string
		for _, tick := range ticks(c.low, c.high) {
			got = append(got, tick.Label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v to %v: %v, want %s", c.low, c.high, got, c.want)
		}
	}
}
