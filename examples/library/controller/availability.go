// Package controller has the hooks of the library, which run in the process of its server. It is a module of its own:
// users of the API types don't need controller-runtime.
package controller

import (
	"context"
	"log/slog"

	"apigen.dev/runtime/server"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	libraryv1 "example.com/library/apis/library/v1"
)

// Hook runs the controller as long as the server runs.
func Hook() server.Hook {
	return server.Hook{Name: "availability", Run: func(ctx context.Context) error {
		loopback := server.LoopbackFrom(ctx)
		return Run(ctx, &rest.Config{Host: loopback.Host, Transport: loopback.Transport, QPS: -1})
	}}
}

// Run gives books the condition Available until ctx ends.
func Run(ctx context.Context, clients *rest.Config) error {
	scheme := runtime.NewScheme()
	if err := libraryv1.AddToScheme(scheme); err != nil {
		return err
	}
	manager, err := ctrl.NewManager(clients, ctrl.Options{
		Scheme:     scheme,
		Metrics:    metricsserver.Options{BindAddress: "0"}, // the server has metrics of its own
		Logger:     logr.FromSlogHandler(slog.Default().Handler()),
		Controller: config.Controller{SkipNameValidation: new(true)}, // a test runs several servers
	})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).For(&libraryv1.Book{}).Complete(&availability{manager.GetClient()})
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}

// availability sets the condition Available of books: a copy is there.
type availability struct{ client.Client }

// Reconcile implements reconcile.Reconciler.
func (a *availability) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	var book libraryv1.Book
	if err := a.Get(ctx, r.NamespacedName, &book); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	condition := metav1.Condition{Type: "Available", Status: metav1.ConditionFalse, Reason: "AllLent",
		ObservedGeneration: book.Generation}
	if book.Status.Lent < book.Status.Copies {
		condition.Status, condition.Reason = metav1.ConditionTrue, "InStock"
	}
	if !meta.SetStatusCondition(&book.Status.Conditions, condition) {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, a.Status().Update(ctx, &book)
}
