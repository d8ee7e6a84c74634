// Package meter measures how a server authenticates, authorizes and admits requests, in metrics with kube-apiserver's
// names, labels and buckets. Each type is the collector of some metrics, and has methods that count.
//
// It may know packages admission and auth.
package meter

import "github.com/prometheus/client_golang/prometheus"

// Shared returns the collector of a type among those of a server, so that several features count in the same metrics.
// If there is none, it makes one and adds it.
func Shared[C prometheus.Collector](all *[]prometheus.Collector, newCollector func() C) C {
	for _, one := range *all {
		if found, ok := one.(C); ok {
			return found
		}
	}
	made := newCollector()
	*all = append(*all, made)
	return made
}

// collectors is a collector of several metrics.
type collectors []prometheus.Collector

// Describe implements prometheus.Collector.
func (c collectors) Describe(out chan<- *prometheus.Desc) {
	for _, one := range c {
		one.Describe(out)
	}
}

// Collect implements prometheus.Collector.
func (c collectors) Collect(out chan<- prometheus.Metric) {
	for _, one := range c {
		one.Collect(out)
	}
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}
