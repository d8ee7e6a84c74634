package rules

import (
	"strconv"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
)

const docs = "../../../docs/"

// invented are the troubles that no test can cause without waiting or breaking its disk: what an alert asks for is
// changed in the samples of the troubled server. All other alerts fire on that server as it is.
var invented = map[string]func(*database) *database{
	"ServerDown":   func(d *database) *database { return d.set("up", 0) },
	"SlowRequests": func(d *database) *database { return d.slow("apiserver_request_sli_duration_seconds", 1) },
	"FairnessWaits": func(d *database) *database {
		return d.slow("apiserver_flowcontrol_request_wait_duration_seconds", 5)
	},
	"WebhookSlow": func(d *database) *database {
		return d.slow("apiserver_admission_webhook_admission_duration_seconds", 1)
	},
	"CacheDoesNotFollow": func(d *database) *database { return d.set("apigen_watch_cache_ready", 0) },
	"CacheDiffers": func(d *database) *database {
		return d.grow("apiserver_storage_consistency_checks_total", func(of labels.Labels) float64 {
			return map[string]float64{"failure": 1}[of.Get("status")]
		})
	},
	"StorageRolledBack": func(d *database) *database {
		return d.grow("apigen_watch_cache_storage_rollbacks_total", many)
	},
	"StorageSlow":       func(d *database) *database { return d.slow("etcd_request_duration_seconds", 1) },
	"StorageFails":      func(d *database) *database { return d.grow("etcd_request_errors_total", many) },
	"StorageFillsUp":    func(d *database) *database { return d.set("apiserver_storage_size_bytes", 1e12) },
	"UnreadableObjects": func(d *database) *database { return d.set("apigen_watch_cache_undecodable_objects", 1) },
	"GarbageIsStuck":    func(d *database) *database { return d.set("apigen_garbage_collector_queued", 1) },
}

func many(labels.Labels) float64 { return 1000 }

// slow returns a copy in which many requests, by the buckets of a histogram, took more than some seconds.
func (d *database) slow(histogram string, seconds float64) *database {
	d.Helper()
	return d.grow(histogram+"_bucket", func(of labels.Labels) float64 {
		if le, err := strconv.ParseFloat(of.Get(labels.BucketLabel), 64); err == nil && le <= seconds {
			return 0
		}
		return many(of)
	})
}

// TestDashboardFindsSomething: each query of the dashboard finds something on a server that has troubles.
func TestDashboardFindsSomething(t *testing.T) {
	d := troubled(t)
	for _, panel := range dashboard(t) {
		for i, target := range panel.Targets {
			found, err := d.query(target.query())
			if err != nil || len(found) == 0 {
				t.Errorf("panel %q, query %d finds nothing: %v\n%s", panel.Title, i, err, target.Expr)
			}
		}
	}
}

// TestAlertsFire: each alert is quiet on a calm server, and fires on one that has its trouble.
func TestAlertsFire(t *testing.T) {
	alerts := readRules(t, docs+"observability/alerts.yaml")
	for name, found := range calm(t).evaluate(alerts) {
		if found > 0 {
			t.Errorf("the alert %s fires on a calm server", name)
		}
	}
	d, left := troubled(t), len(invented)
	for _, g := range alerts {
		for _, r := range g.Rules {
			before, err := d.query(r.Expr)
			if err != nil {
				t.Fatal(r.Alert, err)
			}
			of := d
			if invent := invented[r.Alert]; invent != nil {
				left--
				of = invent(d)
				if len(before) > 0 {
					t.Errorf("the alert %s needs no invented trouble", r.Alert)
				}
			}
			if found, err := of.query(r.Expr); len(found) == 0 || err != nil {
				t.Errorf("the alert %s doesn't fire: %v\n%s", r.Alert, err, r.Expr)
			}
		}
	}
	if left != 0 {
		t.Errorf("%d invented troubles are of no alert", left)
	}
}
