package endpoint

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// forms has an extension of each form, and no other verbs than get.
func forms() *verb.Info {
	info := *widgets
	info.Extensions = []verb.Extension{
		{Name: "scale", Kind: schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"},
			Methods: []string{"GET", "HEAD", "PATCH", "PUT"}},
		{Name: "binding", Kind: schema.GroupVersionKind{Group: "shop.example.com", Kind: "Binding"},
			Methods: []string{"POST"}},
		{Name: "log", Form: verb.StreamForm, Methods: []string{"GET"}},
		{Name: "exec", Form: verb.ConnectionForm, Methods: []string{"GET", "POST"}},
		{Name: "proxy", Form: verb.ConnectionForm, Subpath: true, Methods: []string{"DELETE", "GET", "OPTIONS"}},
	}
	return &info
}

// noted is an output that tells when it is closed.
type noted struct {
	io.Reader
	closed chan struct{}
}

func (b *noted) Close() error { close(b.closed); return nil }

const widgetA = "/apis/shop.example.com/v1/namespaces/ns/widgets/a"

func TestExtensionRoutes(t *testing.T) {
	a, fakes := serve(t, forms())
	f := fakes[0]
	note := func(args ...any) { f.note(fmt.Sprint(args[0]), args[1:]...) }
	f.extension = verb.ExtensionHandle{
		Get: func(_ context.Context, namespace, name, _ string, form verb.Form) (verb.Rendition, error) {
			note("get", namespace, name, form.Version)
			return f.object, nil
		},
		Update: func(
			_ context.Context, namespace, name string, body verb.Body, _ verb.WriteOptions,
		) (verb.Result, error) {
			note("update", namespace, name, body.Version)
			return f.result, nil
		},
		Patch: func(_ context.Context, namespace, name string, kind verb.PatchType, _ verb.Body,
			_ verb.WriteOptions) (verb.Result, error) {
			note("patch", namespace, name, kind)
			return f.result, nil
		},
		Create: func(_ context.Context, namespace, name string, body verb.Body,
			options verb.WriteOptions) (verb.Result, error) {
			note("create", namespace, name, string(body.Data), options.DryRun)
			result := f.result
			result.Created = true
			return result, nil
		},
		Stream: func(_ context.Context, namespace, name string, query url.Values) (verb.Output, error) {
			note("stream", namespace, name, query.Get("x"))
			return verb.Output{ReadCloser: io.NopCloser(strings.NewReader("out")), ContentType: "text/x"}, nil
		},
		Connect: func(_ context.Context, namespace, name string, query url.Values) (http.Handler, error) {
			note("connect", namespace, name, query.Get("path"))
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				fmt.Fprint(w, r.Method, " ", r.URL)
			}), nil
		},
	}
	const merge = "application/merge-patch+json"
	for _, c := range []struct {
		method, path, body string
		code               int
		want               string // what was asked, or the header Allow
	}{
		{"GET", "/scale", "", 200, "get ns a v1"},
		{"HEAD", "/scale", "", 200, "get ns a v1"},
		{"PUT", "/scale", "{}", 200, "update ns a v1"},
		{"PATCH", "/scale", "{}", 200, "patch ns a " + merge},
		{"POST", "/scale", "{}", 405, "GET, HEAD, PUT, PATCH"},
		{"DELETE", "/scale", "", 405, "GET, HEAD, PUT, PATCH"},
		{"POST", "/binding?dryRun=All", `{"x":1}`, 201, `create ns a {"x":1} true`},
		{"GET", "/binding", "", 405, "POST"},
		{"GET", "/log?x=y", "", 200, "stream ns a y"},
		{"POST", "/log", "", 405, "GET"},
		{"POST", "/exec", "", 200, "connect ns a "},
		{"PUT", "/exec", "", 405, "GET, POST"},
		{"OPTIONS", "/proxy/b/c", "", 200, "connect ns a b/c"},
		{"POST", "/proxy", "", 405, "GET, DELETE, OPTIONS"},
		{"DELETE", "/proxy/b%2Fc/%20d//", "", 200, "connect ns a b/c/ d//"},
		{"GET", "/proxy/b/../c", "", 404, ""},
		{"GET", "/proxy/%2E%2e/c", "", 404, ""},
		{"GET", "/proxy/..%2F..%2Fc", "", 404, ""}, {"GET", "/proxy/b/%2e%2fc", "", 404, ""},
		{"GET", "/proxy/b%2F..", "", 404, ""},
		{"GET", "/proxy/%00", "", 404, ""},
		{"GET", "//proxy/b", "", 404, ""},
		{"GET", "%2Fproxy/b", "", 404, ""},
		{"GET", "/exec/b", "", 404, ""},
		{"GET", "/scale/b", "", 404, ""},
		{"GET", "/nothing", "", 404, ""},
	} {
		f.asked = ""
		w := do(a, c.method, widgetA+c.path, c.body, "Content-Type", map[bool]string{true: merge,
			false: "application/json"}[c.method == "PATCH"])
		got := f.asked
		if w.Code == http.StatusMethodNotAllowed {
			got = w.Header().Get("Allow")
		}
		if w.Code != c.code || got != c.want {
			t.Errorf("%s %s: %d %q, want %d %q: %s", c.method, c.path, w.Code, got, c.code, c.want, w.Body)
		}
	}
	for path, lasts := range map[string]bool{"/log": true, "/exec": true, "/proxy/x/y": true, "/scale": false,
		"/binding": false, "/status": false, "": false} {
		info, err := request.New(httptest.NewRequest(http.MethodGet, widgetA+path, nil), a.LongRunning)
		if err != nil || info.LongRunning != lasts {
			t.Errorf("%q is long-running: %v, %v", path, !lasts, err)
		}
	}
}

// A resource without storage answers only what it has.
func TestVerbs(t *testing.T) {
	info := *widgets
	info.Verbs, info.Storage, info.Subresources = []string{"get", "list"}, "", nil
	a, _ := serve(t, &info)
	collection := strings.TrimSuffix(widgetA, "/a")
	for _, c := range []struct {
		method, path string
		code         int
		allow        string
	}{
		{"GET", widgetA, 200, ""}, {"GET", collection, 200, ""},
		{"DELETE", widgetA, 405, "GET, HEAD"}, {"PUT", widgetA, 405, "GET, HEAD"}, {"POST", collection, 405, "GET"},
		{"GET", collection + "?watch=1", 405, "GET"}, {"GET", widgetA + "/status", 404, ""},
	} {
		if w := do(a, c.method, c.path, ""); w.Code != c.code || w.Header().Get("Allow") != c.allow {
			t.Errorf("%s %s: %d %q", c.method, c.path, w.Code, w.Header().Get("Allow"))
		}
	}
	if body := do(a, "GET", "/apis/shop.example.com/v1", "").Body.String(); !strings.Contains(body,
		`"verbs":["get","list"],`) || strings.Contains(body, "storageVersionHash") {
		t.Error(body)
	}
}

// A resource that is only created has no Table, unless it has columns.
func TestTableOfAReview(t *testing.T) {
	for _, columns := range [][]api.Column{nil, {{Name: "Allowed", Type: "boolean"}}} {
		info := *widgets
		info.Verbs, info.Storage, info.Subresources = []string{"create"}, "", nil
		info.Versions = []api.VersionInfo{{Name: "v1", Columns: columns}}
		a, _ := serve(t, &info)
		code := map[bool]int{true: http.StatusNotAcceptable, false: http.StatusCreated}[columns == nil]
		for accept, code := range map[string]int{
			"application/json": http.StatusCreated, "application/json;as=Table;v=v1;g=meta.k8s.io": code,
			"application/json;as=Table;v=v1;g=meta.k8s.io,application/json": http.StatusCreated,
			"application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io":  http.StatusCreated,
		} {
			w := do(a, "POST", strings.TrimSuffix(widgetA, "/a"), "{}", "Accept", accept, "Content-Type",
				"application/json")
			if w.Code != code {
				t.Errorf("%d columns, Accept: %s: %d, want %d: %s", len(columns), accept, w.Code, code, w.Body)
			}
		}
	}
}

// A request names the object of a connection with a scheme and a port, as kube-apiserver's proxies let it; the handler
// finds them in its URL.
func TestConnectionToAnAddress(t *testing.T) {
	info := *widgets
	info.Extensions = []verb.Extension{
		{Name: "exec", Form: verb.ConnectionForm, Methods: []string{"GET"}},
		{Name: "proxy", Form: verb.ConnectionForm, Subpath: true, Address: true, Methods: []string{"GET"}},
	}
	a, fakes := serve(t, &info)
	fakes[0].extension = verb.ExtensionHandle{
		Connect: func(_ context.Context, _, name string, _ url.Values) (http.Handler, error) {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				fmt.Fprint(w, name, " ", r.URL)
			}), nil
		},
	}
	for _, c := range []struct {
		name, path string
		code       int
		want       string
	}{
		{"a", "/proxy", 200, "a //a/"},
		{"a:80", "/proxy/x?y=z", 200, "a //a:80/x?y=z"},
		{"a:http", "/proxy/x", 200, "a //a:http/x"},
		{"https:a:8443", "/proxy/x", 200, "a https://a:8443/x"},
		{"http:a:", "/proxy/x", 200, "a http://a/x"},
		{"ftp:a:21", "/proxy/x", 400, `invalid widget request \"ftp:a:21\"`},
		{":80", "/proxy/x", 400, `invalid widget request \":80\"`},
		{"https:a:8443", "/exec", 200, "https:a:8443 /"},
	} {
		w := do(a, "GET", strings.TrimSuffix(widgetA, "a")+c.name+c.path, "")
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s%s: %d %s, want %d %s", c.name, c.path, w.Code, w.Body, c.code, c.want)
		}
	}
}

func TestOutput(t *testing.T) {
	_, fakes := serve(t, forms())
	read := func(output io.Reader) (int, string, string, error) {
		closed := make(chan struct{})
		fakes[0].extension = verb.ExtensionHandle{Stream: func(context.Context, string, string,
			url.Values) (verb.Output, error) {
			return verb.Output{ReadCloser: &noted{output, closed}, ContentType: "text/plain"}, nil
		}}
		a, err := New(Config{Groups: []Group{{Group: registry.Group{Name: "shop.example.com",
			Versions: []string{"v1", "v1beta1"}}, Handles: []verb.Handle{fakes[0]}}}})
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(a)
		defer server.Close()
		response, err := http.Get(server.URL + widgetA + "/log")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		<-closed
		return response.StatusCode, response.Header.Get("Content-Type"), string(body), err
	}
	if code, kind, body, err := read(strings.NewReader("all")); code != 200 || kind != "text/plain" ||
		body != "all" || err != nil {
		t.Error(code, kind, body, err)
	}
	if code, kind, body, err := read(strings.NewReader("")); code != 200 || kind != "text/plain" || body != "" ||
		err != nil {
		t.Error(code, kind, body, err)
	}
	failure := io.MultiReader(lostOutput{})
	if code, _, body, err := read(failure); code != 500 || !strings.Contains(body, `"kind":"Status"`) || err != nil {
		t.Error(code, body, err)
	}
	// Who got a part knows that it is one.
	if code, _, body, err := read(io.MultiReader(strings.NewReader("part"), lostOutput{})); code != 200 ||
		body != "part" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(code, body, err)
	}
}

type lostOutput struct{}

func (lostOutput) Read([]byte) (int, error) { return 0, errors.New("lost") }

// An upgraded connection ends with its request, and its handler sees no credentials.
func TestConnection(t *testing.T) {
	_, fakes := serve(t, forms())
	ended := make(chan error, 1)
	seen := make(chan http.Header, 1)
	fakes[0].extension = verb.ExtensionHandle{Connect: func(context.Context, string, string,
		url.Values) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen <- r.Header
			conn, buffer, err := w.(http.Hijacker).Hijack()
			if err != nil {
				ended <- err
				return
			}
			fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
			line, err := buffer.ReadString('\n')
			fmt.Fprint(conn, line)
			if err == nil {
				_, err = buffer.ReadByte() // waits until the connection is closed
			}
			ended <- err
		}), nil
	}}
	a, err := New(Config{Groups: []Group{{Group: registry.Group{Name: "shop.example.com",
		Versions: []string{"v1", "v1beta1"}}, Handles: []verb.Handle{fakes[0]}}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, drain := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.ServeHTTP(w, r.WithContext(ctx))
	}))
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET %s/exec HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\nAuthorization: "+
		"Bearer secret\r\nImpersonate-User: root\r\n"+
		"Impersonate-Extra-Scopes: all\r\nSec-WebSocket-Protocol: v5.channel.k8s.io, "+
		"base64url.bearer.authorization.k8s.io.c2VjcmV0\r\nX-Own: 1\r\n\r\n", widgetA)
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, nil)
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(response, err)
	}
	header := <-seen
	if header.Get("Authorization") != "" || header.Get("Impersonate-User") != "" ||
		header.Get("Impersonate-Extra-Scopes") != "" ||
		header.Get("Sec-Websocket-Protocol") != "v5.channel.k8s.io" || header.Get("X-Own") != "1" {
		t.Errorf("the handler sees %v", header)
	}
	fmt.Fprint(conn, "ahoy\n")
	if line, err := reader.ReadString('\n'); line != "ahoy\n" {
		t.Fatalf("%q %v", line, err)
	}
	drain()
	if err := <-ended; err == nil {
		t.Error("the connection outlived its request")
	}
	if _, err := reader.ReadByte(); err == nil {
		t.Error("the client's side is open")
	}
}

func FuzzSubpath(f *testing.F) {
	for _, path := range []string{"a", "a/b", "%2e%2e/x", "..", "a%2Fb", "//", "%00", "a%5c..", "%"} {
		f.Add(path)
	}
	a, fakes := serve(f, forms())
	var served *http.Request
	fakes[0].extension = verb.ExtensionHandle{Connect: func(context.Context, string, string,
		url.Values) (http.Handler, error) {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { served = r }), nil
	}}
	f.Fuzz(func(t *testing.T, path string) {
		u, err := url.Parse(widgetA + "/proxy/" + path)
		if err != nil || u.Host != "" {
			t.Skip()
		}
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.URL = u
		served = nil
		a.ServeHTTP(httptest.NewRecorder(), r)
		if served == nil {
			return
		}
		for part := range strings.SplitSeq(served.URL.Path, "/") {
			if part == ".." || part == "." {
				t.Errorf("%q leads up: %q", path, served.URL.Path)
			}
		}
		if want := u.Path[len(widgetA+"/proxy"):]; served.URL.Path != want {
			t.Errorf("%q is served as %q, not %q", path, served.URL.Path, want)
		}
	})
}
