package clusterauthenticationtrust

import (
	"context"
	"log/slog"
	"maps"
	"strings"
	"sync"
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

// Times between two looks: without, and after a failure.
const (
	period = 10 * time.Second
	retry  = time.Second
)

// Publish returns a hook that keeps what current returns in the ConfigMap: at once, within ten seconds after it
// changed, and after somebody changed the ConfigMap. The server must serve ConfigMaps of the core group. What the hook
// can't write it logs, and tries again.
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
	wake := make(chan struct{}, 1)
	ctx, stop := context.WithCancel(ctx)
	var working sync.WaitGroup
	defer working.Wait()
	defer stop()
	working.Go(func() {
		err := p.objects.Follow(ctx, namespace, func(reach.Changes[*corev1.ConfigMap]) {
			select {
			case wake <- struct{}{}:
			default: // the publisher looks anyway
			}
		})
		if ctx.Err() == nil {
			p.log.Warn("ConfigMaps can't be followed, and are read every ten seconds", "error", err)
		}
	})
	for pause := time.Duration(0); wait(ctx, wake, pause); {
		pause = period
		if err := p.publish(ctx); err != nil && ctx.Err() == nil {
			p.log.Warn("the configuration of authentication could not be published",
				"configmap", namespace+"/"+name, "error", err)
			pause = retry
		}
	}
	return nil
}

// publish writes the ConfigMap, unless it publishes the trust already.
func (p publisher) publish(ctx context.Context) error {
	how, trust := reach.Write{Manager: manager}, p.current()
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
