package builtin_test

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
)

const (
	widgetVersion    = "/apis/shop.example.com/v1"
	widgetNamespaces = widgetVersion + "/namespaces/"
	controllers      = "system:serviceaccount:kube-system:"
	controllerGroups = " [system:serviceaccounts system:serviceaccounts:kube-system system:authenticated]"
)

// recorder is all peers of a server: a server of widgets behind it, and the webhooks. It records METHOD PATH and who
// asks.
type recorder struct {
	mu      sync.Mutex // guards the fields below
	asked   map[string]bool
	widgets []string // namespaces that have a widget, which has the same name
}

func (p *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	who := cmp.Or(r.Header.Get("X-Remote-User"), r.Header.Get("Authorization"), "nobody")
	groups := r.Header["X-Remote-Group"]
	path := r.URL.Path
	if r.URL.Query().Has("watch") {
		path += "?watch"
	}
	p.mu.Lock()
	p.asked[fmt.Sprint(r.Method, " ", path, " ", who, " ", groups)] = true
	p.mu.Unlock()
	_, _ = io.Copy(io.Discard, r.Body)
	p.answer(w, r, slices.Contains(groups, auth.Masters))
}

func (p *recorder) answer(w http.ResponseWriter, r *http.Request, master bool) {
	w.Header().Set("Content-Type", "application/json")
	namespace, isWidgets := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, widgetNamespaces), "/widgets")
	name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	switch {
	case r.URL.Path == widgetVersion && master:
		_, _ = io.WriteString(w, widgetList("stolen"))
	case r.URL.Path == widgetVersion:
		_, _ = io.WriteString(w, widgetList("widgets"))
	case r.URL.Query().Has("watch"):
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case strings.HasSuffix(r.URL.Path, "/widgets") && r.Method == http.MethodGet:
		if !isWidgets || !strings.HasPrefix(r.URL.Path, widgetNamespaces) {
			namespace = ""
		}
		_, _ = fmt.Fprintf(w, `{"metadata":{"resourceVersion":"1"},"items":[%s]}`, p.list(namespace))
	case strings.HasPrefix(r.URL.Path, widgetNamespaces) && r.Method == http.MethodDelete:
		p.mu.Lock()
		p.widgets = slices.DeleteFunc(p.widgets, func(n string) bool { return n == name })
		p.mu.Unlock()
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Success"}`)
	case strings.HasPrefix(r.URL.Path, widgetNamespaces):
		_, _ = io.WriteString(w, widget(name))
	case r.URL.Path == "/review":
		http.Error(w, "nothing", http.StatusTeapot)
	default:
		http.NotFound(w, r)
	}
}

func (p *recorder) list(namespace string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var items []string
	for _, n := range p.widgets {
		if namespace == "" || namespace == n {
			items = append(items, widget(n))
		}
	}
	return strings.Join(items, ",")
}

// widget is an object, whose owner doesn't exist if it is garbage.
func widget(name string) string {
	owner := ""
	if name == "garbage" {
		owner = `{"apiVersion":"v1","kind":"ConfigMap","name":"c","uid":"gone"}`
	}
	return fmt.Sprintf(`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":%q,"namespace":%q,
"uid":%q,"resourceVersion":"1","ownerReferences":[%s]}}`, name, name, "uid-"+name, owner)
}

func widgetList(resource string) string {
	return `{"kind":"APIResourceList","groupVersion":"shop.example.com/v1","resources":[
{"name":"` + resource + `","kind":"Widget","namespaced":true,"verbs":["get","list","watch","patch","delete"]}]}`
}

// wait waits until the peer was asked something.
func (p *recorder) wait(t *testing.T, request string) {
	t.Helper()
	untilTrue(t, "nobody asks "+request, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.asked[request]
	})
}

// TestRequestsOfTheServer: all that a server asks others is what this table has, each as that user and no other. What
// it asks as a member of system:masters is one path alone, whose answer it doesn't read.
func TestRequestsOfTheServer(t *testing.T) {
	r := &recorder{asked: map[string]bool{}}
	p := &peer{Server: httptest.NewTLSServer(r)}
	t.Cleanup(p.Close)
	front := startBefore(t, p)
	registerWebhooks(t, front, p.URL+"/review", p.ca())
	for what, ask := range reviews(t, front, p, 30*time.Second) {
		if ask(t.Context()) == "" {
			t.Errorf("%s: the webhook's failure isn't one", what)
		}
	}
	until(t, front, http.MethodDelete, hooks+"/v", "", http.StatusOK)
	until(t, front, http.MethodDelete, definitions+"/cables.shop.example.com", "", http.StatusOK)
	until(t, front, http.MethodGet, definitions+"/cables.shop.example.com", "", http.StatusNotFound)
	for _, name := range []string{"emptied", "garbage"} {
		until(t, front, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"`+name+`"}}`, http.StatusCreated)
	}
	r.create("garbage")
	until(t, front, http.MethodPost, services, registration("recorder", true, nil), http.StatusCreated)
	available(t, front, "True", "Passed")
	r.wait(t, "DELETE "+widgetNamespaces+"garbage/widgets/garbage "+garbageCollector)
	r.create("emptied")
	until(t, front, http.MethodDelete, "/api/v1/namespaces/emptied", "", http.StatusOK)
	until(t, front, http.MethodGet, "/api/v1/namespaces/emptied", "", http.StatusNotFound)
	until(t, front, http.MethodGet, widgetNamespaces+"garbage/widgets/client", "", http.StatusOK)
	until(t, front, http.MethodGet, widgetVersion, "", http.StatusOK)
	wanted := ownRequests()
	for request := range wanted {
		r.wait(t, request)
	}
	for _, request := range r.all() {
		if !wanted[request] {
			t.Errorf("the table doesn't have %s", request)
		}
		if strings.Contains(request, auth.Masters) && !strings.Contains(request, " apitest:admin ") &&
			!strings.HasPrefix(request, "GET "+widgetVersion+" ") {
			t.Errorf("a member of system:masters asks %s", request)
		}
	}
	for _, path := range []string{"/apis", "/openapi/v2", "/openapi/v3"} {
		if strings.Contains(string(send[raw](t, front, http.MethodGet, path, "", http.StatusOK)), "stolen") {
			t.Errorf("%s has what a member of system:masters was answered", path)
		}
	}
}

const (
	garbageCollector    = controllers + "generic-garbage-collector" + controllerGroups
	namespaceController = controllers + "namespace-controller" + controllerGroups
)

// ownRequests are the requests of a server to others, and the one of its client.
func ownRequests() map[string]bool {
	const (
		masters   = "system:kube-aggregator [system:masters]"
		discovery = "system:kube-aggregator []"
		documents = "system:aggregator []"
		client    = "apitest:admin [system:masters system:authenticated]"
	)
	wanted := map[string]bool{}
	for _, row := range [][]string{
		{masters, "GET " + widgetVersion},
		{discovery, "GET /apis", "GET " + widgetVersion},
		{documents, "GET /openapi/v2", "GET /openapi/v3"},
		{garbageCollector, "GET " + widgetVersion + "/widgets", "GET " + widgetVersion + "/widgets?watch",
			"GET " + widgetNamespaces + "garbage/widgets/garbage",
			"DELETE " + widgetNamespaces + "garbage/widgets/garbage"},
		{namespaceController, "GET " + widgetNamespaces + "emptied/widgets",
			"DELETE " + widgetNamespaces + "emptied/widgets/emptied"},
		{client, "GET " + widgetNamespaces + "garbage/widgets/client", "GET " + widgetVersion},
		{"nobody []", "POST /review"},        // admission and conversion, whose addresses objects choose
		{"Bearer secret []", "POST /review"}, // webhooks whose addresses the operator chooses
	} {
		for _, request := range row[1:] {
			wanted[request+" "+row[0]] = true
		}
	}
	return wanted
}

// create makes a widget in a namespace.
func (p *recorder) create(namespace string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.widgets = append(p.widgets, namespace)
}

// all returns what the peer was asked.
func (p *recorder) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.asked))
}
