package conformance

import (
	"fmt"
	"testing"

	"apigen.dev/runtime/internal/etcdtest"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestReplicasCollect: two servers on one etcd collect what is deleted, and where one is killed in the middle of it,
// the other one brings it to its end; whichever of them took the deletion.
func TestReplicasCollect(t *testing.T) {
	store := etcdtest.Start(t)
	var servers [2]*process
	var clients [2]client.WithWatch
	for i := range servers {
		servers[i] = startServing(t, clusterName, "--etcd-servers="+store.Endpoint())
		clients[i] = clusterClient(t, newTarget(t, servers[i].kubeconfig()).config)
	}
	for dies := range servers {
		for _, policy := range []metav1.DeletionPropagation{
			metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan, metav1.DeletePropagationBackground,
		} {
			name := fmt.Sprintf("%s-%d", string(policy), dies)
			t.Run(name, func(t *testing.T) {
				lives := clients[1-dies]
				middle := killed(t, clients[0], lives, servers[dies], policy)
				t.Logf("%d of %d were done when the server died", middle, branches*(leaves+1))
				if middle == branches*(leaves+1) {
					t.Error("it died too late to matter")
				}
				ends(t, lives, policy)
				servers[dies].start()
				ends(t, clients[dies], policy)
				for _, kind := range []client.Object{new(corev1.ConfigMap), new(corev1.Secret)} {
					if err := lives.DeleteAllOf(t.Context(), kind, client.InNamespace("default")); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	}
}

// A root owns branches, each of which owns leaves.
const branches, leaves = 40, 10

// killed makes a family, deletes its root, and kills a server as soon as the first one of the family has changed. It
// returns for how many it was too late.
func killed(
	t *testing.T, deletes, lives client.WithWatch, dies *process, policy metav1.DeletionPropagation,
) (done int) {
	t.Helper()
	ctx := t.Context()
	root := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "root"}}
	create(t, lives, root)
	owned := func(name string, owner client.Object) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "default", Name: name, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "v1", Kind: "ConfigMap", Name: owner.GetName(), UID: owner.GetUID(),
			BlockOwnerDeletion: new(true),
		}}}
	}
	concurrently(branches, func(i int) {
		branch := &corev1.ConfigMap{ObjectMeta: owned(fmt.Sprint("branch-", i), root)}
		create(t, lives, branch)
		for j := range leaves {
			create(t, lives, &corev1.Secret{ObjectMeta: owned(fmt.Sprint("leaf-", i, "-", j), branch)})
		}
	})
	var list client.ObjectList = new(corev1.SecretList)
	if policy == metav1.DeletePropagationOrphan {
		list = new(corev1.ConfigMapList) // the branches lose their owner, and all else stays as it is
	}
	if err := lives.List(ctx, list, client.InNamespace("default")); err != nil {
		t.Fatal(err)
	}
	changes, err := lives.Watch(ctx, list, client.InNamespace("default"),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}})
	if err != nil {
		t.Fatal(err)
	}
	defer changes.Stop()
	if err := deletes.Delete(ctx, root, client.PropagationPolicy(policy)); err != nil {
		t.Fatal(err)
	}
	for event := range changes.ResultChan() {
		object, ok := event.Object.(client.Object)
		if !ok {
			t.Fatalf("%+v", event)
		}
		if object.GetName() != root.Name && (event.Type == watch.Deleted || event.Type == watch.Modified) {
			break
		}
	}
	dies.kill()
	return branches*(leaves+1) - left(t, lives)
}

func create(t *testing.T, c client.Client, object client.Object) {
	if err := c.Create(t.Context(), object); err != nil {
		t.Error(err)
	}
}

// left counts those whose owners are still theirs.
func left(t *testing.T, c client.Client) (n int) {
	t.Helper()
	var maps corev1.ConfigMapList
	var secrets corev1.SecretList
	for _, list := range []client.ObjectList{&maps, &secrets} {
		if err := c.List(t.Context(), list, client.InNamespace("default")); err != nil {
			t.Fatal(err)
		}
	}
	for i := range maps.Items {
		n += len(maps.Items[i].OwnerReferences)
	}
	for i := range secrets.Items {
		n += len(secrets.Items[i].OwnerReferences)
	}
	return n
}

// ends waits until all is as the policy has it: the root gone, and with it its family, or none of it.
func ends(t *testing.T, c client.Client, policy metav1.DeletionPropagation) {
	t.Helper()
	want := 0
	if policy == metav1.DeletePropagationOrphan {
		want = branches * leaves // the leaves keep the branches
	}
	eventually(t, func() bool {
		err := c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "root"}, new(corev1.ConfigMap))
		return apierrors.IsNotFound(err) && left(t, c) == want
	}, func() string { return fmt.Sprintf("%d are left, not %d", left(t, c), want) })
	var all corev1.ConfigMapList
	if err := c.List(t.Context(), &all, client.InNamespace("default")); err != nil ||
		policy == metav1.DeletePropagationOrphan && len(all.Items) != branches {
		t.Errorf("%d branches, %v", len(all.Items), err)
	}
}
