package faults

import (
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/testbed/plot"
)

//go:embed soak.html
var page string

// write writes the report: a page that needs nothing else.
func (r *record) write(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	parsed, err := template.New("").Funcs(template.FuncMap{
		"draw": func(c plot.Chart) template.HTML {
			return template.HTML(c.SVG(r.end(), r.marks)) // it escapes what it draws
		},
		"began": func(m plot.Mark) time.Duration { return m.Begin.Round(time.Second) },
		"took":  func(m plot.Mark) time.Duration { return (m.End - m.Begin).Round(time.Millisecond) },
	}).Parse(page)
	if err != nil {
		return err
	}
	return parsed.Execute(file, map[string]any{
		"Seed": r.seed, "Length": r.end().Round(time.Second), "Charts": r.charts(), "Counts": rows(r.counts),
		"Marks":    r.marks,
		"Outcomes": rows(r.meter.outcomes), "Verdicts": r.verdicts, "Troubled": &r.troubled, "Rested": &r.rested,
	})
}

type row struct {
	Name  string
	Count int
}

func rows(counts map[string]int) (all []row) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, row{name, counts[name]})
	}
	return all
}

func (r *record) end() (end time.Duration) {
	for _, i := range r.meter.intervals {
		end = max(end, i.at)
	}
	for _, m := range r.marks {
		end = max(end, m.End)
	}
	return max(end, time.Second)
}

// charts has one for each measure of the replicas, one of their requests, and two of the clients.
func (r *record) charts() (charts []plot.Chart) {
	byReplica := func(value func(s, before sample) float64) []plot.Line {
		all := []plot.Line{{Name: "replica 0"}, {Name: "replica 1"}}
		last := map[int]sample{}
		for _, s := range r.samples {
			of, before := &all[s.replica], last[s.replica]
			of.Points = append(of.Points, plot.Point{At: s.at, Value: value(s, before), Joined: before.born == s.born})
			last[s.replica] = s
		}
		return all
	}
	for _, m := range measures {
		charts = append(charts, plot.Chart{Title: m.title,
			Lines: byReplica(func(s, _ sample) float64 { return s.values[m.title] })})
	}
	charts = append(charts, plot.Chart{Title: "requests per second", Lines: byReplica(func(s, before sample) float64 {
		if before.born != s.born {
			return 0
		}
		return (s.values[requests] - before.values[requests]) / (s.at - before.at).Seconds()
	})})
	half, most, answered, failed := plot.Line{Name: "half of the requests"}, plot.Line{Name: "99 %"},
		plot.Line{Name: "answered"}, plot.Line{Name: "failed"}
	var last time.Duration
	for _, i := range r.meter.intervals {
		seconds := (i.at - last).Seconds()
		last = i.at
		add := func(to *plot.Line, value float64) {
			to.Points = append(to.Points, plot.Point{At: i.at, Value: value, Joined: true})
		}
		add(&half, float64(i.p50.Microseconds())/1000)
		add(&most, float64(i.p99.Microseconds())/1000)
		add(&answered, float64(i.answered)/seconds)
		add(&failed, float64(i.failed)/seconds)
	}
	return append(charts, plot.Chart{Title: "latency that clients see, ms", Lines: []plot.Line{half, most}},
		plot.Chart{Title: "clients' requests per second", Lines: []plot.Line{answered, failed}})
}

// The page has all that was recorded, and what comes from elsewhere is escaped.
func TestSoakReport(t *testing.T) {
	r := &record{begin: time.Now(), seed: 42, meter: newMeter(), counts: map[string]int{"halt a server": 3}}
	for i := range 10 {
		at := time.Duration(i+1) * time.Second
		r.meter.note("get: <200>", true, time.Millisecond)
		r.meter.close(at)
		values := map[string]float64{"goroutines": 100, requests: float64(i)}
		r.samples = append(r.samples, sample{at, i % 2, 0, 1, values})
	}
	r.marks = []plot.Mark{{Name: "halt a server", Begin: time.Second, End: 2 * time.Second}}
	r.verdict("round 1, histories", false, "not linearizable")
	path := filepath.Join(t.TempDir(), "new", "soak.html")
	if err := r.write(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"42", "halt a server", "get: &lt;200&gt;", "not linearizable",
		fmt.Sprintf("%d charts", len(measures)+3)} {
		if got := strings.Count(string(text), "<svg"); want == fmt.Sprintf("%d charts", got) {
			continue
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(string(text), "NaN") || strings.Contains(string(text), "Inf") {
		t.Error("the page has what is no number")
	}
}
