package conformance

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/rest"
	"k8s.io/sample-apiserver/pkg/apis/wardle/v1alpha1"
	"k8s.io/sample-apiserver/pkg/generated/clientset/versioned"
	"k8s.io/sample-apiserver/pkg/generated/informers/externalversions"
)

// The clientset, informers and listers that upstream generated for its own server work with this one, also where they
// would rather have protobuf.
func TestUpstreamClientset(t *testing.T) {
	onEach(t, func(t *testing.T, server *target) {
		config := rest.CopyConfig(server.config)
		config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
		clients, err := versioned.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		factory := externalversions.NewSharedInformerFactory(clients, 0)
		lister := factory.Wardle().V1alpha1().Flunders().Lister()
		all := factory.Wardle().V1alpha1().Fischers().Lister()
		ctx, stop := context.WithCancel(t.Context())
		factory.Start(ctx.Done())
		defer func() { stop(); factory.Shutdown() }()
		factory.WaitForCacheSync(ctx.Done())

		client := clients.WardleV1alpha1().Flunders("default")
		created, err := client.Create(ctx, &v1alpha1.Flunder{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "f-", Labels: map[string]string{"a": "b"}},
			Spec:       v1alpha1.FlunderSpec{Reference: "x"},
		}, metav1.CreateOptions{})
		if err != nil || created.Spec.ReferenceType == nil ||
			*created.Spec.ReferenceType != v1alpha1.FlunderReferenceType {
			t.Fatalf("created: %+v, %v", created, err)
		}
		if _, err := clients.WardleV1alpha1().Fischers().Create(ctx,
			&v1alpha1.Fischer{ObjectMeta: metav1.ObjectMeta{Name: "fritz"}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		newer, err := clients.WardleV1beta1().Flunders("default").Get(ctx, created.Name, metav1.GetOptions{})
		if err != nil || newer.Spec.FlunderReference != "x" {
			t.Errorf("in v1beta1: %+v, %v", newer, err)
		}
		eventually(t, func() bool {
			found, err := lister.Flunders("default").List(labels.SelectorFromSet(labels.Set{"a": "b"}))
			fischers, other := all.List(labels.Everything())
			return err == nil && other == nil && len(found) == 1 && len(fischers) == 1
		}, func() string { return "the listers don't find what was created" })
		if err := client.DeleteCollection(ctx, metav1.DeleteOptions{},
			metav1.ListOptions{LabelSelector: "a=b"}); err != nil {
			t.Error(err)
		}
		eventually(t, func() bool {
			_, err := lister.Flunders("default").Get(created.Name)
			return apierrors.IsNotFound(err)
		}, func() string { return "the lister keeps what was deleted" })
	})
}

// Clients that speak CBOR where they can find out that this server doesn't, and go on in JSON.
func TestCBORClient(t *testing.T) {
	featurestesting.SetFeatureDuringTest(t, features.ClientsAllowCBOR, true)
	featurestesting.SetFeatureDuringTest(t, features.ClientsPreferCBOR, true)
	server := startMemory(t)
	client := newDynamic(t, server.config).Resource(flunders).Namespace("default")
	if _, err := client.Create(t.Context(), flunder("first"), metav1.CreateOptions{}); err != nil &&
		!apierrors.IsUnsupportedMediaType(err) {
		t.Errorf("the first create: %v", err)
	}
	if _, err := client.Create(t.Context(), flunder("second"), metav1.CreateOptions{}); err != nil {
		t.Errorf("the second create: %v", err)
	}
	list, err := client.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) == 0 {
		t.Errorf("listed: %v, %v", list, err)
	}
	o := observe(t, server.config, dynamicInformer(t, flunders))
	o.converges(t, versions(list.Items))
}
