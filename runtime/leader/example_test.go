package leader_test

import (
	"context"
	"time"

	"apigen.dev/runtime/leader"
	"apigen.dev/runtime/server"
)

// A hook that one replica of the server runs.
func Example() {
	reports := server.Hook{
		Name: "reports",
		Run:  leader.Only(leader.Lease{Namespace: "kube-system", Name: "shop-reports"}, report),
	}
	_ = server.Program{Name: "shop", Hooks: []server.Hook{reports}}
}

// report works until ctx ends: at the shutdown, or when the replica lost its leadership.
func report(ctx context.Context) error {
	daily := time.NewTicker(24 * time.Hour)
	defer daily.Stop()
	for {
		select {
		case <-daily.C:
			// make the report
		case <-ctx.Done():
			return nil
		}
	}
}
