package conformance

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/conformance/core"
	corev1 "apigen.dev/runtime/conformance/core/v1"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apidiscoveryv2beta1 "k8s.io/api/apidiscovery/v2beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

var (
	memos = schema.GroupVersionResource{Version: "v1", Resource: "memos"}
	desks = schema.GroupVersionResource{Version: "v1", Resource: "desks"}
)

// startCore serves the core group.
func startCore(t *testing.T) (*apitest.Server, *rest.Config) {
	t.Helper()
	server := apitest.Start(t, core.Groups()...)
	config, err := clientcmd.RESTConfigFromKubeConfig(server.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return server, config
}

// newCoreClient is a typed client that speaks a media type.
func newCoreClient(t *testing.T, config *rest.Config, mediaType string) *rest.RESTClient {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	config = rest.CopyConfig(config)
	config.APIPath, config.GroupVersion = "/api", &schema.GroupVersion{Version: "v1"}
	config.ContentType, config.AcceptContentTypes = mediaType, mediaType
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme, serializer.WithSerializer(cbor.NewSerializerInfo)).
		WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// TestTypedClientsInBinary: client-go reads, writes and watches in protobuf and CBOR, with nothing else accepted.
func TestTypedClientsInBinary(t *testing.T) {
	for _, mediaType := range []string{"application/vnd.kubernetes.protobuf", "application/cbor"} {
		t.Run(mediaType, func(t *testing.T) {
			if mediaType == "application/cbor" &&
				!clientfeatures.FeatureGates().Enabled(clientfeatures.ClientsAllowCBOR) {
				t.Fatal("client-go turns CBOR into JSON: the environment switches it off")
			}
			_, config := startCore(t)
			client := newCoreClient(t, config, mediaType)
			lifeOfAMemo(t, client)
		})
	}
}

func lifeOfAMemo(t *testing.T, client *rest.RESTClient) {
	t.Helper()
	ctx := t.Context()
	want := &corev1.Memo{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"x": "y"}},
		Text: "remember", Ink: []byte{0, 1, 255}, Weight: 0.5}
	var created, got corev1.Memo
	if err := client.Post().Namespace("n").Resource("memos").Body(want).Do(ctx).Into(&created); err != nil {
		t.Fatal(err)
	}
	if created.UID == "" || created.Text != want.Text || string(created.Ink) != string(want.Ink) ||
		created.Weight != 0.5 || created.Labels["x"] != "y" {
		t.Errorf("%+v", created)
	}
	if err := client.Get().Namespace("n").Resource("memos").Name("a").Do(ctx).Into(&got); err != nil ||
		!cmp.Equal(got.ObjectMeta, created.ObjectMeta) {
		t.Error(err, cmp.Diff(created.ObjectMeta, got.ObjectMeta))
	}
	events, err := client.Get().Namespace("n").Resource("memos").Param("watch", "true").
		Param("resourceVersion", created.ResourceVersion).Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	got.Text = "forget"
	var updated corev1.Memo
	if err := client.Put().Namespace("n").Resource("memos").Name("a").Body(&got).Do(ctx).Into(&updated); err != nil ||
		updated.Text != "forget" {
		t.Error(err, updated)
	}
	if err := client.Put().Namespace("n").Resource("memos").Name("a").Body(&got).Do(ctx).
		Error(); !apierrors.IsConflict(err) {
		t.Error(err)
	}
	var list corev1.MemoList
	if err := client.Get().Resource("memos").Do(ctx).Into(&list); err != nil || len(list.Items) != 1 ||
		list.Items[0].Text != "forget" || list.ResourceVersion == "" {
		t.Errorf("%v %+v", err, list)
	}
	if err := client.Delete().Namespace("n").Resource("memos").Name("a").
		Body(&metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(updated.UID))}).Do(ctx).
		Error(); err != nil {
		t.Error(err)
	}
	if err := client.Get().Namespace("n").Resource("memos").Name("a").Do(ctx).Error(); !apierrors.IsNotFound(err) {
		t.Error(err)
	}
	for _, kind := range []watch.EventType{watch.Modified, watch.Deleted} {
		select {
		case event := <-events.ResultChan():
			if memo, ok := event.Object.(*corev1.Memo); event.Type != kind || !ok || memo.Text != "forget" {
				t.Errorf("%s, want %s: %+v", event.Type, kind, event.Object)
			}
		case <-time.After(bound):
			t.Fatal("no event")
		}
	}
}

// TestDynamicClientInCBOR applies in CBOR, too.
func TestDynamicClientInCBOR(t *testing.T) {
	_, config := startCore(t)
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	memo := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Memo",
		"metadata": map[string]any{"name": "a"}, "text": "x", "weight": 2.5}}
	for range 2 {
		applied, err := client.Resource(memos).Namespace("n").Apply(t.Context(), "a", memo,
			metav1.ApplyOptions{FieldManager: "m"})
		if err != nil || applied.GetUID() == "" {
			t.Fatal(applied, err)
		}
	}
	list, err := client.Resource(memos).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.Items[0].Object["weight"] != 2.5 ||
		list.Items[0].GetKind() != "Memo" {
		t.Error(list, err)
	}
}

// TestMetadataClient asks for protobuf first, of kinds that have it and of those that don't.
func TestMetadataClient(t *testing.T) {
	server, config := startCore(t)
	var accepted []string
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			answer, err := next.RoundTrip(r)
			if err == nil {
				accepted = append(accepted, answer.Header.Get("Content-Type"))
			}
			return answer, err
		})
	})
	post(t, server, "/api/v1/desks", `{"metadata":{"name":"d"},"drawers":3}`)
	post(t, server, "/api/v1/namespaces/n/memos", `{"metadata":{"name":"m"},"text":"x"}`)
	client, err := metadata.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	for resource, namespace := range map[schema.GroupVersionResource]string{desks: "", memos: "n"} {
		list, err := client.Resource(resource).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) != 1 {
			t.Fatal(list, err)
		}
		name := list.Items[0].Name
		one, err := client.Resource(resource).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil || !cmp.Equal(one.ObjectMeta, list.Items[0].ObjectMeta) || len(one.ManagedFields) != 1 {
			t.Error(one, err)
		}
		events, err := client.Resource(resource).Namespace(namespace).
			Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
		if err != nil {
			t.Fatal(err)
		}
		patched, err := client.Resource(resource).Namespace(namespace).Patch(t.Context(), name, types.MergePatchType,
			[]byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
		if err != nil || patched.Labels["a"] != "b" {
			t.Error(patched, err)
		}
		select {
		case event := <-events.ResultChan():
			if got, ok := event.Object.(*metav1.PartialObjectMetadata); event.Type != watch.Modified || !ok ||
				got.Labels["a"] != "b" {
				t.Errorf("%+v", event)
			}
		case <-time.After(bound):
			t.Fatal("no event")
		}
		events.Stop()
		if err := client.Resource(resource).Namespace(namespace).Delete(t.Context(), name,
			metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}
	if n := len(slices.DeleteFunc(accepted, func(s string) bool {
		return !strings.HasPrefix(s, "application/vnd.kubernetes.protobuf")
	})); n < 8 {
		t.Errorf("%d answers were protobuf", n)
	}
}

func post(t *testing.T, server *apitest.Server, path, body string) {
	t.Helper()
	answer, err := server.Client.Post(server.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		data, _ := io.ReadAll(answer.Body)
		t.Fatalf("%s: %d %s", path, answer.StatusCode, data)
	}
}

// fetch reads a document.
func fetch(t *testing.T, server *apitest.Server, path, accept string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	answer, err := server.Client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s as %s: %d %s %v", path, accept, answer.StatusCode, data, err)
	}
	return answer, data
}

// TestDiscoveryInAllFormats reads each document with the types that Kubernetes has for it: all formats say the same.
func TestDiscoveryInAllFormats(t *testing.T) {
	server, _ := startCore(t)
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	for _, add := range []func(*runtime.Scheme) error{apidiscoveryv2.AddToScheme, apidiscoveryv2beta1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	codecs := serializer.NewCodecFactory(scheme, serializer.WithSerializer(cbor.NewSerializerInfo))
	const v2, v2beta1 = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
		";g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
	for _, c := range []struct {
		path, as string
		object   func() runtime.Object
	}{
		{"/api", "", func() runtime.Object { return new(metav1.APIVersions) }},
		{"/apis", "", func() runtime.Object { return new(metav1.APIGroupList) }},
		{"/api/v1", "", func() runtime.Object { return new(metav1.APIResourceList) }},
		{"/api", v2, func() runtime.Object { return new(apidiscoveryv2.APIGroupDiscoveryList) }},
		{"/api", v2beta1, func() runtime.Object { return new(apidiscoveryv2beta1.APIGroupDiscoveryList) }},
		{"/apis", v2, func() runtime.Object { return new(apidiscoveryv2.APIGroupDiscoveryList) }},
	} {
		_, data := fetch(t, server, c.path, "application/json"+c.as)
		want := c.object()
		if err := json.Unmarshal(data, want); err != nil {
			t.Fatal(err)
		}
		for _, mediaType := range []string{"application/vnd.kubernetes.protobuf", "application/cbor"} {
			if c.as == "" && mediaType == "application/cbor" {
				continue // as in kube-apiserver
			}
			answer, data := fetch(t, server, c.path, mediaType+c.as)
			info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaType)
			got := c.object()
			if _, _, err := info.Serializer.Decode(data, nil, got); err != nil {
				t.Fatalf("%s %s: %v", c.path, mediaType, err)
			}
			if d := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreTypes(metav1.TypeMeta{})); d != "" ||
				!strings.HasPrefix(answer.Header.Get("Content-Type"), mediaType) {
				t.Errorf("%s %s: %s", c.path, mediaType, d)
			}
		}
	}
}

// TestCoreDiscovery: client-go finds the group that has no name, in both forms of discovery, and its OpenAPI v2.
func TestCoreDiscovery(t *testing.T) {
	_, config := startCore(t)
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, legacy := range []bool{false, true} {
		client.UseLegacyDiscovery = legacy
		groups, lists, err := client.ServerGroupsAndResources()
		if err != nil || len(groups) != 1 || groups[0].Name != "" || groups[0].PreferredVersion.GroupVersion != "v1" ||
			len(lists) != 1 {
			t.Fatal(groups, lists, err)
		}
		var names []string
		for _, resource := range lists[0].APIResources {
			names = append(names, resource.Name)
		}
		if lists[0].GroupVersion != "v1" || !slices.Equal(names, []string{"desks", "memos"}) {
			t.Errorf("%+v", lists[0])
		}
	}
	document, err := client.OpenAPISchema()
	if err != nil || document.GetSwagger() != "2.0" || len(document.GetPaths().GetPath()) < 10 {
		t.Error(document.GetInfo(), err)
	}
}

func TestKubectlOnCore(t *testing.T) {
	server, _ := startCore(t)
	k := newKubectlFor(t, server.Kubeconfig)
	k.says("memos   mm           v1           true         Memo", "api-resources")
	k.says("v1", "api-versions")
	k.with("apiVersion: v1\nkind: Memo\nmetadata: {name: a}\ntext: hello\n").says("memo/a created", "apply -f -")
	k.says("hello", "get mm")
	k.says("text: hello", "get memo a -o yaml")
	k.says("Text is what there is to remember.", "explain memo.text")
	k.says("Text is what there is to remember.", "explain memo.text --output=plaintext-openapiv2")
	k.with("apiVersion: v1\nkind: Memo\nmetadata: {name: a}\ntext: bye\n").says("memo/a serverside-applied",
		"apply --server-side --force-conflicts -f -")
	if _, stderr, err := k.with("apiVersion: v1\nkind: Memo\nmetadata: {name: a}\ntexts: bye\n").
		run("apply -f -"); err == nil || !strings.Contains(stderr, `unknown field "texts"`) {
		t.Error(err, stderr)
	}
	k.says("deleted", "delete memo a")
}
