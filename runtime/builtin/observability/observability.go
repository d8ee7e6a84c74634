// Package observability has what a server tells its operators beside its metrics and its health: a line for each
// request, where the time of slow requests went, profiles on a unix socket, and the reset of metrics.
//
// It may know packages filter, registry, scrape, server, timing and zpages.
package observability

import (
	"context"
	"log/slog"
	"net/http"

	"apigen.dev/runtime/internal/http/filter"
	"apigen.dev/runtime/internal/http/scrape"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
)

// Feature is the feature of a server.
type Feature struct {
	// Socket is the path of the debug socket; "" is none.
	Socket string
}

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group { return nil }

// AddFlags implements server.Feature.
func (f *Feature) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.Socket, "debug-socket-path", f.Socket,
		"unix socket of /debug/pprof and /debug/flags/v, for which the permissions of the file are all that it takes")
}

// Configure implements server.Feature.
func (f *Feature) Configure(_ context.Context, config *server.Config) (server.Contribution, error) {
	log := config.Log
	if log == nil {
		log = slog.Default()
	}
	contribution := server.Contribution{
		Observers: []func(filter.Observation){newRequestLog(log).observe},
		Scraped:   func(metrics prometheus.Gatherer) http.Handler { return scrape.New(metrics) },
	}
	if f.Socket == "" {
		return contribution, nil
	}
	level := config.LogLevel
	if level == nil {
		level = new(slog.LevelVar)
	}
	socket, err := listen(f.Socket, level)
	if err != nil {
		return server.Contribution{}, err
	}
	contribution.Hooks = []server.Hook{{Name: "debug-socket", Run: socket.run}}
	return contribution, nil
}
