package flow

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"apigen.dev/runtime/internal/flow/queue"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Pages returns the pages of the levels, queues and requests, by their paths, in kube-apiserver's format.
func (c *Controller) Pages() map[string]http.Handler {
	const root = "/debug/api_priority_and_fairness/"
	return map[string]http.Handler{
		root + "dump_priority_levels": c.page(c.levels),
		root + "dump_queues":          c.page(c.queues),
		root + "dump_requests":        c.page(c.requests),
	}
}

// table writes rows of cells.
type table struct{ io.Writer }

func (t table) row(cells ...string) { fmt.Fprintln(t, strings.Join(cells, ",\t")) }

func (c *Controller) page(write func(table, *http.Request)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		aligned := tabwriter.NewWriter(w, 8, 0, 1, ' ', 0)
		write(table{aligned}, r)
		_ = aligned.Flush() // an error means that the client closed the connection
	})
}

func (c *Controller) levels(t table, _ *http.Request) {
	t.row("PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests", "ExecutingRequests",
		"DispatchedRequests", "RejectedRequests", "TimedoutRequests", "CancelledRequests")
	for _, l := range c.state.Load().levels {
		d, active := l.set.Dump(), 0
		for _, q := range d.Queues {
			if len(q.Waiting) > 0 {
				active++
			}
		}
		// kube-apiserver counts requests that gave up waiting as cancelled, and none as timed out.
		t.row(l.Name, strconv.Itoa(active), strconv.FormatBool(d.Waiting+d.Executing == 0),
			strconv.FormatBool(l.quiescing), strconv.Itoa(d.Waiting), strconv.Itoa(d.Executing),
			strconv.Itoa(d.Dispatched), strconv.Itoa(d.Rejected), "0", strconv.Itoa(d.TimedOut))
	}
}

func (c *Controller) queues(t table, _ *http.Request) {
	t.row("PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse", "NextDispatchR",
		"InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum")
	for _, l := range c.state.Load().levels {
		for i, q := range l.set.Dump().Queues {
			t.row(l.Name, strconv.Itoa(i), strconv.Itoa(len(q.Waiting)), strconv.Itoa(len(q.Executing)),
				strconv.Itoa(q.Seats), q.Next.String(), strconv.Itoa(q.InitialSeats), strconv.Itoa(q.MaxSeats),
				q.Work.String())
		}
	}
}

func (c *Controller) requests(t table, r *http.Request) {
	details := r.URL.Query().Get("includeRequestDetails") != ""
	head := []string{"PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher",
		"ArriveTime", "InitialSeats", "FinalSeats", "AdditionalLatency", "StartTime"}
	if details {
		head = append(head, "UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource",
			"SubResource")
	}
	t.row(head...)
	for _, l := range c.state.Load().levels {
		d := l.set.Dump()
		for i, q := range d.Queues {
			for at, one := range q.Waiting {
				t.request(l.Name, i, at, one, details)
			}
			for _, one := range q.Executing {
				t.request(l.Name, i, -1, one, details)
			}
		}
		for _, one := range d.Unqueued {
			t.request(l.Name, -1, -1, one, details)
		}
	}
}

func (t table) request(level string, at, position int, r queue.RequestDump, details bool) {
	cells := []string{level, r.Flow, strconv.Itoa(at), strconv.Itoa(position), r.Distinguisher,
		r.Arrived.UTC().Format(time.RFC3339Nano), strconv.Itoa(r.Estimate.Seats), strconv.Itoa(r.Estimate.Final),
		r.Estimate.Latency.String(), r.Started.UTC().Format(time.RFC3339Nano)}
	if v, ok := r.Detail.(*Visit); details && ok {
		cells = append(cells, v.user.Name, v.info.Verb, v.info.Path, v.info.Namespace, v.info.Name,
			schema.GroupVersion{Group: v.info.Group, Version: v.info.Version}.String(), v.info.Resource,
			v.info.Subresource)
	}
	t.row(cells...)
}
