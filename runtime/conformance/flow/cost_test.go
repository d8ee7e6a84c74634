package flow

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"apigen.dev/runtime/internal/flow/cost"
	"apigen.dev/runtime/internal/flow/queue"
	"apigen.dev/runtime/internal/request"
	"k8s.io/apimachinery/pkg/util/sets"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/feature"
	fcrequest "k8s.io/apiserver/pkg/util/flowcontrol/request"
)

// progressing is an etcd whose lists come from the cache, as those of today do.
type progressing struct{ feature.FeatureSupportChecker }

func (progressing) Supports(storage.Feature) bool { return true }

// TestEstimates: a request costs what it costs in kube-apiserver.
func TestEstimates(t *testing.T) {
	before := feature.DefaultFeatureSupportChecker
	defer func() { feature.DefaultFeatureSupportChecker = before }()
	feature.DefaultFeatureSupportChecker = progressing{}
	sizes := map[string]cost.Size{"pods": {Objects: 2000, Bytes: 3_000_000}, "nodes": {Objects: 40_000, Bytes: 1e9},
		"services": {Objects: 3}, "secrets": {}}
	watches := map[string]int{"pods": 120, "nodes": 9, "services": 100_000}
	ours := &cost.Estimator{
		Size:    func(_, resource string) (cost.Size, bool) { size, known := sizes[resource]; return size, known },
		Watches: func(info *request.Info) int { return watches[info.Resource] },
	}
	count := func(name string) (storage.Stats, error) {
		size, known := sizes[name]
		if !known {
			return storage.Stats{}, fcrequest.ObjectCountNotFoundErr
		}
		stats := storage.Stats{ObjectCount: size.Objects}
		if size.Objects > 0 {
			stats.EstimatedAverageObjectSizeBytes = size.Bytes / size.Objects
		}
		return stats, nil
	}
	for _, most := range []int{0, 1, 7, 500} {
		theirs := fcrequest.NewWorkEstimator(count, func(info *apirequest.RequestInfo) int {
			return watches[info.Resource]
		}, fcrequest.DefaultWorkEstimatorConfig(), func(string) uint64 { return uint64(most) })
		for _, resource := range []string{"pods", "nodes", "services", "secrets", "unknown"} {
			for _, r := range requestsOf(resource) {
				info, err := request.New(r, nil)
				if err != nil {
					t.Fatal(err)
				}
				got, _, _ := ours.Estimate(r, info, most)
				estimate := theirs(withTheirInfo(t, r), "", "")
				want := queue.Estimate{Seats: int(estimate.InitialSeats), Final: int(estimate.FinalSeats),
					Latency: estimate.AdditionalLatency}
				if got != want {
					t.Errorf("%s %s with at most %d seats: %+v, theirs %+v", r.Method, r.URL, most, got, want)
				}
			}
		}
	}
}

func requestsOf(resource string) (all []*http.Request) {
	root := "/api/v1/namespaces/ns/" + resource
	for _, query := range []string{"", "?limit=500", "?limit=5", "?resourceVersion=0", "?resourceVersion=0&limit=5",
		"?resourceVersion=7", "?resourceVersion=7&limit=5", "?resourceVersion=7&resourceVersionMatch=Exact",
		"?resourceVersion=7&resourceVersionMatch=NotOlderThan&limit=5", "?limit=5&continue=x", "?labelSelector=a=b",
		"?continue=x&labelSelector=a=b&limit=5", "?fieldSelector=metadata.name=a", "?limit=x", "?watch=1",
		"?fieldSelector=a=b&resourceVersion=7&resourceVersionMatch=Exact", "?watch=1&resourceVersion=0",
		"?watch=1&resourceVersion=7", "?watch=1&resourceVersion=7&sendInitialEvents=true", "?watch=1&limit=5"} {
		all = append(all, httptest.NewRequest(http.MethodGet, root+query, nil))
	}
	for _, method := range []string{"GET", "PUT", "PATCH", "DELETE"} {
		all = append(all, httptest.NewRequest(method, root+"/a", nil))
	}
	return append(all, httptest.NewRequest("POST", root, nil), httptest.NewRequest("DELETE", root, nil))
}

// withTheirInfo returns a request with what kube-apiserver reads from it.
func withTheirInfo(t *testing.T, r *http.Request) *http.Request {
	t.Helper()
	factory := apirequest.RequestInfoFactory{
		APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api"),
	}
	info, err := factory.NewRequestInfo(r)
	if err != nil {
		t.Fatal(err)
	}
	return r.WithContext(apirequest.WithRequestInfo(context.Background(), info))
}
