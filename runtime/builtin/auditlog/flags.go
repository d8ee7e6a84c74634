package auditlog

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"apigen.dev/runtime/internal/audit/backend"
	"apigen.dev/runtime/internal/audit/trail"
	"github.com/spf13/pflag"
)

// flags are the flags of audit. They have the names, meanings and defaults of kube-apiserver's flags.
type flags struct {
	policy  string
	log     logFlags
	webhook webhookFlags
}

type logFlags struct {
	path                       string
	maxAge, maxBackup, maxSize int
	compress                   bool
	format, version            string
	batch                      batchFlags
}

type webhookFlags struct {
	config, version string
	backoff         time.Duration
	batch           batchFlags
}

// batchFlags say how a backend delivers events.
type batchFlags struct {
	mode                    string
	bufferSize, maxSize     int
	maxWait                 time.Duration
	throttle                bool
	qps                     float32
	burst                   int
	truncate                bool
	maxBatchSize, eventSize int64
}

const (
	legacyFormat = "legacy"
	jsonFormat   = "json"
	theVersion   = trail.Group + "/" + trail.Version
)

func (f *flags) add(set *pflag.FlagSet) {
	set.StringVar(&f.policy, "audit-policy-file", "", "file with the policy of audit, a Policy of "+theVersion)

	l := &f.log
	set.StringVar(&l.path, "audit-log-path", "", "file for the events of audit; - means standard output")
	set.IntVar(&l.maxAge, "audit-log-maxage", 366, "how many days old log files are kept; 0 is no bound")
	set.IntVar(&l.maxBackup, "audit-log-maxbackup", 100, "how many old log files are kept; 0 is no bound")
	set.IntVar(&l.maxSize, "audit-log-maxsize", 100,
		"how many megabytes a log file has before the server begins another one; 0 means that it has one file")
	set.BoolVar(&l.compress, "audit-log-compress", false, "compress old log files")
	set.StringVar(&l.format, "audit-log-format", jsonFormat, "json, or legacy: a few fields as a line of text")
	set.StringVar(&l.version, "audit-log-version", theVersion, "group and version of the events in the log")
	// A batch of the log has one event: waiting for more would save nothing.
	l.batch.add(set, "log", batchFlags{mode: string(backend.Blocking), maxSize: 1})

	w := &f.webhook
	set.StringVar(&w.config, "audit-webhook-config-file", "",
		"kubeconfig of the webhook that takes the events of audit")
	set.DurationVar(&w.backoff, "audit-webhook-initial-backoff", 10*time.Second,
		"how long the server waits before it sends events again to a webhook that failed")
	set.DurationVar(&w.backoff, "audit-webhook-batch-initial-backoff", 10*time.Second,
		"as --audit-webhook-initial-backoff")
	_ = set.MarkDeprecated("audit-webhook-batch-initial-backoff", // the flag was just added
		"use --audit-webhook-initial-backoff instead")
	set.StringVar(&w.version, "audit-webhook-version", theVersion, "group and version of the events for the webhook")
	w.batch.add(set, "webhook", batchFlags{
		mode: string(backend.Batch), maxSize: 400, maxWait: 30 * time.Second, throttle: true, qps: 10, burst: 15,
	})
}

// add adds the flags of a backend, with its defaults.
func (b *batchFlags) add(set *pflag.FlagSet, name string, defaults batchFlags) {
	flag := func(rest string) string { return "audit-" + name + "-" + rest }
	const batches = " (only in the mode batch)"
	set.StringVar(&b.mode, flag("mode"), defaults.mode, "batch delivers events beside the requests; blocking "+
		"delivers each event before the request goes on; blocking-strict also refuses requests whose event can't be "+
		"delivered when the server receives them")
	set.IntVar(&b.bufferSize, flag("batch-buffer-size"), 10000, "how many events may wait"+batches)
	set.IntVar(&b.maxSize, flag("batch-max-size"), defaults.maxSize, "how many events a batch has, at most"+batches)
	set.DurationVar(&b.maxWait, flag("batch-max-wait"), defaults.maxWait,
		"how long a batch waits for more events"+batches)
	set.BoolVar(&b.throttle, flag("batch-throttle-enable"), defaults.throttle, "bound the rate of batches"+batches)
	set.Float32Var(&b.qps, flag("batch-throttle-qps"), defaults.qps, "how many batches a second, on average"+batches)
	set.IntVar(&b.burst, flag("batch-throttle-burst"), defaults.burst, "how many batches at once"+batches)
	set.BoolVar(&b.truncate, flag("truncate-enabled"), false, "bound the sizes of events and of batches")
	set.Int64Var(&b.maxBatchSize, flag("truncate-max-batch-size"), 10<<20,
		"size of a batch in bytes beyond which it is divided")
	set.Int64Var(&b.eventSize, flag("truncate-max-event-size"), 100<<10,
		"size of an event in bytes beyond which it loses the objects of the request and of the answer; if it is "+
			"larger without them, too, it is lost")
}

// check returns the errors in the flags of backends that are used.
func (f *flags) check() error {
	var errs []error
	if f.log.path != "" {
		errs = append(errs, f.log.batch.check("log"), checkVersion("log", f.log.version))
		if !slices.Contains([]string{legacyFormat, jsonFormat}, f.log.format) {
			errs = append(errs, fmt.Errorf("--audit-log-format: invalid audit log format %s, allowed formats are %q",
				f.log.format, legacyFormat+","+jsonFormat))
		}
		for _, number := range []struct {
			flag  string
			value int
		}{{"maxage", f.log.maxAge}, {"maxbackup", f.log.maxBackup}, {"maxsize", f.log.maxSize}} {
			if number.value < 0 {
				errs = append(errs, fmt.Errorf("--audit-log-%s %d can't be a negative number", number.flag,
					number.value))
			}
		}
	}
	if f.webhook.config != "" {
		errs = append(errs, f.webhook.batch.check("webhook"), checkVersion("webhook", f.webhook.version))
	}
	return errors.Join(errs...)
}

func checkVersion(name, version string) error {
	if version == theVersion {
		return nil
	}
	return fmt.Errorf("--audit-%s-version: invalid group version %q, allowed is %q", name, version, theVersion)
}

// check returns the errors in the flags of one backend, with kube-apiserver's words.
func (b *batchFlags) check(name string) error {
	var errs []error
	positive := func(wrong bool, what string, value any) {
		if wrong {
			errs = append(errs, fmt.Errorf("invalid audit %s %v, must be a positive number", what, value))
		}
	}
	if !slices.Contains(backend.Modes, backend.Mode(b.mode)) {
		var modes []string
		for _, mode := range backend.Modes {
			modes = append(modes, string(mode))
		}
		errs = append(errs, fmt.Errorf("--audit-%s-mode: invalid audit %s mode %s, allowed modes are %q", name, name,
			b.mode, strings.Join(modes, ",")))
	}
	if b.mode == string(backend.Batch) {
		positive(b.bufferSize <= 0, "batch "+name+" buffer size", b.bufferSize)
		positive(b.maxSize <= 0, "batch "+name+" max batch size", b.maxSize)
		positive(b.throttle && b.qps <= 0, "batch "+name+" throttle QPS", b.qps)
		positive(b.throttle && b.burst <= 0, "batch "+name+" throttle burst", b.burst)
	}
	positive(b.eventSize <= 0, "truncate "+name+" max event size", b.eventSize)
	if b.maxBatchSize < b.eventSize {
		errs = append(errs, fmt.Errorf("invalid audit truncate %s max batch size %v, must be greater than "+
			"max event size (%v)", name, b.maxBatchSize, b.eventSize))
	}
	return errors.Join(errs...)
}

// senders is how many batches a webhook gets at once. The log gets one after another.
const senders = 16

// config returns the configuration that the flags describe. A backend without a backoff has one sender.
func (b *batchFlags) config(name string, backoff time.Duration) backend.Config {
	c := backend.Config{
		Name: name, Mode: backend.Mode(b.mode), BufferSize: b.bufferSize, MaxBatchSize: b.maxSize,
		MaxBatchWait: b.maxWait, Backoff: backoff,
	}
	if backoff > 0 {
		c.Senders = senders
	}
	if b.throttle {
		c.QPS, c.Burst = float64(b.qps), b.burst
	}
	if b.truncate {
		c.MaxEventBytes, c.MaxBatchBytes = b.eventSize, b.maxBatchSize
	}
	return c
}
