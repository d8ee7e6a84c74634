package apiregistration

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/auth"
	v1 "apigen.dev/runtime/builtin/apiregistration/v1"
	"apigen.dev/runtime/internal/http/proxy"
	"apigen.dev/runtime/reach"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

// remote is the server behind an APIService.
type remote struct {
	controller *controller
	name       string
	gv         schema.GroupVersion
	backend    *proxy.Backend
	broken     error // why there is no backend
	stop       context.CancelFunc
	log        *slog.Logger

	available atomic.Bool
	documents atomic.Pointer[documents]
}

// newRemote returns the server of an APIService, which stop ends looking at. What the status said before holds until
// the server was asked.
func newRemote(c *controller, object *v1.APIService, stop context.CancelFunc) *remote {
	spec := object.Spec
	r := &remote{
		controller: c, name: object.Name, stop: stop, log: c.log.With("apiservice", object.Name),
		gv: schema.GroupVersion{Group: spec.Group, Version: spec.Version},
	}
	r.documents.Store(&documents{})
	if auth.Governs(spec.Group) {
		r.broken = errGoverning
		return r
	}
	r.backend, r.broken = proxy.New(proxy.Config{
		Namespace: spec.Service.Namespace, Name: spec.Service.Name,
		Port: ptr.Deref(spec.Service.Port, v1.DefaultPort), CABundle: spec.CABundle,
		InsecureSkipTLSVerify: spec.InsecureSkipTLSVerify, Resolve: c.resolve, Certificate: c.certificate,
		Flaw: c.metrics.flaw, Log: r.log,
	})
	r.available.Store(v1.IsAvailable(object))
	return r
}

func (r *remote) close() {
	r.stop()
	if r.backend != nil {
		r.backend.Close()
	}
}

// ServeHTTP passes a request on, in kube-aggregator's words where that can't be.
func (r *remote) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if r.backend == nil || !r.available.Load() {
		http.Error(w, "service unavailable", http.StatusServiceUnavailable)
		return
	}
	hash, known := hashIn(req.URL.String()), r.documents.Load().openAPI.Hash
	if hash != "" && known != "" && hash != known && strings.HasPrefix(req.URL.Path, "/openapi/v3/") {
		// The other server would redirect, which no server behind this one may.
		newer := req.URL.Path + "?" + url.Values{"hash": {known}}.Encode()
		http.Redirect(w, req, newer, http.StatusMovedPermanently) //nolint:gosec // the path begins with /openapi/v3/
		return
	}
	r.backend.ServeHTTP(w, req)
}

// The times between two looks at a server: while it answers, and after failures, where it grows from one to the other.
const (
	period     = 30 * time.Second
	firstRetry = time.Second
)

// run looks at the server until ctx ends.
func (r *remote) run(ctx context.Context, objects reach.Objects[*v1.APIService]) {
	for pause := firstRetry; ; {
		err := r.look(ctx)
		if ctx.Err() != nil {
			return
		}
		r.available.Store(err == nil)
		if err == nil {
			pause = period
			r.refresh(ctx) // so that who waits for the condition finds the resources in discovery
		} else {
			r.lose()
		}
		r.tell(ctx, objects, err)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		if err != nil {
			pause = min(2*pause, period)
		} else {
			pause = firstRetry
		}
	}
}

// look asks the server for its resources.
func (r *remote) look(ctx context.Context) error {
	if r.broken != nil {
		return r.broken
	}
	return r.backend.Check(ctx, r.path())
}

func (r *remote) path() string { return "/apis/" + r.gv.Group + "/" + r.gv.Version }

// errGoverning is why no other server answers for a group: whoever may write APIServices would receive the tokens and
// decide the permissions of everybody, and nobody could take back an APIService of this kind's own group.
var errGoverning = errors.New("this server governs itself by the kinds of the group, and answers for it itself")

// errGone ends an update of an APIService that says something else by now.
var errGone = errors.New("the APIService changed")

// tell says in the status of the APIService whether the server answers.
func (r *remote) tell(ctx context.Context, objects reach.Objects[*v1.APIService], failure error) {
	condition := v1.APIServiceCondition{
		Type: v1.Available, Status: v1.ConditionTrue, Reason: "Passed", Message: "all checks passed",
	}
	if failure != nil {
		condition.Status, condition.Reason = v1.ConditionFalse, "FailedDiscoveryCheck"
		condition.Message = failure.Error()
	}
	if errors.Is(failure, errGoverning) {
		condition.Reason = "ServedLocally"
	}
	object, err := objects.Get(ctx, "", r.name)
	if err == nil && saysAlready(v1.ConditionOf(object, v1.Available), &condition, failure) {
		return
	}
	how, was := reach.Write{Subresource: "status", Manager: manager}, false
	_, err = objects.Update(ctx, "", r.name, how, func(object *v1.APIService) error {
		if object.IsLocal() || object.Spec.Group != r.gv.Group || object.Spec.Version != r.gv.Version {
			return errGone
		}
		was = v1.IsAvailable(object)
		v1.SetCondition(object, condition)
		return nil
	})
	switch {
	case err == nil:
		if was && failure != nil {
			r.controller.metrics.unavailable.WithLabelValues(r.name, condition.Reason).Inc()
		}
		r.log.Info("an API service", "available", failure == nil, "reason", condition.Message)
	case errors.Is(err, errGone), apierrors.IsNotFound(err), ctx.Err() != nil:
	default:
		r.log.Warn("the status of an API service can't be written", "error", err)
	}
}

// saysAlready reports whether a condition needn't be written. Servers that share storage meet the same failure under
// different circumstances, such as their own ports, and would write in turns: its cause counts.
func saysAlready(before, now *v1.APIServiceCondition, failure error) bool {
	if before == nil || before.Status != now.Status || before.Reason != now.Reason {
		return false
	}
	return before.Message == now.Message || failure != nil && strings.HasSuffix(before.Message, causeOf(failure))
}

// causeOf returns the text of the innermost error.
func causeOf(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// patience is how long the documents of a server may take altogether.
const patience = 10 * time.Second

// refresh reads the documents of the server, and serves them where they changed.
func (r *remote) refresh(ctx context.Context) {
	reading, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	before := r.documents.Load()
	now, err := readDocuments(reading, r.backend, r.gv, before)
	if err != nil {
		if ctx.Err() == nil {
			r.log.Warn("the documents of an API service can't be read", "error", err)
		}
		return
	}
	if !now.same(before) {
		r.documents.Store(now)
		r.controller.refresh()
	}
}

// lose serves what the server said before as stale.
func (r *remote) lose() {
	before := r.documents.Load()
	if before.stale {
		return
	}
	r.documents.Store(before.lost())
	r.controller.refresh()
}
