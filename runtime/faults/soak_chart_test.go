package faults

import (
	"fmt"
	"html"
	"math"
	"strings"
	"time"
)

// chart is lines over time, from zero upwards.
type chart struct {
	title  string
	series []series
}

type series struct {
	name   string
	points []point
}

// point is joined with the one before it, or begins a line.
type point struct {
	at     time.Duration
	value  float64
	joined bool
}

const (
	width, height           = 960, 200
	left, right, top, below = 60, 10, 30, 24
)

var colors = []string{"#1f6feb", "#d1571b"}

// svg draws a chart up to an end. Marks are bands: troubles are red and have their names as tooltips, rests are green.
func (c chart) svg(end time.Duration, marks []mark) string {
	most := 0.0
	for _, s := range c.series {
		for _, p := range s.points {
			most = max(most, p.value)
		}
	}
	step := round(most)
	most = step * math.Ceil(max(most, step)/step)
	x := func(at time.Duration) float64 { return left + (width-left-right)*at.Seconds()/end.Seconds() }
	y := func(value float64) float64 { return height - below - (height-top-below)*value/most }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" font-family="sans-serif" font-size="11">`, width, height)
	fmt.Fprintf(&b, `<text x="%d" y="16" font-size="14" font-weight="bold">%s</text>`, left, html.EscapeString(c.title))
	for _, m := range marks {
		color := "#f7c6c5"
		if m.Name == "" {
			color = "#d3f0d8"
		}
		fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"><title>%s</title></rect>`,
			x(m.begin), top, max(1, x(m.end)-x(m.begin)), height-top-below, color, html.EscapeString(m.Name))
	}
	for value := 0.0; value <= most; value += step {
		fmt.Fprintf(&b, `<path d="M%d %.1fH%d" stroke="#ccc" fill="none"/>`, left, y(value), width-right)
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end">%.4g</text>`, left-6, y(value)+4, value)
	}
	for i := range 6 {
		at := end * time.Duration(i) / 5
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`, min(x(at), width-24), height-8,
			at.Round(time.Second))
	}
	for i, s := range c.series {
		color := colors[i%len(colors)]
		fmt.Fprintf(&b, `<text x="%d" y="16" fill="%s">%s</text>`, width/2+i*150, color, html.EscapeString(s.name))
		fmt.Fprintf(&b, `<path d="%s" stroke="%s" stroke-width="1.5" fill="none"/>`, s.line(x, y), color)
	}
	b.WriteString("</svg>")
	return b.String()
}

// line is the path of a series.
func (s series) line(x func(time.Duration) float64, y func(float64) float64) string {
	var b strings.Builder
	for i, p := range s.points {
		verb := "M"
		if p.joined && i > 0 {
			verb = "L"
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", verb, x(p.at), y(p.value))
	}
	return b.String()
}

// round is the distance of a grid's lines: 1, 2 or 5 of a power of ten, so that two to five lines are below a maximum.
func round(most float64) float64 {
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
