// Package auditlog is the audit of a server as a server.Feature: the flags of kube-apiserver, and what they name. A
// main that names Feature links it; no other does.
//
// It may know packages server, trail, backend, policy and kubeconfig.
package auditlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"apigen.dev/runtime/internal/audit/backend"
	"apigen.dev/runtime/internal/audit/policy"
	"apigen.dev/runtime/internal/audit/trail"
	"apigen.dev/runtime/internal/host/kubeconfig"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	"gopkg.in/natefinch/lumberjack.v2"
)

// Feature records requests by the policy in --audit-policy-file, into the log file of --audit-log-path, the webhook of
// --audit-webhook-config-file, or both. Without a policy, or without one of the two, it records nothing, as
// kube-apiserver does. It belongs to one Program.
type Feature struct{ flags flags }

// Groups implements server.Feature: audit has no kinds that a server serves.
func (a *Feature) Groups() []registry.Group { return nil }

// AddFlags implements server.Feature.
func (a *Feature) AddFlags(set *pflag.FlagSet) { a.flags.add(set) }

// Configure implements server.Feature. It reads the policy and the configuration of the webhook, and opens the log
// file. A hook delivers batches, and flushes them after the last request.
func (a *Feature) Configure(_ context.Context, config *server.Config) (server.Contribution, error) {
	f, log := &a.flags, config.Log
	if log == nil {
		log = slog.Default()
	}
	if err := f.check(); err != nil {
		return server.Contribution{}, err
	}
	if f.policy == "" {
		if f.log.path != "" || f.webhook.config != "" {
			log.Warn("nothing is audited without --audit-policy-file")
		}
		return server.Contribution{}, nil
	}
	rules, err := policy.ReadFile(f.policy)
	if err != nil {
		return server.Contribution{}, fmt.Errorf("--audit-policy-file: loading audit policy file: %w", err)
	}
	failures := backend.NewFailures(log)
	var backends []*backend.Backend
	var closing io.Closer
	if f.log.path != "" {
		out, err := f.log.open()
		if err != nil {
			return server.Contribution{}, fmt.Errorf("--audit-log-path: %w", err)
		}
		closing = out
		backends = append(backends, backend.New(f.log.batch.config("log", 0), f.log.target(out), failures))
	}
	if f.webhook.config != "" {
		target, err := f.webhook.target(log)
		if err != nil {
			return server.Contribution{}, fmt.Errorf("--audit-webhook-config-file: %w", err)
		}
		backends = append(backends, backend.New(f.webhook.batch.config("webhook", f.webhook.backoff), target, failures))
	}
	if len(backends) == 0 {
		return server.Contribution{}, nil
	}
	var sinks trail.Sinks
	for _, b := range backends {
		sinks = append(sinks, b)
	}
	auditor := &trail.Auditor{Policy: policy.NewEvaluator(rules), Sink: sinks}
	return server.Contribution{
		Auditor: auditor, Metrics: []prometheus.Collector{collector{auditor, failures}},
		Hooks: []server.Hook{hook(backends, closing)},
	}, nil
}

// hook runs the backends until the server has answered its last request, and closes the log file.
func hook(backends []*backend.Backend, closing io.Closer) server.Hook {
	return server.Hook{Name: "audit", Run: func(ctx context.Context) error {
		done := make(chan error, len(backends))
		for _, b := range backends {
			go func() { done <- b.Run(ctx) }()
		}
		var errs []error
		for range backends {
			errs = append(errs, <-done)
		}
		if closing != nil {
			errs = append(errs, closing.Close())
		}
		return errors.Join(errs...)
	}}
}

// open opens the log file, which it creates with its directory.
func (l *logFlags) open() (io.WriteCloser, error) {
	if l.path == "-" {
		return stdout{}, nil
	}
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil || l.maxSize == 0 {
		return file, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	return &lumberjack.Logger{
		Filename: l.path, MaxAge: l.maxAge, MaxBackups: l.maxBackup, MaxSize: l.maxSize, Compress: l.compress,
	}, nil
}

// stdout is standard output, which stays open.
type stdout struct{}

func (stdout) Write(p []byte) (int, error) { return os.Stdout.Write(p) }

func (stdout) Close() error { return nil }

func (l *logFlags) target(out io.Writer) backend.Target {
	var lines backend.Target = backend.Lines{Out: out}
	if l.format == legacyFormat {
		lines = backend.Legacy{Out: out}
	}
	if backend.Mode(l.batch.mode) == backend.Blocking {
		return backend.NewGathered(lines, out)
	}
	return lines
}

// maxAnswer bounds the answers of the webhook, of which the backend reads little.
const maxAnswer = 1 << 20

func (w *webhookFlags) target(log *slog.Logger) (backend.Target, error) {
	config, err := kubeconfig.Read(w.config)
	if err != nil {
		return nil, err
	}
	client, err := config.Client(log, maxAnswer)
	if err != nil {
		return nil, err
	}
	return backend.Webhook{Client: client, URL: config.Server.String()}, nil
}

// collector collects the metrics of audit under kube-apiserver's names.
type collector struct {
	auditor  *trail.Auditor
	failures *backend.Failures
}

var (
	eventsDesc = prometheus.NewDesc("apiserver_audit_event_total",
		"Audit events that the server made.", nil, nil)
	errorsDesc = prometheus.NewDesc("apiserver_audit_error_total",
		"Audit events that were lost, by the plugin that lost them.", []string{"plugin"}, nil)
	levelsDesc = prometheus.NewDesc("apiserver_audit_level_total",
		"Requests by the level at which the policy has them audited.", []string{"level"}, nil)
	rejectedDesc = prometheus.NewDesc("apiserver_audit_requests_rejected_total",
		"Requests that the server rejected because their audit event was lost.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c collector) Describe(out chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{eventsDesc, errorsDesc, levelsDesc, rejectedDesc} {
		out <- desc
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(out chan<- prometheus.Metric) {
	count := func(desc *prometheus.Desc, value uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(value), labels...)
	}
	counts := &c.auditor.Counts
	count(eventsDesc, counts.Events.Load())
	count(rejectedDesc, counts.Rejected.Load())
	for i, level := range trail.Levels {
		count(levelsDesc, counts.Requests[i].Load(), string(level))
	}
	for plugin, lost := range c.failures.Lost() {
		count(errorsDesc, lost, plugin)
	}
}
