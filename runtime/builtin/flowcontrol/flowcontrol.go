// Package flowcontrol serves the group flowcontrol.apiserver.k8s.io, flow schemas and priority levels, and has the
// server share itself among its clients by them. It may know the packages that serve groups, and package flow.
package flowcontrol

import (
	"context"
	"errors"

	"apigen.dev/runtime/builtin/flowcontrol/wiring"
	"apigen.dev/runtime/internal/flow"
	"apigen.dev/runtime/internal/flow/cost"
	"apigen.dev/runtime/internal/flow/queue"
	"apigen.dev/runtime/internal/http/filter"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
)

// Feature serves the group, and bounds the requests in progress by its objects, unless a flag says otherwise. When the
// server starts, it makes the objects of kube-apiserver, and keeps them afterwards. A server that doesn't serve the
// group may read them from a file.
type Feature struct {
	enabled bool
	// file has the objects of a server that doesn't serve the group.
	file string
}

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group { return []registry.Group{wiring.Group()} }

// AddFlags implements server.Feature.
func (f *Feature) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&f.enabled, "enable-priority-and-fairness", true,
		"let requests wait in the fair queues of priority levels, instead of bounding reads and writes apart; "+
			"--max-requests-inflight and --max-mutating-requests-inflight are the seats of all levels together")
	flags.StringVar(&f.file, "flow-control-config-file", "",
		"file of FlowSchemas and PriorityLevelConfigurations, which replace the suggested ones of a server that "+
			"doesn't serve flowcontrol.apiserver.k8s.io")
}

// Configure implements server.Feature.
func (f *Feature) Configure(_ context.Context, config *server.Config) (server.Contribution, error) {
	hooks := []server.Hook{{Name: "priority-and-fairness-config-producer", PostStart: ensure, Run: maintain}}
	if !f.enabled {
		return server.Contribution{Hooks: hooks}, f.refuseFile("goes with --enable-priority-and-fairness")
	}
	reads, writes := config.MaxInFlight()
	seats := max(reads, 0) + max(writes, 0)
	if seats == 0 {
		return server.Contribution{}, errors.New("--enable-priority-and-fairness needs seats: " +
			"--max-requests-inflight and --max-mutating-requests-inflight must not both be 0")
	}
	controller := flow.New(seats, queue.RealClock{})
	follower := &follower{controller: controller}
	follow, err := f.follow(follower, config)
	if err != nil {
		return server.Contribution{}, err
	}
	wait := max(config.RequestTimeout, 0) / 4
	fairness := func(size func(group, resource string) (int64, int64, bool)) filter.Filter {
		estimator := &cost.Estimator{Watches: controller.Watches, Size: func(group, resource string) (cost.Size, bool) {
			objects, bytes, known := size(group, resource)
			return cost.Size{Objects: objects, Bytes: bytes}, known
		}}
		return filter.Fairness(controller, estimator, wait)
	}
	return server.Contribution{
		Fairness: fairness, Metrics: []prometheus.Collector{controller}, Unlisted: controller.Pages(),
		Hooks: append(hooks,
			server.Hook{Name: "priority-and-fairness-config-consumer", Run: follow},
			server.Hook{Name: "priority-and-fairness-borrowing", Run: controller.Run}),
	}, nil
}
