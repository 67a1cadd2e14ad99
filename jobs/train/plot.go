package main

import (
	"io"
	"math"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// formats are the ends of names of files that can be drawn to.
var formats = []string{".png", ".svg", ".pdf"}

const (
	pictureWidth  = 14 * vg.Centimeter
	pictureHeight = 9 * vg.Centimeter
)

// curve is how the losses went. Those that are infinite or not a number are left out.
type curve struct{ learnt, held plotter.XYs }

func (c *curve) add(step int, loss float32, eval *number) {
	if finite(loss) {
		c.learnt = append(c.learnt, plotter.XY{X: float64(step), Y: float64(loss)})
	}
	if eval != nil && finite(float32(*eval)) {
		c.held = append(c.held, plotter.XY{X: float64(step), Y: float64(*eval)})
	}
}

// draw finishes the picture. Where nothing was learnt an earlier one stays.
func (r *report) draw() error {
	if r.idle {
		return nil
	}
	return r.picture.Write(func(w io.Writer) error { return r.curve.drawn(w, filepath.Ext(r.options.plot)[1:], r.name) })
}

func (c *curve) drawn(w io.Writer, format, title string) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, "step", "loss (nats)"
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(ticks), plot.TickerFunc(ticks)
	p.Legend.Top = true
	p.Add(plotter.NewGrid())
	if len(c.learnt) > 0 {
		line, err := plotter.NewLine(c.learnt)
		if err != nil {
			return err
		}
		line.Color = plotutil.Color(2)
		p.Add(line)
		p.Legend.Add("of each batch", line)
	}
	if len(c.held) > 0 {
		held, points, err := plotter.NewLinePoints(c.held)
		if err != nil {
			return err
		}
		held.Color, points.Color, points.Shape = plotutil.Color(0), plotutil.Color(0), draw.CircleGlyph{}
		held.Width = vg.Points(1.5)
		p.Add(held, points)
		p.Legend.Add("of what is held back", held, points)
	}
	canvas, err := draw.NewFormattedCanvas(pictureWidth, pictureHeight, format)
	if err != nil {
		return err
	}
	p.Draw(draw.Crop(draw.New(canvas), 0, -vg.Centimeter/2, 0, -vg.Centimeter/4))
	_, err = canvas.WriteTo(w)
	return err
}

// ticks are four to ten round numbers.
func ticks(low, high float64) (all []plot.Tick) {
	distance := math.Pow10(int(math.Floor(math.Log10(high-low)))) / 5
	for _, factor := range []float64{2.5, 2, 2} { // 0.2, 0.5, 1 and 2 times a power of ten
		if (high-low)/distance > 10 {
			distance *= factor
		}
	}
	for i := math.Ceil(low / distance); i*distance <= high; i++ {
		all = append(all, plot.Tick{Value: i * distance, Label: strconv.FormatFloat(i*distance, 'g', 6, 64)})
	}
	return all
}
