// Package odd uses the clients of kinds with every marker, and of fields of every shape.
package odd

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	cachev1 "example.com/conformance/apis/cache/v1"
	applyv1 "example.com/conformance/apis/generated/applyconfiguration/cache/v1"
	"example.com/conformance/apis/generated/clientset/versioned"
	"example.com/conformance/apis/generated/clientset/versioned/fake"
	typedv1 "example.com/conformance/apis/generated/clientset/versioned/typed/cache/v1"
	"example.com/conformance/shared"
)

// What is not set is not in the JSON, and what is inlined is inlined.
func TestApplyConfiguration(t *testing.T) {
	data, err := json.Marshal(applyv1.Type("n", "ns").WithDepth(0).WithOne("one").WithTwo("two").WithThree(3).
		WithNested(shared.Nested{Name: "x"}).
		WithStatus(applyv1.Shapes().
			WithBool(false).WithBytes('h', 'i').WithStrings("a").WithStrings("b").WithPointedAt([]string{"c"}).
			WithStructs(applyv1.Inlined().WithOne("d")).WithPointers(applyv1.Inlined()).
			WithPointedList(applyv1.Inlined().WithOne("e")).WithPointedList(applyv1.Inlined().WithOne("f")).
			WithMap(map[string]string{"k": "v"}).WithMap(map[string]string{"l": "w"}).
			WithItself(applyv1.Shapes().WithType("inner"))))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"kind":"Type","apiVersion":"cache.example.com/v1","metadata":{"name":"n","namespace":"ns"},"depth":0,"one":"one","two":"two",` +
		`"apart":{"three":3},"nested":{"name":"x"},"status":{"bool":false,"bytes":"aGk=","strings":["a","b"],"pointedAt":["c"],` +
		`"structs":[{"one":"d"}],"pointers":[{}],"pointedList":[{"one":"e"},{"one":"f"}],"map":{"k":"v","l":"w"},"itself":{"type":"inner"}}}`
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
}

// Clients have the methods that markers leave them.
func TestMethods(t *testing.T) {
	for of, want := range map[reflect.Type][]string{
		reflect.TypeFor[typedv1.NothingInterface](): nil,
		reflect.TypeFor[typedv1.AskInterface]():     {"Create"},
		reflect.TypeFor[typedv1.ContextInterface](): {"Get", "List", "Watch"},
		reflect.TypeFor[typedv1.PolicyInterface]():  {"Create", "Delete", "Get", "GetSize", "List", "Patch", "Update", "UpdateSize", "Watch"},
	} {
		var got []string
		for i := range of.NumMethod() {
			got = append(got, of.Method(i).Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v has %v, want %v", of, got, want)
		}
	}
}

// sent records requests, and answers each with an empty object.
type sent struct{ requests []string }

func (s *sent) RoundTrip(r *http.Request) (*http.Response, error) {
	line := r.Method + " " + r.URL.Path
	if r.URL.RawQuery != "" {
		line += "?" + r.URL.RawQuery
	}
	if r.Body != nil {
		body, _ := io.ReadAll(r.Body)
		line += " " + strings.TrimSpace(string(body))
	}
	s.requests = append(s.requests, line)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader("{}")), Request: r,
	}, nil
}

// call calls all additional methods.
func call(t *testing.T, clients versioned.Interface) {
	t.Helper()
	ctx, c := context.Background(), clients.CacheV1().Types("ns")
	size := &cachev1.Size{Value: 7}
	check := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	check(c.Measure(ctx, "n", metav1.GetOptions{}))
	check(c.Resize(ctx, "n", size, metav1.UpdateOptions{FieldManager: "m"}))
	check(c.Grow(ctx, "n", size, metav1.CreateOptions{}))
	check(c.ApplySize(ctx, "n", applyv1.Size().WithValue(7), metav1.ApplyOptions{FieldManager: "m"}))
	check(c.Again(ctx, "n", metav1.GetOptions{}))
	check(c.Merge(ctx, "n", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{}, "size"))
	check(c.Own(ctx, applyv1.Type("n", "ns"), metav1.ApplyOptions{FieldManager: "m"}))
	check(c.Enumerate(ctx, metav1.ListOptions{LabelSelector: "a"}))
	check(c.Sizes(ctx, "n", metav1.ListOptions{TimeoutSeconds: new(int64)}))
	check(clients.CacheV1().Policies().GetSize(ctx, "p", metav1.GetOptions{}))
	if _, err := c.ApplySize(ctx, "n", nil, metav1.ApplyOptions{}); err == nil {
		t.Error("nothing can be applied")
	}
	if _, err := c.Own(ctx, &applyv1.TypeApplyConfiguration{}, metav1.ApplyOptions{}); err == nil {
		t.Error("what has no name can be applied")
	}
}

// Additional methods send what their markers say.
func TestRequests(t *testing.T) {
	server := &sent{}
	clients, err := versioned.NewForConfigAndClient(&rest.Config{Host: "http://localhost"}, &http.Client{Transport: server})
	if err != nil {
		t.Fatal(err)
	}
	call(t, clients)
	const size = `{"kind":"Size","apiVersion":"cache.example.com/v1","metadata":{},"value":7}`
	root := "/apis/cache.example.com/v1/namespaces/ns/types"
	want := []string{
		"GET " + root + "/n/size",
		"PUT " + root + "/n/size?fieldManager=m " + size,
		"POST " + root + "/n/size " + size,
		"PATCH " + root + "/n/size?fieldManager=m&force=false " + `{"kind":"Size","apiVersion":"cache.example.com/v1","value":7}`,
		"GET " + root + "/n",
		"PATCH " + root + "/n/size {}",
		"PATCH " + root + "/n?fieldManager=m&force=false " + `{"kind":"Type","apiVersion":"cache.example.com/v1","metadata":{"name":"n","namespace":"ns"}}`,
		"GET " + root + "?labelSelector=a",
		"GET " + root + "/n/sizes?timeoutSeconds=0",
		"GET /apis/cache.example.com/v1/policies/p/size",
	}
	for i, line := range want {
		if i >= len(server.requests) || server.requests[i] != line {
			t.Errorf("request %d is not %s", i, line)
		}
	}
	if t.Failed() {
		t.Log(strings.Join(server.requests, "\n"))
	}
}

// Without a server, the same methods are the actions that tests look for.
func TestActions(t *testing.T) {
	clients := fake.NewClientset()
	clients.PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, nil })
	call(t, clients)
	want := []string{
		"get types/size ns", "update types/size ns", "create types/size ns", "patch types/size ns", "get types ns",
		"patch types/size ns", "patch types ns", "list types ns", "list types/sizes ns", "get policies/size ",
	}
	var got []string
	for _, a := range clients.Actions() {
		resource := a.GetResource().Resource
		if a.GetSubresource() != "" {
			resource += "/" + a.GetSubresource()
		}
		got = append(got, a.GetVerb()+" "+resource+" "+a.GetNamespace())
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
