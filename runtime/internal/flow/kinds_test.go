package flow

import (
	"testing"
	"time"

	"apigen.dev/runtime/internal/request"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// TestPeaks: a scrape sees how many requests there were at most in its second and in the one before.
func TestPeaks(t *testing.T) {
	began := time.Unix(1000, 0)
	r := newReadsAndWrites(began)
	at := func(seconds float64) time.Time { return began.Add(time.Duration(seconds * float64(time.Second))) }
	write := &request.Info{Verb: "create"}
	want := func(seconds, most float64) {
		t.Helper()
		metrics := make(chan prometheus.Metric, 100)
		r.collect(metrics, at(seconds))
		close(metrics)
		for metric := range metrics {
			var read dto.Metric
			if err := metric.Write(&read); err != nil {
				t.Fatal(err)
			}
			desc := prometheus.NewDesc(peaks[1].name, peaks[1].help, []string{"request_kind"}, nil)
			if metric.Desc().String() != desc.String() || read.GetLabel()[0].GetValue() != "mutating" {
				continue
			}
			if got := read.GetGauge().GetValue(); got != most {
				t.Errorf("%g requests at most after %g s, want %g", got, seconds, most)
			}
			return
		}
		t.Error("there is no such metric")
	}
	want(0, 0)
	r.add(at(0.1), 1, write, 1)
	r.add(at(0.2), 1, write, 1)
	r.add(at(0.3), 1, write, -1)
	want(0.9, 2)
	want(1.9, 2)
	want(2.0, 1)
	want(60, 1)
	r.add(at(61), 1, write, -1)
	want(61.5, 1)
	want(63, 0)
	r.add(at(64.1), 1, write, 5)
	r.add(at(64.2), 1, write, -5)
	want(65.0, 5)
	r.add(at(64.99), 1, write, 1) // it began before, and comes late
	r.add(at(65.1), 1, write, -1)
	want(65.2, 5)
}
