package node_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin/node"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/server"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// told are Objects that tell the changes which a test sends.
type told[T any] struct {
	reach.Objects[T]
	changes chan reach.Changes[T]
	err     error
}

func (o *told[T]) Follow(ctx context.Context, _ string, changes func(reach.Changes[T])) error {
	for {
		select {
		case c, more := <-o.changes:
			if !more {
				return o.err
			}
			changes(c)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func newTold[T any]() *told[T] { return &told[T]{changes: make(chan reach.Changes[T])} }

// world is an authorizer that follows pods and volumes.
type world struct {
	*testing.T
	authorizer *node.Authorizer
	pods       *told[*corev1.Pod]
	volumes    *told[*corev1.PersistentVolume]
}

func newWorld(t *testing.T) *world {
	t.Helper()
	authorizer, err := node.New()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t, authorizer, newTold[*corev1.Pod](), newTold[*corev1.PersistentVolume]()}
	ctx, cancel := context.WithCancel(reach.WithObjects(reach.WithObjects(context.Background(), w.pods), w.volumes))
	ended := make(chan error, 1)
	go func() { ended <- authorizer.Graph.Follow(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("following ended with %v", err)
		}
	})
	return w
}

// putPods tells pods, and returns after the graph has them: it takes the second change after it is done with the first.
func (w *world) putPods(reset bool, pods ...*corev1.Pod) {
	w.pods.changes <- reach.Changes[*corev1.Pod]{Reset: reset, Put: pods}
	w.pods.changes <- reach.Changes[*corev1.Pod]{}
}

func (w *world) deletePods(pods ...*corev1.Pod) {
	w.pods.changes <- reach.Changes[*corev1.Pod]{Deleted: pods}
	w.pods.changes <- reach.Changes[*corev1.Pod]{}
}

func (w *world) putVolumes(volumes ...*corev1.PersistentVolume) {
	w.volumes.changes <- reach.Changes[*corev1.PersistentVolume]{Put: volumes}
	w.volumes.changes <- reach.Changes[*corev1.PersistentVolume]{}
}

func kubelet(name string) *auth.User {
	return &auth.User{Name: "system:node:" + name, Groups: []string{"system:nodes", auth.Authenticated}}
}

func (w *world) expect(name string, allowed bool, info request.Info, reason string) {
	w.Helper()
	info.IsResource = true
	decision, got, err := w.authorizer.Authorize(w.Context(), auth.Attributes{User: kubelet(name), Info: &info})
	if (decision == auth.Allow) != allowed || decision == auth.Deny || got != reason || err != nil {
		w.Errorf("%s: %s %s/%s %s/%s: %v, %q, %v; want %v, %q", name, info.Verb, info.Resource, info.Subresource,
			info.Namespace, info.Name, decision, got, err, allowed, reason)
	}
}

// reads expects that a node may get an object, or has no relationship with it.
func (w *world) reads(name string, allowed bool, resource, namespace, object string) {
	w.Helper()
	reason := ""
	if !allowed {
		reason = fmt.Sprintf("no relationship found between node '%s' and this object", name)
	}
	w.expect(name, allowed, request.Info{Verb: "get", Resource: resource, Namespace: namespace, Name: object}, reason)
}

func pod(name, node string, volumes ...corev1.VolumeSource) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	p.Spec.NodeName, p.Spec.ServiceAccountName = node, "robot"
	for i, source := range volumes {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: fmt.Sprint(i), VolumeSource: source})
	}
	return p
}

func secret(name string) corev1.VolumeSource {
	return corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name}}
}

func claim(name string) corev1.VolumeSource {
	return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
}

func volume(name, claimed string, secrets ...string) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
	v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "ns", Name: claimed}
	v.Spec.CSI = &corev1.CSIPersistentVolumeSource{}
	for _, s := range secrets {
		v.Spec.CSI.NodeStageSecretRef = &corev1.SecretReference{Namespace: "vault", Name: s}
	}
	return v
}

// TestPodsGiveTheirReferences: to the node on which they are, as long as they are there.
func TestPodsGiveTheirReferences(t *testing.T) {
	w := newWorld(t)
	w.reads("a", false, "secrets", "ns", "db")
	w.putPods(true, pod("one", "a", secret("db"), secret("db")), pod("two", "b", secret("db")), pod("idle", "",
		secret("later")))
	for _, name := range []string{"a", "b"} {
		w.reads(name, true, "secrets", "ns", "db")
		w.reads(name, true, "serviceaccounts", "ns", "robot")
	}
	w.reads("c", false, "secrets", "ns", "db")
	w.reads("a", false, "secrets", "other", "db")
	w.reads("a", false, "configmaps", "ns", "db")
	w.reads("a", true, "pods", "ns", "one")
	w.reads("a", false, "pods", "ns", "two")
	w.reads("a", false, "secrets", "ns", "later")
	w.putPods(false, pod("idle", "a", secret("later")))
	w.reads("a", true, "secrets", "ns", "later")
	w.deletePods(pod("one", ""))
	w.reads("a", false, "secrets", "ns", "db")
	w.reads("b", true, "secrets", "ns", "db")
	w.putPods(true, pod("one", "c", secret("db")))
	w.reads("b", false, "secrets", "ns", "db")
	w.reads("a", false, "secrets", "ns", "later")
	w.reads("c", true, "secrets", "ns", "db")
}

// TestMirrorPodsGiveNothing: a kubelet creates them, and must not give itself permissions.
func TestMirrorPodsGiveNothing(t *testing.T) {
	w := newWorld(t)
	mirror := pod("mirror", "a", secret("db"))
	mirror.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
	w.putPods(true, mirror)
	w.reads("a", true, "pods", "ns", "mirror")
	w.reads("a", false, "secrets", "ns", "db")
	w.reads("a", false, "serviceaccounts", "ns", "robot")
}

// TestVolumesFollowTheirClaims: whichever comes first, and with the secrets of the volume.
func TestVolumesFollowTheirClaims(t *testing.T) {
	w := newWorld(t)
	w.putVolumes(volume("disk", "data", "key"))
	w.reads("a", false, "persistentvolumes", "", "disk")
	w.putPods(true, pod("one", "a", claim("data")))
	w.reads("a", true, "persistentvolumes", "", "disk")
	w.reads("a", true, "persistentvolumeclaims", "ns", "data")
	w.reads("a", true, "secrets", "vault", "key")
	w.reads("b", false, "secrets", "vault", "key")
	w.putPods(false, pod("two", "b", claim("data")))
	w.reads("b", true, "secrets", "vault", "key")
	w.putVolumes(volume("disk", "data", "other"), volume("more", "data", "other"))
	w.reads("b", false, "secrets", "vault", "key")
	w.reads("b", true, "secrets", "vault", "other")
	w.putVolumes(volume("disk", "elsewhere", "other"))
	w.reads("a", true, "secrets", "vault", "other")
	w.deletePods(pod("one", ""))
	w.reads("a", false, "secrets", "vault", "other")
	w.reads("b", true, "persistentvolumes", "", "more")
	w.expect("b", true, request.Info{Verb: "patch", Resource: "persistentvolumeclaims", Subresource: "status",
		Namespace: "ns", Name: "data"}, "")
}

// TestWithoutPods: a server that serves none of the kinds allows what needs no graph, and has nothing to wait for.
func TestWithoutPods(t *testing.T) {
	authorizer, err := node.New()
	if err != nil {
		t.Fatal(err)
	}
	if err := authorizer.Graph.Follow(t.Context()); err != nil {
		t.Error(err)
	}
	if err := authorizer.Graph.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	w := &world{T: t, authorizer: authorizer}
	lease := request.Info{Verb: "update", Group: "coordination.k8s.io", Resource: "leases",
		Namespace: "kube-node-lease", Name: "a"}
	w.expect("a", true, lease, "")
	w.expect("b", false, lease, "can only access node lease with the same name as the requesting node")
	w.expect("a", true, request.Info{Verb: "list", Resource: "services"}, "")
	w.expect("a", false, request.Info{Verb: "delete", Resource: "services"}, "")
	w.expect("a", true, request.Info{Verb: "watch", Resource: "pods", FieldSelector: "spec.nodeName=a"}, "")
	for _, selector := range []string{"", "spec.nodeName=b", "spec.nodeName!=a", "spec.nodeName=a,", "=", "a"} {
		allowed, reason := selector == "spec.nodeName=a,", "can only list/watch pods with spec.nodeName field selector"
		if allowed {
			reason = ""
		}
		w.expect("a", allowed, request.Info{Verb: "list", Resource: "pods", FieldSelector: selector}, reason)
	}
}

// TestWait: the graph is complete when it has all objects of every kind that is served.
func TestWait(t *testing.T) {
	w := newWorld(t)
	w.putPods(true)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.authorizer.Graph.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("without the volumes: %v", err)
	}
	w.putVolumes()
	if err := w.authorizer.Graph.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestFailure: following fails if one of the kinds can't be followed.
func TestFailure(t *testing.T) {
	authorizer, err := node.New()
	if err != nil {
		t.Fatal(err)
	}
	broken := newTold[*storagev1.VolumeAttachment]()
	broken.err = errors.New("no watch")
	close(broken.changes)
	ctx := reach.WithObjects(reach.WithObjects(t.Context(), broken), newTold[*corev1.Pod]())
	if err := authorizer.Graph.Follow(ctx); !errors.Is(err, broken.err) {
		t.Error(err)
	}
}

// TestOtherUsers: the mode has no opinion on them, and allocates nothing.
func TestOtherUsers(t *testing.T) {
	authorizer, err := node.New()
	if err != nil {
		t.Fatal(err)
	}
	info := &request.Info{IsResource: true, Verb: "list", Resource: "services"}
	for _, user := range []*auth.User{
		nil, {}, {Name: "ann", Groups: []string{"system:nodes"}}, {Name: "system:node:a"},
		{Name: "system:node:a", Groups: []string{"system:node", auth.Masters}},
	} {
		a := auth.Attributes{User: user, Info: info}
		if decision, reason, err := authorizer.Authorize(t.Context(), a); decision != auth.NoOpinion ||
			reason != "" || err != nil {
			t.Errorf("%+v: %v, %q, %v", user, decision, reason, err)
		}
		ctx := t.Context()
		if n := testing.AllocsPerRun(100, func() { _, _, _ = authorizer.Authorize(ctx, a) }); n != 0 {
			t.Errorf("%+v: %v allocations", user, n)
		}
		if rules, complete, err := authorizer.RulesFor(t.Context(), user, "ns"); !complete || err != nil ||
			rules.Resources != nil || rules.NonResources != nil {
			t.Errorf("%+v: %v, %v, %v", user, rules, complete, err)
		}
	}
	unnamed := auth.Attributes{User: kubelet(""), Info: info}
	if decision, reason, _ := authorizer.Authorize(t.Context(), unnamed); decision != auth.NoOpinion ||
		reason != `unknown node for user "system:node:"` {
		t.Errorf("%v, %q", decision, reason)
	}
	if _, complete, err := authorizer.RulesFor(t.Context(), kubelet("a"), "ns"); complete || err == nil {
		t.Errorf("the rules of a node: %v, %v", complete, err)
	}
}

// TestConcurrentReaders: requests are decided while the graph changes.
func TestConcurrentReaders(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		info := &request.Info{IsResource: true, Verb: "get", Resource: "secrets", Namespace: "ns", Name: "db"}
		for ctx.Err() == nil {
			_, _, _ = w.authorizer.Authorize(ctx, auth.Attributes{User: kubelet("a"), Info: info})
		}
	}()
	for i := range 1000 {
		w.putPods(i%10 == 0, pod(fmt.Sprint(i%20), "a", secret("db"), claim("data")))
	}
	cancel()
	<-ended
	w.reads("a", true, "secrets", "ns", "db")
}

// TestFeature: a main that names the feature has the mode, and follows beside requests.
func TestFeature(t *testing.T) {
	var config server.Config
	if err := config.Use(t.Context(), (&node.Feature{})); err != nil {
		t.Fatal(err)
	}
	if config.Modes["Node"] == nil || len(config.Hooks) != 2 {
		t.Errorf("%v, %v", config.Modes, config.Hooks)
	}
}
