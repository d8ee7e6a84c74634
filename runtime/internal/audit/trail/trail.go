// Package trail records what clients asked a server for, in the events of audit.k8s.io/v1. An Auditor has the policy,
// which says how much to record of a request, and the sink, which takes the events. A Record follows one request, in
// its context, from its arrival to its answer: filters and the endpoint add what they know.
//
// It may know packages auth and request. Policies are in package policy, and sinks in package backend, so that a server
// without audit links neither.
package trail

import (
	"context"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/auth"
)

// Level says how much of a request an Auditor records. Each level adds to the one before it.
type Level string

// The levels.
const (
	None            Level = "None"
	Metadata        Level = "Metadata"
	Request         Level = "Request"
	RequestResponse Level = "RequestResponse"
)

// Levels are all levels, in ascending order.
var Levels = []Level{None, Metadata, Request, RequestResponse}

// AtLeast reports whether the level records what other records. An unknown level records nothing.
func (l Level) AtLeast(other Level) bool { return l.rank() >= other.rank() }

func (l Level) rank() int {
	switch l {
	case Metadata:
		return 1
	case Request:
		return 2
	case RequestResponse:
		return 3
	}
	return 0
}

// Stage is a moment of a request for which the server makes an event.
type Stage string

// The stages. A long-running request, such as a watch, has the stage ResponseStarted, and so has a request that the
// server refuses before it knows the user. Every other request has RequestReceived, and then ResponseComplete or Panic.
const (
	RequestReceived  Stage = "RequestReceived"
	ResponseStarted  Stage = "ResponseStarted"
	ResponseComplete Stage = "ResponseComplete"
	Panic            Stage = "Panic"
)

// Stages are all stages, in the order of a request.
var Stages = []Stage{RequestReceived, ResponseStarted, ResponseComplete, Panic}

// Decision says what an Auditor records of a request. The zero value records nothing. It is immutable.
type Decision struct {
	Level Level
	// Omit are the stages without an event.
	Omit []Stage
	// OmitManagedFields leaves the managed fields out of the objects of the request and of its answer.
	OmitManagedFields bool
}

// Policy decides what to record of a request. Its user is nil if the server refuses the request before it knows the
// user. Several goroutines use a Policy.
type Policy interface {
	Decide(a auth.Attributes) Decision
}

// Sink takes events. Several goroutines use a Sink.
type Sink interface {
	// Process takes an event, which it neither changes nor keeps. It returns false if the event is lost and a request
	// whose event it is must not run.
	Process(event *Event) bool
}

// Sinks is a Sink that passes an event to all its sinks, in order.
type Sinks []Sink

// Process implements Sink. It returns false if one of the sinks does.
func (s Sinks) Process(event *Event) bool {
	processed := true
	for _, sink := range s {
		processed = sink.Process(event) && processed
	}
	return processed
}

// Auditor audits the requests of a server. Its fields are set before its first use.
type Auditor struct {
	Policy Policy
	Sink   Sink
	Counts Counts
}

// Counts counts what an Auditor did.
type Counts struct {
	// Events counts events, and Rejected the requests that the Auditor refused because their event was lost.
	Events, Rejected atomic.Uint64
	// Requests counts requests by level, in the order of Levels.
	Requests [4]atomic.Uint64
}

// NewRecord returns the Record of a request that arrives now, which is the request's context, too.
func (a *Auditor) NewRecord(ctx context.Context, id string) *Record {
	return &Record{
		Context: ctx, auditor: a, event: Event{AuditID: id, RequestReceivedTimestamp: microTime(time.Now())},
	}
}

// decide asks the policy.
func (a *Auditor) decide(attributes auth.Attributes) Decision {
	decision := a.Policy.Decide(attributes)
	a.Counts.Requests[decision.Level.rank()].Add(1)
	return decision
}
