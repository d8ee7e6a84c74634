package meter

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// hash stands for what a metric must not show, or what is too long for a label.
func hash(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(text))
}

// server is the label of a server's identity. It is empty, as in a kube-apiserver without an identity.
const server = "apiserver_id_hash"

// Issuers has the metrics of the issuers of tokens that an AuthenticationConfiguration names. It is safe for concurrent
// use.
type Issuers struct {
	latency *prometheus.HistogramVec

	mu sync.Mutex // guards fetches
	// fetches are by the hashes of the issuers.
	fetches map[string]fetches
}

// fetches are the last readings of an issuer's keys.
type fetches struct {
	succeeded, failed time.Time // zero if there was none
	keys              string
}

var (
	fetchedDesc = prometheus.NewDesc("apiserver_authentication_jwt_authenticator_jwks_fetch_last_timestamp_seconds",
		"Unix time at which the server last read the keys of an issuer, or failed to.",
		[]string{"result", issuerLabel, server}, nil)
	keysDesc = prometheus.NewDesc("apiserver_authentication_jwt_authenticator_jwks_fetch_last_key_set_info",
		"1, with the hash of the keys that the server last read from an issuer.",
		[]string{issuerLabel, server, "hash"}, nil)
)

const issuerLabel = "jwt_issuer_hash"

// NewIssuers makes the metrics.
func NewIssuers() *Issuers {
	return &Issuers{fetches: map[string]fetches{}, latency: histograms(
		"apiserver_authentication_jwt_authenticator_latency_seconds",
		"Duration of the verification of tokens that no cache knew, by issuer and result.",
		[]float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}, "result", issuerLabel)}
}

// Verified counts a token of an issuer, whose verification ended with err. Nothing happens on nil.
func (i *Issuers) Verified(issuer string, took time.Duration, err error) {
	if i == nil {
		return
	}
	result := success
	if err != nil {
		result = failure
	}
	i.latency.WithLabelValues(result, hash([]byte(issuer))).Observe(took.Seconds())
}

// Fetched takes the outcome of a reading of an issuer's keys: their document, or an error. Nothing happens on nil.
func (i *Issuers) Fetched(issuer string, keys []byte, now time.Time, err error) {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	name := hash([]byte(issuer))
	last := i.fetches[name]
	if err != nil {
		last.failed = now
	} else {
		last.succeeded, last.keys = now, hash(keys)
	}
	i.fetches[name] = last
}

// Keep forgets the readings of the keys of all issuers but those. Nothing happens on nil.
func (i *Issuers) Keep(issuers []string) {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	kept := make([]string, len(issuers))
	for n, issuer := range issuers {
		kept[n] = hash([]byte(issuer))
	}
	for name := range i.fetches {
		if !slices.Contains(kept, name) {
			delete(i.fetches, name)
		}
	}
}

// Describe implements prometheus.Collector.
func (i *Issuers) Describe(out chan<- *prometheus.Desc) {
	i.latency.Describe(out)
	out <- fetchedDesc
	out <- keysDesc
}

// Collect implements prometheus.Collector.
func (i *Issuers) Collect(out chan<- prometheus.Metric) {
	i.latency.Collect(out)
	i.mu.Lock()
	defer i.mu.Unlock()
	for name, last := range i.fetches {
		if !last.failed.IsZero() {
			out <- gauge(fetchedDesc, unix(last.failed), failure, name, "")
		}
		if !last.succeeded.IsZero() {
			out <- gauge(fetchedDesc, unix(last.succeeded), success, name, "")
			out <- gauge(keysDesc, 1, name, "", last.keys)
		}
	}
}

func gauge(desc *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
}

func unix(t time.Time) float64 { return float64(t.UnixNano()) / float64(time.Second) }
