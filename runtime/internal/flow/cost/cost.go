// Package cost estimates how many seats a request occupies, and for how long: by the size of the answer, by the watches
// that a write is sent to. The estimates are kube-apiserver's. It may know packages flow/queue and request.
package cost

import (
	"math"
	"net/http"
	"time"

	"apigen.dev/runtime/internal/flow/queue"
	"apigen.dev/runtime/internal/request"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// maxListSeats and maxWriteSeats bound the seats of one request, in addition to the bound of its level.
	maxListSeats  = 100
	maxWriteSeats = 10
	// bytesPerSeat is the size of an answer that costs a seat. An answer of the cache counts no more than streamed, of
	// which it holds less at once.
	bytesPerSeat = 100_000
	streamed     = 1_000_000
	// watchesPerSeat is how many watches share a final seat of a write, for eventTime.
	watchesPerSeat = 10
	eventTime      = 5 * time.Millisecond
	// unknownSize is the size of objects if there are some, but nobody knows how large: the largest.
	unknownSize = 1_500_000
)

// Size is the number of objects of a resource, and the sum of their sizes in bytes.
type Size struct{ Objects, Bytes int64 }

// average returns the mean size of the objects.
func (s Size) average() int64 {
	if s.Objects == 0 {
		return 0
	}
	if s.Bytes <= 0 {
		return unknownSize
	}
	return max(1, s.Bytes/s.Objects)
}

// Estimator estimates the cost of requests. It is safe for concurrent use if its functions are.
type Estimator struct {
	// Size returns the size of a resource, and false for one that the server doesn't store.
	Size func(group, resource string) (Size, bool)
	// Watches returns how many watches see a write.
	Watches func(*request.Info) int
}

// Estimate returns the cost of a request in a level that gives a request at most maxSeats seats; 0 means no bound.
// bytes is the expected size of the answer to a list or to a watch that begins with a list; 0 for others. watches is
// the number of watches that see a write; -1 for others.
func (e *Estimator) Estimate(r *http.Request, info *request.Info, maxSeats int) (
	estimate queue.Estimate, bytes int64, watches int,
) {
	switch info.Verb {
	case "list", request.VerbWatch:
		estimate, bytes = e.list(r, info, maxSeats)
		return estimate, bytes, -1
	case "create", "update", "patch", "delete":
		if info.Resource == "serviceaccounts" && info.Subresource == "token" {
			return queue.Estimate{Seats: 1}, 0, -1 // it makes no event
		}
		watches = e.Watches(info)
		return write(watches, maxSeats), 0, watches
	}
	return queue.Estimate{Seats: 1}, 0, -1
}

// write returns the cost of a write: few watches cost nothing. The work that many cost is at most bound seats wide, and
// longer instead.
func write(watches, maxSeats int) queue.Estimate {
	if watches < watchesPerSeat {
		return queue.Estimate{Seats: 1}
	}
	wanted := (watches + watchesPerSeat - 1) / watchesPerSeat
	final := min(wanted, bound(maxSeats, maxWriteSeats))
	return queue.Estimate{Seats: 1, Final: final, Latency: eventTime * time.Duration(wanted) / time.Duration(final)}
}

func bound(ofLevel, ofVerb int) int {
	if ofLevel == 0 {
		return ofVerb
	}
	return min(ofLevel, ofVerb)
}

func (e *Estimator) list(r *http.Request, info *request.Info, maxSeats int) (queue.Estimate, int64) {
	most := bound(maxSeats, maxListSeats)
	options, err := optionsOf(r)
	if err != nil {
		return queue.Estimate{Seats: most}, 0 // it will be refused
	}
	if info.Verb == request.VerbWatch && !beginsWithList(options) {
		return queue.Estimate{Seats: 1}, 0
	}
	size, known := e.Size(info.Group, info.Resource)
	if !known {
		return queue.Estimate{Seats: 1}, 0
	}
	bytes := answer(size, options, info)
	held := bytes
	if info.Verb == request.VerbWatch || !fromStorage(options) {
		held = min(held, streamed)
	}
	seats := int(math.Ceil(float64(held) / bytesPerSeat))
	return queue.Estimate{Seats: max(1, min(seats, most))}, bytes
}

// answer returns how many bytes are read for a list.
func answer(size Size, options *metav1.ListOptions, info *request.Info) int64 {
	objects := size.Objects
	if options.Limit > 0 {
		objects = min(objects, options.Limit)
	}
	switch selected := options.FieldSelector != "" || options.LabelSelector != ""; {
	case info.Name != "":
		objects = 1
	case selected && info.Verb == "list" && fromStorage(options):
		objects = max(objects, size.Objects/2)
	}
	return objects * size.average()
}

// optionsOf returns the options of a list or a watch.
func optionsOf(r *http.Request) (*metav1.ListOptions, error) {
	options := &metav1.ListOptions{}
	if r.URL.RawQuery == "" {
		return options, nil
	}
	query := r.URL.Query()
	err := metav1.Convert_url_Values_To_v1_ListOptions(&query, options, nil)
	return options, err
}

// beginsWithList reports whether a watch begins with the present objects.
func beginsWithList(options *metav1.ListOptions) bool {
	return options.SendInitialEvents != nil && *options.SendInitialEvents ||
		options.ResourceVersion == "" || options.ResourceVersion == "0"
}

// fromStorage reports whether kube-apiserver would take a list from storage: for an exact revision or a later page. It
// costs as much here, although the cache may have it.
func fromStorage(options *metav1.ListOptions) bool {
	switch options.ResourceVersionMatch {
	case metav1.ResourceVersionMatchNotOlderThan:
		return false
	case "":
		exact := options.Limit > 0 && options.ResourceVersion != "" && options.ResourceVersion != "0"
		return options.Continue != "" || exact
	}
	return true
}
