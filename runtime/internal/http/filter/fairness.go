package filter

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/flow"
	"apigen.dev/runtime/internal/flow/cost"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/timing"
)

// The headers by which a client can be told why its request waits. They name objects by their UIDs, because the names
// may tell a user what an administrator thinks of them.
const (
	schemaHeader = "X-Kubernetes-Pf-Flowschema-Uid"
	levelHeader  = "X-Kubernetes-Pf-Prioritylevel-Uid"
)

// maxReading is how many answers one user may have to read at once, where seats and not places bound requests.
const maxReading = 400

// maxQueueTime is the longest time that a request waits in a queue.
const maxQueueTime = time.Minute

// Fairness has each request wait until controller lets it execute, for a quarter of the time that the request has, or
// defaultWait if it has no end. It answers 429 with Retry-After if controller rejects the request. A request gives its
// seats back when its answer begins, as with MaxInFlight, and one user has at most 400 answers to read. Long-running
// requests pass, except for watches, which count until they have told the state with which they begin.
func Fairness(controller *flow.Controller, estimator *cost.Estimator, defaultWait time.Duration) Filter {
	reading := newReaders(maxReading)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			info, user := request.InfoFrom(r.Context()), auth.UserFrom(r.Context())
			isWatch := info.Verb == request.VerbWatch && info.IsResource
			if info.LongRunning && !isWatch {
				next.ServeHTTP(w, r)
				return
			}
			visit := controller.Classify(user, info)
			header := w.Header()
			header[schemaHeader], header[levelHeader] = visit.UIDs()
			if !isWatch && !visit.Exempt() && reading.full(user.Name) {
				tooMany(w, visit)
				return
			}
			estimate, _ := visit.Estimate(estimator, r)
			schema, level := visit.Names()
			timing.SetShare(r.Context(), timing.Share{
				Level: level, Schema: schema,
				Seats: estimate.Seats, Final: estimate.Final, Latency: estimate.Latency,
			})
			err := visit.Enter(r.Context(), estimate, func() time.Duration { return queueTime(r, defaultWait) })
			if visit.Waited() {
				timing.End(r.Context(), timing.Queue, level, visit.Arrived())
			}
			if err != nil {
				tooMany(w, visit)
				return
			}
			if !isWatch {
				w, answer := countingOf(w)
				answer.place = place{visit: visit, readers: reading, user: user.Name}
				defer answer.place.end()
				next.ServeHTTP(w, r)
				return
			}
			leave := sync.OnceFunc(visit.Leave)
			defer leave()
			defer controller.Watch(info)()
			next.ServeHTTP(w, r.WithContext(request.WithBegun(r.Context(), leave)))
		})
	}
}

// queueTime returns how long a request may wait in a queue.
func queueTime(r *http.Request, otherwise time.Duration) time.Duration {
	if deadline, ok := r.Context().Deadline(); ok {
		otherwise = time.Until(deadline) / 4
	}
	return min(otherwise, maxQueueTime)
}

// tooMany answers in kube-apiserver's words, which are no Status.
func tooMany(w http.ResponseWriter, visit *flow.Visit) {
	terminate(w)
	w.Header().Set("Retry-After", strconv.Itoa(visit.RetryAfter()))
	http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
}
