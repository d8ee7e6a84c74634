package typedclient

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/reach"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// nothing is a server without resources of its own.
type nothing struct{ Handle }

// elsewhere is a server of things in the namespace ns. It tells no remaining count unless it counts.
type elsewhere struct {
	names  []string
	counts bool
	fails  bool
	asked  []string
}

func (e *elsewhere) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.asked = append(e.asked, r.Method+" "+r.URL.Path)
	name, single := strings.CutPrefix(r.URL.Path, "/apis/g.example.com/v1/namespaces/ns/things/")
	switch {
	case e.fails:
		http.Error(w, "service unavailable", http.StatusServiceUnavailable)
	case r.Method == http.MethodDelete && single:
		e.names = slices.DeleteFunc(e.names, func(n string) bool { return n == name })
	case r.Method == http.MethodDelete:
		e.names = nil
	default:
		e.list(w, r.URL.Query().Get("continue"))
	}
}

// list answers with two objects a page.
func (e *elsewhere) list(w http.ResponseWriter, after string) {
	var list metav1.PartialObjectMetadataList
	rest := e.names[slices.Index(e.names, after)+1:]
	for i, name := range rest[:min(2, len(rest))] {
		object := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if i == 0 {
			object.Finalizers = []string{"f"}
		}
		list.Items = append(list.Items, object)
	}
	if left := int64(len(rest) - len(list.Items)); left > 0 {
		list.Continue = list.Items[len(list.Items)-1].Name
		if e.counts {
			list.RemainingItemCount = &left
		}
	}
	_ = json.NewEncoder(w).Encode(list)
}

// TestJoined: the objects of another server are counted and deleted, whatever verbs and counts it has.
func TestJoined(t *testing.T) {
	things := schema.GroupResource{Group: "g.example.com", Resource: "things"}
	for _, test := range []struct {
		verbs  string
		counts bool
		asked  int // requests
	}{
		{"delete deletecollection list", true, 1 + 3 + 1},
		{"delete list", false, 3 + 3 + 3 + 5},
	} {
		server := &elsewhere{names: []string{"a", "b", "c", "d", "e"}, counts: test.counts}
		j := joined(t, server, things, strings.Fields(test.verbs)...)
		count, err := j.Count(t.Context(), things, "ns")
		if err != nil || count != 5 {
			t.Errorf("%s: %d objects, error %v", test.verbs, count, err)
		}
		count, finalizers, err := j.Finalizers(t.Context(), things, "ns")
		if err != nil || count != 5 || fmt.Sprint(finalizers) != "map[f:3]" {
			t.Errorf("%s: %d objects, finalizers %v, error %v", test.verbs, count, finalizers, err)
		}
		if err := j.DeleteAll(t.Context(), things, "ns", metav1.DeleteOptions{}); err != nil || len(server.names) > 0 {
			t.Errorf("%s: %v stay, error %v", test.verbs, server.names, err)
		}
		if len(server.asked) != test.asked {
			t.Errorf("%s: asked %v", test.verbs, server.asked)
		}
		server.fails = true
		if _, err := j.Count(t.Context(), things, "ns"); err == nil {
			t.Error("a server that is away has a count")
		}
		if err := j.DeleteAll(t.Context(), things, "ns", metav1.DeleteOptions{}); err == nil {
			t.Error("a server that is away deletes")
		}
		if _, err := j.Objects(things.WithVersion("v1")); err == nil {
			t.Error("there are objects to follow")
		}
	}
}

func joined(t *testing.T, server http.Handler, gr schema.GroupResource, verbs ...string) Joined {
	t.Helper()
	listening := httptest.NewServer(server)
	t.Cleanup(listening.Close)
	return Joined{
		Catalog: Catalog[nothing]{
			Handles:   func() []nothing { return nil },
			Documents: func() map[schema.GroupVersion]api.Document { return nil },
		},
		Remote: func() []reach.Resource {
			return []reach.Resource{{
				GroupResource: gr, Kind: "Thing", Versions: []string{"v1"}, Namespaced: true, Verbs: verbs,
				Remote: true,
			}}
		},
		Unavailable: func() []schema.GroupVersion { return nil }, Client: listening.Client(), Host: listening.URL,
	}
}
