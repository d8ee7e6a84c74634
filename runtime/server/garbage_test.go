package server

import (
	"io"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/registry"
	"github.com/spf13/pflag"
)

func TestGarbagePolicy(t *testing.T) {
	for _, c := range []struct {
		args []string
		want GarbagePolicy
	}{
		{nil, CollectGarbage},
		{[]string{"--enable-garbage-collector=false"}, IgnoreGarbage},
		{[]string{"--garbage-collector=server"}, CollectGarbage},
		{[]string{"--garbage-collector=external"}, DelegateGarbage},
		{[]string{"--authentication-kubeconfig=x"}, DelegateGarbage},
		{[]string{"--authentication-kubeconfig="}, DelegateGarbage},
		{[]string{"--authorization-kubeconfig=x"}, DelegateGarbage},
		{[]string{"--authorization-kubeconfig=x", "--garbage-collector=server"}, CollectGarbage},
		{[]string{"--authorization-kubeconfig=x", "--enable-garbage-collector=false"}, IgnoreGarbage},
	} {
		var f flags
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.add(set, true)
		set.String("authentication-kubeconfig", "", "")
		set.String("authorization-kubeconfig", "", "")
		if err := set.Parse(c.args); err != nil {
			t.Fatal(err)
		}
		if got := f.garbagePolicy(set); got != c.want {
			t.Errorf("%v: %v", c.args, got)
		}
	}
	var f flags
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.add(set, true)
	if f.garbagePolicy(set) != CollectGarbage {
		t.Error("a server that can't be aggregated stands alone")
	}
}

// ask sends a request, and returns the answer's code and body.
func ask(t *testing.T, c *http.Client, method, url, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// TestCollectsGarbage: a server that stands alone does, counts it, and leaves no goroutine behind; one that was told
// not to records nothing.
func TestCollectsGarbage(t *testing.T) {
	const path = "/apis/shop.example.com/v1/namespaces/ns/widgets"
	p := program()
	p.Groups = []registry.Group{widgets()}
	s := startProgram(t, p, filepath.Join(t.TempDir(), "data"))
	c := s.client(t)
	if code, body := ask(t, c, "POST", s.url+path, `{"apiVersion":"shop.example.com/v1","kind":"Widget",
		"metadata":{"name":"orphan","ownerReferences":[
		{"apiVersion":"shop.example.com/v1","kind":"Widget","name":"nobody","uid":"u"}]}}`); code != 201 {
		t.Fatalf("%d %s", code, body)
	}
	if code, body := ask(t, c, "POST", s.url+path,
		`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"alone"}}`); code != 201 {
		t.Fatalf("%d %s", code, body)
	}
	if code, body := ask(t, c, "DELETE", s.url+path+"/alone?propagationPolicy=Foreground", ""); code != 200 ||
		!strings.Contains(body, `"foregroundDeletion"`) {
		t.Errorf("%d %s", code, body)
	}
	await(t, func() bool { _, body := get(t, c, s.url+path); return strings.Contains(body, `"items":[]`) })
	// What it did it remembers until its watches tell of it.
	await(t, func() bool {
		_, body := get(t, c, s.url+"/metrics")
		return strings.Contains(body, `apigen_garbage_collector_actions_total{action="delete"} 1`) &&
			strings.Contains(body, `apigen_garbage_collector_actions_total{action="finalize"} 1`) &&
			strings.Contains(body, "apigen_garbage_collector_objects 0")
	})
	s.end(t)
	stacks := make([]byte, 1<<20)
	if stacks := string(stacks[:runtime.Stack(stacks, true)]); strings.Contains(stacks, "runtime/internal/collector") {
		t.Errorf("left behind: %s", stacks)
	}

	s = startProgram(t, p, filepath.Join(t.TempDir(), "data"), "--enable-garbage-collector=false")
	c = s.client(t)
	if code, body := ask(t, c, "POST", s.url+path,
		`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"alone"}}`); code != 201 {
		t.Fatalf("%d %s", code, body)
	}
	if code, body := ask(t, c, "DELETE", s.url+path+"/alone?propagationPolicy=Foreground", ""); code != 200 ||
		!strings.Contains(body, `"Success"`) {
		t.Errorf("%d %s", code, body)
	}
	s.end(t)
}

// TestDelegatesGarbage: a server whose garbage kube-controller-manager collects records the policy as a finalizer, and
// waits until the collector removes it. It collects nothing itself.
func TestDelegatesGarbage(t *testing.T) {
	const path = "/apis/shop.example.com/v1/namespaces/ns/widgets"
	p := program()
	p.Groups = []registry.Group{widgets()}
	s := startProgram(t, p, filepath.Join(t.TempDir(), "data"), "--garbage-collector=external")
	c := s.client(t)
	for policy, finalizer := range map[string]string{"Orphan": "orphan", "Foreground": "foregroundDeletion"} {
		name := strings.ToLower(policy)
		widget := `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"` + name + `"`
		if code, body := ask(t, c, "POST", s.url+path, widget+`}}`); code != 201 {
			t.Fatalf("%d %s", code, body)
		}
		if code, body := ask(t, c, "DELETE", s.url+path+"/"+name+"?propagationPolicy="+policy, ""); code != 200 {
			t.Errorf("%s: %d %s", policy, code, body)
		}
		code, body := get(t, c, s.url+path+"/"+name)
		held := strings.Contains(body, `"finalizers":["`+finalizer+`"]`)
		if code != 200 || !held || !strings.Contains(body, `"deletionTimestamp"`) {
			t.Errorf("%s: %d %s", policy, code, body)
		}
		if code, body := ask(t, c, "PUT", s.url+path+"/"+name, widget+`,"finalizers":[]}}`); code != 200 {
			t.Errorf("%s: the collector can't remove the finalizer: %d %s", policy, code, body)
		}
		if code, body := get(t, c, s.url+path+"/"+name); code != 404 {
			t.Errorf("%s: %d %s", policy, code, body)
		}
	}
	stacks := make([]byte, 1<<20)
	if stacks := string(stacks[:runtime.Stack(stacks, true)]); strings.Contains(stacks, "runtime/internal/collector") {
		t.Errorf("the server collects: %s", stacks)
	}
	s.end(t)
}

func await(t *testing.T, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(2 * time.Minute); !holds(); {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("it does not come true")
		}
	}
}
