package main

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	libraryv1 "example.com/library/apis/library/v1"
	applyv1 "example.com/library/client/applyconfiguration/library/v1"
	"example.com/library/client/clientset/versioned"
	"example.com/library/client/clientset/versioned/fake"
	"example.com/library/client/informers/externalversions"
	informersv1 "example.com/library/client/informers/externalversions/library/v1"
)

// restock raises the pages of a book to at least some number. It is code of a user, which works with a server and with
// a fake.
func restock(ctx context.Context, clients versioned.Interface, name string, pages int32) (*libraryv1.Book, error) {
	book, err := clients.LibraryV1().Books("default").Get(ctx, name, metav1.GetOptions{})
	if err != nil || book.Spec.Pages >= pages {
		return book, err
	}
	return clients.LibraryV1().Books("default").Apply(ctx,
		applyv1.Book(name, "default").WithSpec(applyv1.BookSpec().WithPages(pages)),
		metav1.ApplyOptions{FieldManager: "restock", Force: true})
}

// The generated clients, informers and apply configurations work with the server.
func TestClients(t *testing.T) {
	config, _ := start(t)
	clients, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	factory := externalversions.NewSharedInformerFactory(clients, 0)
	books := factory.Library().V1().Books()
	changed := make(chan *libraryv1.Book, 8)
	if _, err := books.TypedInformer().AddTypedEventHandler(informersv1.BookHandlerFuncs{
		UpdateFunc: func(_, book *libraryv1.Book) { changed <- book },
	}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	factory.StartWithContext(ctx)
	defer func() { stop(); factory.Shutdown() }()
	if err := factory.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
		t.Fatal(err)
	}
	uses(t, clients)
	if book := <-changed; book.Name != "novels" || book.Spec.Pages != 900 {
		t.Errorf("the informer told of %+v", book)
	}
	if book, err := books.Lister().Books("default").Get("novels"); err != nil || book.Spec.Pages != 900 {
		t.Errorf("the lister has %+v, %v", book, err)
	}
	book, err := clients.LibraryV1().Books("default").Get(ctx, "novels", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	applied, err := applyv1.ExtractBook(book, "restock")
	if err != nil || applied.Spec == nil || *applied.Spec.Pages != 900 || applied.Spec.Title != nil {
		t.Errorf("extracted %+v, %v", applied, err)
	}
}

// The same code works with the fake, without a server.
func TestFakeClients(t *testing.T) { uses(t, fake.NewClientset()) }

func uses(t *testing.T, clients versioned.Interface) {
	t.Helper()
	_, err := clients.LibraryV1().Books("default").Create(t.Context(), &libraryv1.Book{
		ObjectMeta: metav1.ObjectMeta{Name: "novels", Namespace: "default"},
		Spec: libraryv1.BookSpec{ISBN: "9780141439587", Title: "Novels", Pages: 100, Genre: libraryv1.Fiction,
			Authors: []libraryv1.Author{{Family: "Austen"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if book, err := restock(t.Context(), clients, "novels", 900); err != nil || book.Spec.Pages != 900 ||
		book.Spec.Title != "Novels" {
		t.Errorf("restocked: %+v, %v", book, err)
	}
	if _, err := restock(t.Context(), clients, "none", 1); !apierrors.IsNotFound(err) {
		t.Errorf("of no book: %v", err)
	}
}
