package clusterauthenticationtrust

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/server"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Where the trust is published, and the field manager that does it.
const (
	namespace = "kube-system"
	name      = "extension-apiserver-authentication"
	manager   = "cluster-authentication-info"
)

const (
	// period is the time between two calls of current, and retry the one after a failure.
	period = 10 * time.Second
	retry  = time.Second
	// renewal is after which time the ConfigMap is read although nothing has changed: certificates may have ended.
	renewal = time.Hour
)

// Publish returns a hook that keeps what current returns in the ConfigMap: at once, within ten seconds after it
// changed, and after somebody changed the ConfigMap. Certificates that end are published for up to an hour longer. The
// server must serve ConfigMaps of the core group. What the hook can't write it logs, and tries again.
func Publish(current func() Trust, log *slog.Logger) server.Hook {
	return publish(current, func(FrontProxy) {}, log)
}

// publish is Publish, and calls seen with what the ConfigMap says of a front proxy, before it changes that: servers
// behind this one may believe it still, and replicas with other flags may publish it again.
func publish(current func() Trust, seen func(FrontProxy), log *slog.Logger) server.Hook {
	return server.Hook{Name: "start-cluster-authentication-info-controller", Run: func(ctx context.Context) error {
		objects, err := reach.Of[*corev1.ConfigMap](ctx)
		if err != nil {
			return err
		}
		return publisher{objects, current, seen, log}.run(ctx)
	}}
}

type publisher struct {
	objects reach.Objects[*corev1.ConfigMap]
	current func() Trust
	seen    func(FrontProxy)
	log     *slog.Logger
}

func (p publisher) run(ctx context.Context) error {
	changed := make(chan struct{}, 1)
	ctx, stop := context.WithCancel(ctx)
	var working sync.WaitGroup
	defer working.Wait()
	defer stop()
	var unseen atomic.Bool // changes of the ConfigMap aren't told
	working.Go(func() {
		err := p.objects.Follow(ctx, namespace, func(changes reach.Changes[*corev1.ConfigMap]) {
			if !concern(changes) {
				return
			}
			select {
			case changed <- struct{}{}:
			default: // the publisher has not yet looked
			}
		})
		unseen.Store(true)
		if ctx.Err() == nil {
			p.log.Warn("ConfigMaps can't be followed, and are read every ten seconds", "error", err)
		}
	})
	var last look
	for pause := time.Duration(0); ; {
		woken, err := wait(ctx, changed, pause)
		if err != nil {
			return nil
		}
		trust, now := p.current(), time.Now()
		pause = period
		if !woken && !unseen.Load() && last.holds(trust, now) {
			continue
		}
		last = look{trust, now}
		if err := p.publish(ctx, trust); err != nil && ctx.Err() == nil {
			p.log.Warn("the configuration of authentication could not be published",
				"configmap", namespace+"/"+name, "error", err)
			last, pause = look{}, retry
		}
	}
}

// concern reports whether changes may be of the ConfigMap.
func concern(changes reach.Changes[*corev1.ConfigMap]) bool {
	named := func(config *corev1.ConfigMap) bool { return config.Name == name }
	return changes.Reset || slices.ContainsFunc(changes.Put, named) || slices.ContainsFunc(changes.Deleted, named)
}

// look is when a trust was published, or found to be published. The zero value is no look.
type look struct {
	trust Trust
	at    time.Time
}

// holds reports whether the ConfigMap, which nobody has changed since, still publishes a trust.
func (l look) holds(trust Trust, now time.Time) bool {
	return now.Sub(l.at) < renewal && l.trust.equal(trust)
}

// publish writes the ConfigMap, unless it publishes the trust already.
func (p publisher) publish(ctx context.Context, trust Trust) error {
	how := reach.Write{Manager: manager}
	add := func(published *corev1.ConfigMap) error {
		if before, err := parse(published.Data); err == nil {
			p.seen(before.FrontProxy)
		}
		data, err := merge(published.Data, trust, time.Now())
		if err == nil && !maps.Equal(published.Data, data) {
			published.Data = data
		}
		return err
	}
	if published, err := p.objects.Get(ctx, namespace, name); err == nil {
		before := published.Data
		if err = add(published); err != nil || maps.Equal(before, published.Data) {
			return err
		}
	}
	_, err := p.objects.Update(ctx, namespace, name, how, add)
	switch {
	case apierrors.IsNotFound(err):
		created := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		if err = add(created); err == nil && len(created.Data) > 0 {
			_, err = p.objects.Create(ctx, created, how)
		}
	case apierrors.IsRequestEntityTooLargeError(err),
		apierrors.IsInvalid(err) && strings.Contains(err.Error(), "Too long"):
		// Too many replicas have published: they do it again.
		if deleted := p.objects.Delete(ctx, namespace, name, metav1.DeleteOptions{}); deleted != nil {
			return deleted
		}
	}
	return err
}
