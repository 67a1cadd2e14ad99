package main

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/lockstep-go/lockstep/internal/program"
)

// formats are the ends of names of files that can be drawn to.
var formats = []string{".png", ".svg", ".pdf"}

const (
	panelWidth  = 12 * vg.Centimeter
	panelHeight = 9 * vg.Centimeter
)

// drawn puts the medians over sizes, latency left and bandwidth right, where
// there are both.
func drawn(w io.Writer, format string, of record) error {
	var panels []*plot.Plot
	for _, unit := range []string{micros, megabytes} {
		p, err := panel(of, unit)
		if err != nil {
			return err
		}
		if p != nil {
			panels = append(panels, p)
		}
	}
	canvas, err := draw.NewFormattedCanvas(panelWidth*vg.Length(len(panels)), panelHeight, format)
	if err != nil {
		return err
	}
	tiles := draw.Tiles{Rows: 1, Cols: len(panels), PadX: vg.Centimeter / 2, PadRight: vg.Centimeter / 4, PadTop: vg.Centimeter / 4}
	grid := [][]*plot.Plot{panels}
	for i, c := range plot.Align(grid, tiles, draw.New(canvas))[0] {
		panels[i].Draw(c)
	}
	_, err = canvas.WriteTo(w)
	return err
}

// panel draws all curves in one unit; nil when there are none.
func panel(of record, unit string) (*plot.Plot, error) {
	p := plot.New()
	p.X.Label.Text = "bytes"
	p.Y.Label.Text = map[string]string{micros: "microseconds", megabytes: "MB/s"}[unit]
	p.Title.Text = map[string]string{micros: "Latency", megabytes: "Bandwidth"}[unit] + " on " + of.Backend + ", median"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(byteTicks), plot.TickerFunc(figureTicks)
	p.Legend.Left, p.Legend.Top = true, true
	p.Add(plotter.NewGrid())
	curves := curvesOf(of, unit)
	for i, c := range curves {
		line, points, err := plotter.NewLinePoints(c.points)
		if err != nil {
			return nil, err
		}
		line.Color, points.Color, points.Shape = plotutil.Color(i), plotutil.Color(i), plotutil.Shape(i)
		p.Add(line, points)
		p.Legend.Add(c.name, line, points)
	}
	if len(curves) == 0 {
		return nil, nil
	}
	return p, nil
}

// curve is one operation with one type on some ranks.
type curve struct {
	name   string
	points plotter.XYs
}

// curvesOf takes rows together that differ in nothing but their size, in the order in
// which they were measured.
func curvesOf(of record, unit string) (curves []curve) {
	for _, r := range of.Results {
		if r.Unit != unit || r.Bytes == 0 {
			continue
		}
		name := fmt.Sprintf("%s %s, %s", r.Operation, r.Dtype, program.Ranks(r.Ranks))
		if len(curves) == 0 || curves[len(curves)-1].name != name {
			curves = append(curves, curve{name: name})
		}
		last := &curves[len(curves)-1]
		last.points = append(last.points, plotter.XY{X: float64(r.Bytes), Y: r.P50})
	}
	return curves
}

// byteTicks marks the powers of two, and writes to every few of them how many bytes
// they are.
func byteTicks(low, high float64) (ticks []plot.Tick) {
	first, last := int(math.Floor(math.Log2(low))), int(math.Ceil(math.Log2(high)))
	every := max(1, (last-first+5)/6)
	for e := first; e <= last; e++ {
		t := plot.Tick{Value: math.Exp2(float64(e))}
		if (e-first)%every == 0 {
			t.Label = inBytes(1 << e)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// figureTicks marks 1 to 9 times the powers of ten, and writes out 1, 2 and 5, or over
// more than three powers 1 alone.
func figureTicks(low, high float64) (ticks []plot.Tick) {
	for power := math.Pow10(int(math.Floor(math.Log10(low)))); power <= high; power *= 10 {
		for i := range 9 {
			t := plot.Tick{Value: float64(i+1) * power}
			if i == 0 || high < 1000*low && (i == 1 || i == 4) {
				t.Label = strconv.FormatFloat(t.Value, 'f', -1, 64)
			}
			if low <= t.Value && t.Value <= high {
				ticks = append(ticks, t)
			}
		}
	}
	return ticks
}

// inBytes writes a size as -sizes reads it.
func inBytes(n int) string {
	for _, u := range []int{2, 1, 0} {
		if n >= units[u].bytes && n%units[u].bytes == 0 {
			return fmt.Sprint(n/units[u].bytes, " ", units[u].name)
		}
	}
	return fmt.Sprint(n)
}
