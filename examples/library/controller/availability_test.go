package controller_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/library/apis"
	libraryv1 "example.com/library/apis/library/v1"
	"example.com/library/controller"
)

// gate is a transport that can end watches and keep new ones waiting, and that notes reads of the whole state.
type gate struct {
	http.RoundTripper
	mu      sync.Mutex    // guards the fields below
	open    chan struct{} // closed while watches may begin
	current []*stream     // bodies of watches
	waiting chan bool     // receives for each watch that waits whether it reads the whole state
	read    chan struct{} // receives for each read of the whole state
}

func newGate() *gate {
	g := &gate{open: make(chan struct{}), waiting: make(chan bool, 100), read: make(chan struct{}, 100)}
	close(g.open)
	return g
}

// RoundTrip implements http.RoundTripper.
func (g *gate) RoundTrip(r *http.Request) (*http.Response, error) {
	query := r.URL.Query()
	if query.Get("watch") == "" {
		return g.RoundTripper.RoundTrip(r)
	}
	whole := query.Get("sendInitialEvents") == "true"
	if whole {
		g.read <- struct{}{}
	}
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	select {
	case <-open:
	default:
		g.waiting <- whole
		<-open
	}
	response, err := g.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	body := &stream{ReadCloser: response.Body}
	g.current, response.Body = append(g.current, body), body
	return response, nil
}

// stream is the body of a watch, which may end early, as at the end of a watch's time.
type stream struct {
	io.ReadCloser
	over atomic.Bool
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if err != nil && s.over.Load() {
		err = io.EOF
	}
	return n, err
}

// shut ends all watches, and waits until the client wants to go on with one.
func (g *gate) shut(t *testing.T) {
	t.Helper()
	g.mu.Lock()
	g.open = make(chan struct{})
	current := g.current
	g.current = nil
	g.mu.Unlock()
	for _, body := range current {
		body.over.Store(true)
		_ = body.Close()
	}
	if whole := <-g.waiting; whole {
		t.Error("the client reads everything again, not what is new")
	}
	for len(g.read) > 0 {
		<-g.read
	}
}

func (g *gate) reopen() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.open)
}

func newClient(t *testing.T, s *apitest.Server) client.WithWatch {
	t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig(s.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := libraryv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func book(name string) *libraryv1.Book {
	return &libraryv1.Book{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: libraryv1.BookSpec{Title: strings.ToUpper(name)}}
}

// awaitAvailable waits until a book's condition Available has a status.
func awaitAvailable(t *testing.T, c client.WithWatch, name string, status metav1.ConditionStatus) {
	t.Helper()
	events, err := c.Watch(t.Context(), new(libraryv1.BookList), client.InNamespace("default"))
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		if got, ok := event.Object.(*libraryv1.Book); ok && got.Name == name && event.Type != watch.Deleted &&
			meta.IsStatusConditionPresentAndEqual(got.Status.Conditions, "Available", status) {
			return
		}
	}
	t.Fatalf("book %s didn't get the condition", name)
}

func setCopies(t *testing.T, c client.Client, b *libraryv1.Book, copies int32) {
	t.Helper()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(b), b); err != nil {
		t.Fatal(err)
	}
	before := b.DeepCopy()
	b.Status.Copies = copies
	if err := c.Status().Patch(t.Context(), b, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

// The controller in the server's process reconciles books, also after its watch has expired, and ends with the server,
// which apitest stops and whose error fails the test.
func TestAvailability(t *testing.T) {
	g, ended := newGate(), make(chan error, 1)
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Errorf("the controller ended with %v", err)
		}
	})
	hook := controller.Hook()
	hook.Run = func(ctx context.Context) error {
		loopback := server.LoopbackFrom(ctx)
		config := &rest.Config{Host: loopback.Host, Transport: loopback.Transport, QPS: -1}
		config.Wrap(func(transport http.RoundTripper) http.RoundTripper {
			g.RoundTripper = transport
			return g
		})
		err := controller.Run(ctx, config)
		ended <- err
		return err
	}
	var backend storage.Backend
	c := newClient(t, apitest.StartWith(t, func(config *server.Config) {
		config.Hooks = []server.Hook{hook, controller.HouseRules()}
		config.DisableCache = true // so that the history of storage is that of watches
		backend = config.Backend
	}, apis.Groups()...))
	awaitAvailable(t, c, "house-rules", metav1.ConditionFalse)
	emma := book("emma")
	if err := c.Create(t.Context(), emma); err != nil {
		t.Fatal(err)
	}
	awaitAvailable(t, c, "emma", metav1.ConditionFalse)
	setCopies(t, c, emma, 2)
	awaitAvailable(t, c, "emma", metav1.ConditionTrue)

	g.shut(t)
	for _, name := range []string{"persuasion", "sanditon"} {
		if err := c.Create(t.Context(), book(name)); err != nil {
			t.Fatal(err)
		}
	}
	revision, err := backend.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := backend.Compact(t.Context(), revision); err != nil { // the first of the two is history
		t.Fatal(err)
	}
	g.reopen()
	<-g.read // since the revision from which the watch would go on is compacted
	awaitAvailable(t, c, "persuasion", metav1.ConditionFalse)
	setCopies(t, c, emma, 0)
	awaitAvailable(t, c, "emma", metav1.ConditionFalse)
}
