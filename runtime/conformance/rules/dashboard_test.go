package rules

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/testbed/plot"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
)

// panel is one of the dashboard in docs/observability.
type panel struct {
	Title       string
	FieldConfig struct{ Defaults struct{ Unit string } }
	Targets     []panelTarget
}

type panelTarget struct{ Expr, LegendFormat string }

// query is the target's query about the job of the samples.
func (p panelTarget) query() string { return strings.ReplaceAll(p.Expr, "$job", target["job"]) }

var legendLabel = regexp.MustCompile(`{{ *(\w+) *}}`)

// name is that of a line which the target's query finds.
func (p panelTarget) name(of labels.Labels) string {
	return legendLabel.ReplaceAllStringFunc(p.LegendFormat, func(label string) string {
		return of.Get(legendLabel.FindStringSubmatch(label)[1])
	})
}

func dashboard(t *testing.T) []panel {
	t.Helper()
	var read struct{ Panels []panel }
	text, err := os.ReadFile(docs + "observability/dashboard.json")
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if err != nil || len(read.Panels) == 0 {
		t.Fatal("there is no dashboard", err)
	}
	return read.Panels
}

// The size of a panel in the picture of the dashboard, how many stand beside each other, and of how many lines each is:
// those that get the highest.
const (
	panelWidth, panelHeight = 400, 220
	panelGap                = 12
	panelsInRow             = 3
	panelLines              = 4
)

// picture draws panels from a time on. Rates are those of a window, in place of the five minutes of a real dashboard.
func (d *database) picture(panels []panel, from time.Time, step, window time.Duration, marks []plot.Mark) string {
	d.Helper()
	rows := (len(panels) + panelsInRow - 1) / panelsInRow
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d"><rect width="100%%" height="100%%" `+
		"fill=\"#fff\"/>\n", panelWidth*panelsInRow, (panelHeight+panelGap)*rows)
	for i, p := range panels {
		chart := plot.Chart{Title: p.Title, Width: panelWidth, Height: panelHeight, Legend: panelLines,
			Label: p.label(), Lines: d.lines(p, from, step, window)}
		fmt.Fprintf(&b, "<g transform=\"translate(%d %d)\">%s</g>\n", i%panelsInRow*panelWidth,
			i/panelsInRow*(panelHeight+panelGap), chart.SVG(d.now.Sub(from), marks))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// lines returns what the queries of a panel find, the highest first.
func (d *database) lines(p panel, from time.Time, step, window time.Duration) []plot.Line {
	d.Helper()
	var all []plot.Line
	highest := map[string]float64{}
	for _, target := range p.Targets {
		query := strings.ReplaceAll(target.query(), "[5m]", "["+window.String()+"]")
		found, err := d.queryRange(query, from, step)
		if err != nil {
			d.Errorf("panel %q: %v\n%s", p.Title, err, query)
		}
		for _, series := range found {
			line := lineOf(target.name(series.Metric), series, from, step)
			for _, point := range line.Points {
				highest[line.Name] = max(highest[line.Name], point.Value)
			}
			all = append(all, line)
		}
	}
	slices.SortStableFunc(all, func(a, b plot.Line) int { return int(sign(highest[b.Name] - highest[a.Name])) })
	return all[:min(len(all), panelLines)]
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

func lineOf(name string, series promql.Series, from time.Time, step time.Duration) plot.Line {
	line := plot.Line{Name: name}
	last := int64(0)
	for _, p := range series.Floats {
		line.Points = append(line.Points, plot.Point{
			At: time.UnixMilli(p.T).Sub(from), Value: p.F, Joined: p.T-last <= step.Milliseconds(),
		})
		last = p.T
	}
	return line
}

// label writes a value in the panel's unit.
func (p panel) label() func(value float64) string {
	switch p.FieldConfig.Defaults.Unit {
	case "s":
		return func(v float64) string {
			return time.Duration(v * float64(time.Second)).Round(10 * time.Microsecond).String()
		}
	case "percentunit":
		return func(v float64) string { return fmt.Sprintf("%.6g %%", 100*v) }
	case "bytes":
		return func(v float64) string { return fmt.Sprintf("%.6g MB", v/1e6) }
	case "Bps":
		return func(v float64) string { return fmt.Sprintf("%.6g MB/s", v/1e6) }
	case "reqps":
		return func(v float64) string { return fmt.Sprintf("%.6g /s", v) }
	}
	return nil
}

var drawTo = flag.String("draw", "", "draw the dashboard to this file, of a server that is under load for two minutes")

// TestPicture draws the dashboard: with -draw of a server under load, and else of one that has troubles.
func TestPicture(t *testing.T) {
	panels := dashboard(t)
	if *drawTo != "" {
		d, from, marks := underLoad(t)
		picture := d.picture(panels, from, 2*time.Second, 10*time.Second, marks)
		if err := os.WriteFile(*drawTo, []byte(picture), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	d := troubled(t)
	picture := d.picture(panels, d.now.Add(-(rounds-1)*interval), interval, 2*interval, nil)
	if got := strings.Count(picture, "<svg viewBox"); got != len(panels) {
		t.Errorf("%d charts of %d panels", got, len(panels))
	}
	for _, p := range panels {
		if len(d.lines(p, d.now.Add(-interval), interval, 2*interval)) == 0 {
			t.Errorf("the panel %q is empty", p.Title)
		}
	}
}
