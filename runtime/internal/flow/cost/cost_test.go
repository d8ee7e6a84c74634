package cost

import (
	"net/http/httptest"
	"testing"
	"time"

	"apigen.dev/runtime/internal/flow/queue"
	"apigen.dev/runtime/internal/request"
)

// TestEstimates: 2,000 pods of 1,000 bytes; services whose size is unknown; 120 watches.
func TestEstimates(t *testing.T) {
	e := &Estimator{
		Size: func(group, resource string) (Size, bool) {
			switch group + resource {
			case "pods":
				return Size{Objects: 2000, Bytes: 2_000_000}, true
			case "services":
				return Size{Objects: 3}, true
			case "nodes":
				return Size{}, true
			}
			return Size{}, false
		},
		Watches: func(info *request.Info) int {
			if info.Resource == "pods" {
				return 120
			}
			return 9
		},
	}
	one := queue.Estimate{Seats: 1}
	for _, row := range []struct {
		method, url string
		most        int
		want        queue.Estimate
		bytes       int64
	}{
		{"GET", "/version", 0, one, 0},
		{"GET", "/api/v1/namespaces/ns/pods/a", 0, one, 0},
		{"GET", "/api/v1/pods", 0, queue.Estimate{Seats: 10}, 2_000_000}, // as much as a streamed answer
		{"GET", "/api/v1/pods", 4, queue.Estimate{Seats: 4}, 2_000_000},
		{"GET", "/api/v1/pods?limit=500", 0, queue.Estimate{Seats: 5}, 500_000},
		{"GET", "/api/v1/pods?resourceVersion=7&resourceVersionMatch=Exact", 0, queue.Estimate{Seats: 20}, 2_000_000},
		{"GET", "/api/v1/pods?resourceVersion=7&limit=50", 0, one, 50_000},
		{"GET", "/api/v1/pods?limit=10&continue=x", 0, one, 10_000},
		{"GET", "/api/v1/pods?limit=10&continue=x&labelSelector=a=b", 0, queue.Estimate{Seats: 10}, 1_000_000},
		{"GET", "/api/v1/pods?labelSelector=a=b&limit=10", 0, one, 10_000},
		{"GET", "/api/v1/pods?fieldSelector=metadata.name=a", 0, one, 1000},
		{"GET", "/api/v1/pods?limit=x", 7, queue.Estimate{Seats: 7}, 0},
		{"GET", "/api/v1/services", 0, queue.Estimate{Seats: 10}, 4_500_000},
		{"GET", "/api/v1/nodes", 0, one, 0},
		{"GET", "/api/v1/unknown", 0, one, 0},
		{"GET", "/api/v1/pods?watch=true", 0, queue.Estimate{Seats: 10}, 2_000_000},
		{"GET", "/api/v1/pods?watch=true&resourceVersion=0", 0, queue.Estimate{Seats: 10}, 2_000_000},
		{"GET", "/api/v1/pods?watch=true&resourceVersion=9", 0, one, 0},
		{"GET", "/api/v1/pods?watch=true&resourceVersion=9&sendInitialEvents=true", 0, queue.Estimate{Seats: 10},
			2_000_000},
		{"POST", "/api/v1/namespaces/ns/pods", 0,
			queue.Estimate{Seats: 1, Final: 10, Latency: 6 * time.Millisecond}, 0},
		{"PUT", "/api/v1/namespaces/ns/pods/a", 3,
			queue.Estimate{Seats: 1, Final: 3, Latency: 20 * time.Millisecond}, 0},
		{"DELETE", "/api/v1/namespaces/ns/services/a", 0, one, 0},
		{"DELETE", "/api/v1/namespaces/ns/pods", 0, one, 0}, // of a collection, as in kube-apiserver
		{"POST", "/api/v1/namespaces/ns/serviceaccounts/a/token", 0, one, 0},
	} {
		r := httptest.NewRequest(row.method, row.url, nil)
		info, err := request.New(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, bytes, _ := e.Estimate(r, info, row.most); got != row.want || bytes != row.bytes {
			t.Errorf("%s %s at most %d: %+v and %d bytes, want %+v and %d", row.method, row.url, row.most, got, bytes,
				row.want, row.bytes)
		}
	}
}
