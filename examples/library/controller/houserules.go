package controller

import (
	"context"

	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/server"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/library/apis/library"
)

// HouseRules is a hook that makes the book of house rules, which every library has, before the server is ready.
func HouseRules() server.Hook {
	return server.Hook{Name: "house-rules", PostStart: func(ctx context.Context) error {
		books, err := reach.Of[*library.Book](ctx)
		if err != nil {
			return err
		}
		_, err = books.Create(ctx, &library.Book{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "house-rules"},
			Spec:       library.BookSpec{Title: "House rules"},
		}, reach.Write{Manager: "library"})
		if apierrors.IsAlreadyExists(err) {
			return nil // by an earlier start, or by another replica
		}
		return err
	}}
}
