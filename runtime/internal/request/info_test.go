package request

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestNew(t *testing.T) {
	const base = "/apis/shop.example.com/v1"
	resource := func(verb, namespace, name, subresource string) Info {
		return Info{IsResource: true, Verb: verb, Group: "shop.example.com", Version: "v1", Resource: "widgets",
			Namespace: namespace, Name: name, Subresource: subresource}
	}
	selecting := func(fields string, info Info) Info {
		info.FieldSelector = fields
		return info
	}
	core := func(verb, namespace, resource, name, subresource string) Info {
		return Info{IsResource: true, Verb: verb, Version: "v1", Resource: resource,
			Namespace: namespace, Name: name, Subresource: subresource}
	}
	cases := []struct {
		method, url string
		want        Info
	}{
		{"GET", "/", Info{Verb: "get"}},
		{"GET", "/healthz", Info{Verb: "get"}},
		{"POST", "/apis", Info{Verb: "post"}},
		{"GET", base, Info{Verb: "get"}},
		{"GET", "/api/v1", Info{Verb: "get"}},
		{"GET", "/API/V1/namespaces", Info{Verb: "get"}},
		{"GET", base + "/widgets", resource("list", "", "", "")},
		{"GET", base + "/widgets/", resource("list", "", "", "")},
		{"HEAD", base + "/widgets", resource("list", "", "", "")},
		{"GET", base + "/namespaces/a/widgets", resource("list", "a", "", "")},
		{"GET", base + "/namespaces/a/widgets?watch=true", resource("watch", "a", "", "")},
		{"GET", base + "/widgets?watch=1", resource("watch", "", "", "")},
		{"GET", base + "/widgets?watch", resource("watch", "", "", "")},
		{"GET", base + "/widgets?watch=0", resource("list", "", "", "")},
		{"GET", base + "/widgets?watch=False&watch=true", resource("list", "", "", "")},
		{"GET", base + "/widgets?watch=1&timeoutSeconds=x", resource("watch", "", "", "")},
		{"GET", base + "/widgets?fieldSelector=metadata.name%3Dx",
			selecting("metadata.name=x", resource("list", "", "x", ""))},
		{"GET", base + "/widgets?watch=1&fieldSelector=metadata.name%3Dx,spec.a%3Db",
			selecting("metadata.name=x,spec.a=b", resource("watch", "", "x", ""))},
		{"GET", base + "/widgets?fieldSelector=metadata.name%3D..",
			selecting("metadata.name=..", resource("list", "", "", ""))},
		{"GET", base + "/widgets?fieldSelector=metadata.name%21%3Dx",
			selecting("metadata.name!=x", resource("list", "", "", ""))},
		{"DELETE", base + "/namespaces/a/widgets?fieldSelector=metadata.name%3Dx",
			selecting("metadata.name=x", resource("deletecollection", "a", "", ""))},
		{"GET", base + "/widgets?labelSelector=a", Info{IsResource: true, Verb: "list", Group: "shop.example.com",
			Version: "v1", Resource: "widgets", LabelSelector: "a"}},
		{"DELETE", base + "/namespaces/a/widgets/x", resource("delete", "a", "x", "")},
		{"POST", base + "/namespaces/a/widgets", resource("create", "a", "", "")},
		{"PUT", base + "/namespaces/a/widgets/x/status", resource("update", "a", "x", "status")},
		{"PATCH", base + "/namespaces/a/widgets/x/a/b/c", resource("patch", "a", "x", "a")},
		{"OPTIONS", base + "/namespaces/a/widgets/x", resource("", "a", "x", "")},
		{"GET", base + "/watch/namespaces/a/widgets", resource("watch", "a", "", "")},
		{"POST", base + "/watch/namespaces/a/widgets/x", resource("watch", "a", "x", "")},
		{"GET", base + "/proxy/namespaces/a/widgets/x/y", resource("proxy", "a", "x", "")},
		{"GET", "/api/v1/namespaces", core("list", "", "namespaces", "", "")},
		{"GET", "/api/v1/namespaces/a", core("get", "a", "namespaces", "a", "")},
		{"PUT", "/api/v1/namespaces/a/finalize", core("update", "a", "namespaces", "a", "finalize")},
		{"GET", "/api/v1/namespaces/a/status", core("get", "a", "namespaces", "a", "status")},
		{"GET", "/api/v1/namespaces/a/pods/b/log", core("get", "a", "pods", "b", "log")},
	}
	for _, c := range cases {
		t.Run(c.method+" "+c.url, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), c.method, c.url, nil)
			got, err := New(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			c.want.Path, c.want.LongRunning = r.URL.Path, c.want.Verb == "watch"
			spelling := cmpopts.IgnoreFields(Info{}, "Segments", "WatchPath", "BelowNamespace", "Irregular")
			if diff := cmp.Diff(c.want, *got, spelling); diff != "" {
				t.Error(diff)
			}
			if got.Irregular {
				t.Error("the path is regular")
			}
		})
	}
}

func TestNewRefusesVerbsWithoutResource(t *testing.T) {
	for _, path := range []string{"/api/v1/watch", "/apis/g.example.com/v1/proxy"} {
		if _, err := New(httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil), nil); err == nil {
			t.Errorf("%s was taken", path)
		}
	}
}

func TestPathsWithTwoSpellingsAreIrregular(t *testing.T) {
	for _, path := range []string{
		"/api/v1/namespaces/a%2f..%2fkube-system/configmaps", "/apis/g.example.com/v1/x/%2e%2e%2f%2e%2e%2fsecrets",
		"/apis/g.example.com/v1/x/..", "/apis/g.example.com/v1/./x", "/apis//g.example.com/v1/x",
		"//apis/g.example.com/v1/x",
		"/apis/g.example.com/v1/x/a%2Fb", "/apis/g.example.com/v1/x/%2e", "/apis/g.example.com/v1/x/a%00",
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		u, err := url.Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(path, "//") {
			u = &url.URL{Path: path}
		}
		r.URL = u
		info, err := New(r, nil)
		if err != nil || !info.Irregular {
			t.Errorf("%s: irregular %v, error %v", path, info.Irregular, err)
		}
	}
}

func TestInfoInContext(t *testing.T) {
	if InfoFrom(context.Background()) != nil {
		t.Error("there is none")
	}
	info := &Info{Verb: "get"}
	if InfoFrom(WithInfo(context.Background(), info)) != info {
		t.Error("it was lost")
	}
}

func FuzzNew(f *testing.F) {
	f.Add("GET", "/apis/g/v1/namespaces/a/widgets/x/status", "watch=1&fieldSelector=metadata.name=x")
	f.Add("DELETE", "/api/v1/watch/namespaces", "")
	f.Add("GET", "/apis/g/v1/namespaces//", "limit=x")
	f.Fuzz(func(t *testing.T, method, path, query string) {
		r := &http.Request{Method: method, URL: &url.URL{Path: path, RawQuery: query}, Header: http.Header{}}
		info, err := New(r, nil)
		if err != nil {
			return
		}
		if info.IsResource && (info.Resource == "" && !info.Irregular && path != "") && !strings.Contains(path, "//") {
			t.Errorf("%q: a resource without a name", path)
		}
	})
}

func TestLongRunningIsDecidedWhenTheInfoIsMade(t *testing.T) {
	for target, want := range map[string]bool{
		"/api/v1/pods?watch=1": true, "/api/v1/namespaces/n/pods/p/log": true, "/api/v1/pods": false, "/metrics": false,
	} {
		asked := 0
		info, err := New(httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil), func(i *Info) bool {
			asked++
			return i.Subresource == "log" || !i.IsResource
		})
		if err != nil || info.LongRunning != want || asked > 1 {
			t.Errorf("%s: %v, %d questions, error %v", target, info.LongRunning, asked, err)
		}
	}
}

func TestWithVerbLeavesTheOriginal(t *testing.T) {
	info, err := New(httptest.NewRequestWithContext(t.Context(), http.MethodDelete, "/api/v1/namespaces/n/pods/p",
		nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	changed := info.WithVerb("impersonate")
	if info.Verb != "delete" || changed.Verb != "impersonate" || changed.Name != "p" || changed.Namespace != "n" {
		t.Errorf("%+v became %+v", info, changed)
	}
}
