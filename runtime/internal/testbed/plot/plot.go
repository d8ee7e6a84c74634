// Package plot draws lines over time in SVG, for the pages and pictures that tests make.
//
// It imports no other package of apigen.
package plot

import (
	"fmt"
	"html"
	"math"
	"strings"
	"time"
)

// Chart is lines over time, from zero upwards. Its texts may be anything: they are escaped.
type Chart struct {
	Title string
	Lines []Line
	// Width and Height are those of the whole chart, in the units of the picture; 0 means 960 and 200.
	Width, Height int
	// Label writes a value beside a line of the grid; nil writes four digits.
	Label func(value float64) string
	// Legend is how many lines have their names below the chart, the first ones. 0 names two beside the title.
	Legend int
}

// Line is a line of a chart.
type Line struct {
	Name   string
	Points []Point
}

// Point is a point of a line.
type Point struct {
	At    time.Duration
	Value float64
	// Joined: the line goes on from the point before. Otherwise it begins anew.
	Joined bool
}

// Mark is a band in a chart: red with its name as a tooltip, or green if it has none.
type Mark struct {
	Name       string
	Begin, End time.Duration
}

// The edges around what is drawn.
const left, right, top, below = 60, 10, 30, 24

// legendLine is the height of a name in the legend.
const legendLine = 14

var colors = []string{"#1f6feb", "#d1571b", "#2da44e", "#8250df", "#bf8700", "#cf222e", "#0a7ea4", "#6e7781"}

// SVG draws the chart up to an end as an element of SVG, which may stand in a page or inside of another element.
func (c Chart) SVG(end time.Duration, marks []Mark) string {
	if c.Width == 0 {
		c.Width, c.Height = 960, 200
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" width="%[1]d" height="%d" role="img" font-family="sans-serif" `+
		`font-size="11">`, c.Width, c.Height, c.Height)
	fmt.Fprintf(&b, `<text x="%d" y="16" font-size="14" font-weight="bold">%s</text>`, left, html.EscapeString(c.Title))
	f := c.frame(end)
	for _, m := range marks {
		color := "#f7c6c5"
		if m.Name == "" {
			color = "#d3f0d8"
		}
		fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"><title>%s</title></rect>`,
			f.x(m.Begin), top, max(1, f.x(m.End)-f.x(m.Begin)), f.bottom-top, color, html.EscapeString(m.Name))
	}
	f.grid(&b, c.Label)
	for i, l := range c.Lines {
		color := colors[i%len(colors)]
		switch {
		case c.Legend == 0 && i < 2:
			fmt.Fprintf(&b, `<text x="%d" y="16" fill="%s">%s</text>`, c.Width/2+i*150, color,
				html.EscapeString(l.Name))
		case i < c.Legend:
			fmt.Fprintf(&b, `<text x="%d" y="%d" fill="%s">%s</text>`, left, f.bottom+below+legendLine*(i+1)-4, color,
				html.EscapeString(l.Name))
		}
		fmt.Fprintf(&b, `<path d="%s" stroke="%s" stroke-width="1.5" fill="none"/>`, l.path(f), color)
	}
	b.WriteString("</svg>")
	return b.String()
}

// frame is where times and values stand.
type frame struct {
	end                  time.Duration
	most, step           float64 // the value of the highest line of the grid, and the distance of two
	width, bottom, ticks int
}

func (c Chart) frame(end time.Duration) frame {
	f := frame{end: end, width: c.Width, bottom: c.Height - below - legendLine*c.Legend, ticks: max(2, c.Width/160)}
	for _, l := range c.Lines {
		for _, p := range l.Points {
			f.most = max(f.most, p.Value)
		}
	}
	f.step = distance(f.most)
	f.most = f.step * math.Ceil(max(f.most, f.step)/f.step)
	return f
}

func (f frame) x(at time.Duration) float64 {
	return left + float64(f.width-left-right)*at.Seconds()/f.end.Seconds()
}

func (f frame) y(value float64) float64 {
	return float64(f.bottom) - float64(f.bottom-top)*value/f.most
}

// grid draws the lines of values, and writes values and times.
func (f frame) grid(b *strings.Builder, label func(float64) string) {
	if label == nil {
		label = func(value float64) string { return fmt.Sprintf("%.6g", value) }
	}
	for n := range int(math.Round(f.most/f.step)) + 1 {
		value := float64(n) * f.step
		fmt.Fprintf(b, `<path d="M%d %.1fH%d" stroke="#ccc" fill="none"/>`, left, f.y(value), f.width-right)
		fmt.Fprintf(b, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`, left-6, f.y(value)+4,
			html.EscapeString(label(value)))
	}
	for i := range f.ticks {
		at := f.end * time.Duration(i) / time.Duration(f.ticks-1)
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`, min(f.x(at), float64(f.width-24)),
			f.bottom+16, at.Round(time.Second))
	}
}

// path is the line as the path of an SVG.
func (l Line) path(f frame) string {
	var b strings.Builder
	for i, p := range l.Points {
		verb := "M"
		if p.Joined && i > 0 {
			verb = "L"
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", verb, f.x(p.At), f.y(p.Value))
	}
	return b.String()
}

// distance is that of a grid's lines: 1, 2 or 5 of a power of ten, so that two to five lines are below a maximum.
func distance(most float64) float64 {
	if most <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(most/2)))
	for _, n := range []float64{5, 2} {
		if n*power <= most/2 {
			return n * power
		}
	}
	return power
}
