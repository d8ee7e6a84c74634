package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/library/apis"
	libraryv1 "example.com/library/apis/library/v1"
	"example.com/library/apis/library/v1alpha1"
)

var (
	books    = libraryv1.SchemeGroupVersion.WithResource("books")
	oldBooks = v1alpha1.SchemeGroupVersion.WithResource("books")
)

// warnings collects the server's warnings.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

// take returns the warnings since it was last called.
func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	texts := w.texts
	w.texts = nil
	return texts
}

// start runs a server of the library's API and returns the configuration of its clients.
func start(t *testing.T) (*rest.Config, *warnings) {
	t.Helper()
	server := apitest.Start(t, apis.Groups()...)
	config, err := clientcmd.RESTConfigFromKubeConfig(server.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	told := new(warnings)
	config.WarningHandlerWithContext = told
	return config, told
}

// in returns a client of the books of a namespace, in a version.
func in(t *testing.T, config *rest.Config, resource schema.GroupVersionResource) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client.Resource(resource).Namespace("default")
}

// book returns a new book.
func book(version, name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "library.example.com/" + version, "kind": "Book",
		"metadata": map[string]any{"name": name, "namespace": "default"}, "spec": spec,
	}}
}

// as reads an object into its Go type.
func as[T any](t *testing.T, object *unstructured.Unstructured, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var out T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// A book that is written in one version can be read in the other: fields are split, renamed, moved and defaulted.
func TestVersions(t *testing.T) {
	config, told := start(t)
	current, old := in(t, config, books), in(t, config, v1alpha1.SchemeGroupVersion.WithResource("books"))

	created, err := old.Create(t.Context(), book("v1alpha1", "novels", map[string]any{
		"title": "Novels", "author": "Jane Austen; Anne Brontë", "pageCount": int64(900), "priceCents": int64(1200),
		"isbn": "978-0-14-143958-7",
	}), metav1.CreateOptions{})
	if b := as[v1alpha1.Book](t, created, err); b.Spec.Genre != "Fiction" ||
		b.Spec.ISBN != "9780141439587" || b.UID == "" {
		t.Errorf("created in v1alpha1: %+v", b)
	}
	if texts := told.take(); !slices.Equal(texts,
		[]string{"library.example.com/v1alpha1 Book is deprecated; use library.example.com/v1 Book"}) {
		t.Errorf("warnings of v1alpha1: %q", texts)
	}
	got, err := current.Get(t.Context(), "novels", metav1.GetOptions{})
	want := libraryv1.BookSpec{
		ISBN: "9780141439587", Title: "Novels", Pages: 900, Genre: libraryv1.Fiction,
		Authors: []libraryv1.Author{{Given: "Jane", Family: "Austen"}, {Given: "Anne", Family: "Brontë"}},
		Price:   libraryv1.Money{Cents: 1200, Currency: "EUR"},
	}
	if b := as[libraryv1.Book](t, got, err); !cmp.Equal(want, b.Spec) {
		t.Errorf("read in v1 (-want +got):\n%s", cmp.Diff(want, b.Spec))
	}
	if texts := told.take(); len(texts) > 0 {
		t.Errorf("warnings of v1: %q", texts)
	}
	if err := unstructured.SetNestedSlice(got.Object, []any{map[string]any{"family": "Gaskell"}}, "spec",
		"authors"); err != nil {
		t.Fatal(err)
	}
	if _, err := current.Update(t.Context(), got, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	got, err = old.Get(t.Context(), "novels", metav1.GetOptions{})
	if b := as[v1alpha1.Book](t, got, err); b.Spec.Author != "Gaskell" || b.Spec.PageCount != 900 ||
		*b.Spec.PriceCents != 1200 {
		t.Errorf("read in v1alpha1: %+v", b.Spec)
	}
}

// The answer has the defaults of the version's types and markers.
func TestDefaults(t *testing.T) {
	config, _ := start(t)
	created, err := in(t, config, books).Create(t.Context(), book("v1", "emma", map[string]any{"title": "Emma"}),
		metav1.CreateOptions{})
	b := as[libraryv1.Book](t, created, err)
	if want := (libraryv1.BookSpec{Title: "Emma", Genre: libraryv1.Fiction,
		Price: libraryv1.Money{Currency: "EUR"}}); !cmp.Equal(want, b.Spec) {
		t.Error(cmp.Diff(want, b.Spec))
	}
}

// The answer to an invalid object lists all of its errors.
func TestValidation(t *testing.T) {
	config, _ := start(t)
	client := in(t, config, books)
	_, err := client.Create(t.Context(), book("v1", "bad", map[string]any{
		"title": "", "pages": int64(-1), "genre": "Poetry", "authors": []any{map[string]any{"given": "Jane"}},
		"isbn": "9780141439588", "price": map[string]any{"currency": "euros"}, "keywords": map[string]any{"A b": "c"},
	}), metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) || err.(apierrors.APIStatus).Status().Code != http.StatusUnprocessableEntity {
		t.Fatalf("a book with nothing right: %v", err)
	}
	var fields []string
	for _, cause := range err.(apierrors.APIStatus).Status().Details.Causes {
		fields = append(fields, string(cause.Type)+" "+cause.Field)
	}
	want := []string{
		"FieldValueRequired spec.title", "FieldValueRequired spec.authors[0].family", "FieldValueInvalid spec.pages",
		"FieldValueNotSupported spec.genre", "FieldValueInvalid spec.price.currency", "FieldValueInvalid spec.keywords",
		"FieldValueInvalid <nil>",     // rules in CEL were not run
		"FieldValueInvalid spec.isbn", // by the Validate method
	}
	if !slices.Equal(want, fields) {
		t.Error(cmp.Diff(want, fields))
	}

	created, err := client.Create(t.Context(),
		book("v1", "emma", map[string]any{"title": "Emma", "isbn": "0-19-953552-3"}), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedField(created.Object, "9780141439587", "spec", "isbn"); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Update(t.Context(), created, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("another ISBN: %v", err)
	}

	// CEL rules about two fields, and about the change of one. Unchanged fields are not checked.
	_, err = client.Create(t.Context(), book("v1", "facts", map[string]any{"title": "Facts", "genre": "NonFiction"}),
		metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) ||
		!strings.Contains(err.Error(), "spec.authors: Required value: non-fiction has an author") {
		t.Errorf("non-fiction without an author: %v", err)
	}
	for _, pages := range []int64{300, 301} {
		_, err = client.Patch(t.Context(), "emma", types.MergePatchType,
			fmt.Appendf(nil, `{"spec":{"pages":%d}}`, pages), metav1.PatchOptions{})
		if err != nil {
			t.Errorf("more pages: %v", err)
		}
	}
	_, err = client.Patch(t.Context(), "emma", types.MergePatchType, []byte(`{"spec":{"pages":300}}`),
		metav1.PatchOptions{})
	if !apierrors.IsInvalid(err) ||
		!strings.Contains(err.Error(), "spec.pages: Invalid value: 300: must not be less than before") {
		t.Errorf("less pages: %v", err)
	}

	// The rules of the client's version apply, with its names.
	alpha := in(t, config, v1alpha1.SchemeGroupVersion.WithResource("books"))
	_, err = alpha.Create(t.Context(), book("v1alpha1", "old", map[string]any{
		"title": "Old", "pageCount": int64(-1), "genre": "Poetry",
	}), metav1.CreateOptions{})
	const says = `[spec.pageCount: Invalid value: -1: spec.pageCount in body should be greater than or equal to 1, ` +
		`spec.genre: Unsupported value: "Poetry": supported values: "Fiction", "NonFiction"]`
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), says) {
		t.Errorf("a bad book in v1alpha1: %v", err)
	}
}

// Only the path of the status writes the status.
func TestStatus(t *testing.T) {
	config, _ := start(t)
	client := in(t, config, books)
	object := book("v1", "emma", map[string]any{"title": "Emma"})
	object.Object["status"] = map[string]any{"copies": int64(3)}
	created, err := client.Create(t.Context(), object, metav1.CreateOptions{})
	if b := as[libraryv1.Book](t, created, err); b.Status.Copies != 0 {
		t.Errorf("a creation set the status: %+v", b.Status)
	}
	created.Object["status"] = map[string]any{"copies": int64(3), "lent": int64(1)}
	created.Object["spec"] = map[string]any{"title": "Other"}
	updated, err := client.UpdateStatus(t.Context(), created, metav1.UpdateOptions{})
	if b := as[libraryv1.Book](t, updated, err); b.Status.Copies != 3 || b.Spec.Title != "Emma" {
		t.Errorf("an update of the status: %+v", b)
	}
	patched, err := client.Patch(t.Context(), "emma", types.MergePatchType,
		[]byte(`{"spec":{"title":"Emma II"},"status":{"copies":9}}`), metav1.PatchOptions{})
	if b := as[libraryv1.Book](t, patched, err); b.Status.Copies != 3 || b.Spec.Title != "Emma II" {
		t.Errorf("a patch of the object: %+v", b)
	}
	_, err = client.Patch(t.Context(), "emma", types.MergePatchType, []byte(`{"status":{"lent":4}}`),
		metav1.PatchOptions{}, "status")
	if !apierrors.IsInvalid(err) {
		t.Errorf("more lent than there are: %v", err)
	}
	_, err = client.Patch(t.Context(), "emma", types.MergePatchType, []byte(`{"status":{"copies":-1,"lent":-1}}`),
		metav1.PatchOptions{}, "status")
	if !apierrors.IsInvalid(err) ||
		!strings.Contains(err.Error(), "status.copies in body should be greater than or equal to 0") {
		t.Errorf("less copies than none: %v", err)
	}
}

// Lists select by marked fields, in every version that marks them.
func TestSelectableFields(t *testing.T) {
	config, _ := start(t)
	client := in(t, config, books)
	for name, genre := range map[string]string{"emma": "Fiction", "walden": "NonFiction", "persuasion": "Fiction"} {
		if _, err := client.Create(t.Context(), book("v1", name, map[string]any{
			"title": name, "genre": genre, "authors": []any{map[string]any{"family": "Austen"}},
		}), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := client.List(t.Context(), metav1.ListOptions{FieldSelector: "spec.genre=Fiction"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, item := range list.Items {
		names = append(names, item.GetName())
	}
	if !slices.Equal(names, []string{"emma", "persuasion"}) {
		t.Errorf("fiction: %q", names)
	}
	if _, err := client.List(t.Context(),
		metav1.ListOptions{FieldSelector: "spec.title=Emma"}); !apierrors.IsBadRequest(err) {
		t.Errorf("a field that can't be selected by: %v", err)
	}
	alpha := in(t, config, v1alpha1.SchemeGroupVersion.WithResource("books"))
	_, err = alpha.List(t.Context(), metav1.ListOptions{FieldSelector: "spec.genre=Fiction"})
	if !apierrors.IsBadRequest(err) {
		t.Errorf("a field that another version can be selected by: %v", err)
	}
}

// The columns are those of the type, one of them by a method.
func TestTable(t *testing.T) {
	config, _ := start(t)
	_, err := in(t, config, books).Create(t.Context(), book("v1", "emma", map[string]any{
		"title": "Emma", "pages": int64(474), "authors": []any{map[string]any{"given": "Jane", "family": "Austen"},
			map[string]any{"family": "Anonymous"}},
	}), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	gv := libraryv1.SchemeGroupVersion
	config.GroupVersion, config.APIPath = &gv, "/apis"
	scheme := runtime.NewScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.AcceptContentTypes = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
	client, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	var table metav1.Table
	if err := client.Get().Namespace("default").Resource("books").Do(t.Context()).Into(&table); err != nil {
		t.Fatal(err)
	}
	var columns []string
	for _, c := range table.ColumnDefinitions {
		columns = append(columns, c.Name)
	}
	if want := []string{"Name", "Title", "Authors", "Available", "Pages", "Age"}; !slices.Equal(want, columns) {
		t.Errorf("columns: %q, want %q", columns, want)
	}
	if len(table.Rows) != 1 ||
		!cmp.Equal(table.Rows[0].Cells[:5], []any{"emma", "Emma", "Jane Austen, Anonymous", nil, int64(474)}) {
		t.Errorf("rows: %+v", table.Rows)
	}
}

// An informer sees creations, updates and deletions.
func TestInformer(t *testing.T) {
	config, _ := start(t)
	client := in(t, config, books)
	create := func(name string) {
		if _, err := client.Create(t.Context(), book("v1", name, map[string]any{"title": name}),
			metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	create("before")
	all, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan string, 16)
	informer := dynamicinformer.NewDynamicSharedInformerFactory(all, 0).ForResource(books).Informer()
	title := func(obj any) string {
		u := obj.(*unstructured.Unstructured)
		text, _, _ := unstructured.NestedString(u.Object, "spec", "title")
		return u.GetName() + "=" + text
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { seen <- "add " + title(obj) },
		UpdateFunc: func(_, obj any) { seen <- "update " + title(obj) },
		DeleteFunc: func(obj any) { seen <- "delete " + title(obj) },
	}); err != nil {
		t.Fatal(err)
	}
	var running wait.Group
	ctx, stop := context.WithCancel(t.Context())
	running.StartWithContext(ctx, informer.RunWithContext)
	defer running.Wait()
	defer stop()

	expect := func(want string) {
		t.Helper()
		select {
		case got := <-seen:
			if got != want {
				t.Errorf("the informer saw %q, want %q", got, want)
			}
		case <-time.After(2 * time.Minute):
			t.Fatalf("the informer did not see %q", want)
		}
	}
	expect("add before=before")
	create("after")
	expect("add after=after")
	if _, err := client.Patch(t.Context(), "after", types.MergePatchType, []byte(`{"spec":{"title":"changed"}}`),
		metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("update after=changed")
	if err := client.Delete(t.Context(), "before", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("delete before=before")
}
