package rbac

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/reach"
	"golang.org/x/sync/errgroup"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// bootstrapper is the field manager of bootstrap objects.
	bootstrapper = "rbac-bootstrap"
	// bootstrapWorkers is how many objects are written at the same time.
	bootstrapWorkers = 8
	// bootstrapRetry and bootstrapTime are how often and how long storage is tried before a server gives up.
	bootstrapRetry = time.Second
	bootstrapTime  = 30 * time.Second
	// maxReconciles bounds how often an object is tried that others delete and create meanwhile.
	maxReconciles = 4
)

// Bootstrap brings the objects of a policy into the server that ctx reaches, and returns once an index has them. It
// adds rules, subjects, labels and annotations that objects lack, and removes none, except that a binding to another
// role is made anew. It leaves objects alone whose annotation rbac.authorization.kubernetes.io/autoupdate is false. It
// fills aggregated roles, so that they hold as soon as the server is ready.
func Bootstrap(ctx context.Context, policy Policy, index *Index) error {
	bound, cancel := context.WithTimeout(ctx, bootstrapTime)
	defer cancel()
	for {
		err := bootstrap(bound, policy, index)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(bootstrapRetry):
		case <-bound.Done():
			return fmt.Errorf("unable to initialize roles: %w", err)
		}
	}
}

func bootstrap(ctx context.Context, p Policy, index *Index) error {
	clusterRoleObjects, err := reach.Of[*rbacv1.ClusterRole](ctx)
	if err != nil {
		return err
	}
	var written [kinds]int64
	err = errors.Join(
		reconcileAll(ctx, p.ClusterRoles, &written[clusterRoles], adjustClusterRole),
		reconcileAll(ctx, p.Roles, &written[roles], adjustRole),
		reconcileAll(ctx, p.ClusterRoleBindings, &written[clusterRoleBindings], adjustClusterRoleBinding),
		reconcileAll(ctx, p.RoleBindings, &written[roleBindings], adjustRoleBinding),
	)
	if err != nil {
		return err
	}
	all, err := clusterRoleObjects.List(ctx, "", nil)
	if err != nil {
		return err
	}
	if err := writeAggregated(ctx, clusterRoleObjects, all); err != nil {
		return err
	}
	for _, r := range all {
		written[clusterRoles] = max(written[clusterRoles], revisionOf(r))
	}
	for k, revision := range written {
		if err := index.reached[k].wait(ctx, revision); err != nil {
			return err
		}
	}
	return nil
}

// The errors by which adjust functions tell what is to be done with an object instead of an update.
var (
	errProtected = errors.New("an administrator keeps the object as it is")
	errRecreate  = errors.New("the object must be made anew")
)

// reconcileAll reconciles objects of a kind, and sets the highest of their revisions.
func reconcileAll[T metav1.Object](
	ctx context.Context, wanted []T, revision *int64, adjust func(now, wanted T) error,
) error {
	objects, err := reach.Of[T](ctx)
	if err != nil {
		return err
	}
	var highest atomic.Int64
	var working errgroup.Group
	working.SetLimit(bootstrapWorkers)
	for _, object := range wanted {
		working.Go(func() error {
			version, err := reconcile(ctx, objects, object, adjust)
			if err != nil {
				return fmt.Errorf("%s: %w", object.GetName(), err)
			}
			for old := highest.Load(); version > old && !highest.CompareAndSwap(old, version); old = highest.Load() {
			}
			return nil
		})
	}
	err = working.Wait()
	*revision = highest.Load()
	return err
}

// reconcile creates an object, or adjusts it, and returns its revision: 0 for one that it left alone.
func reconcile[T metav1.Object](
	ctx context.Context, objects reach.Objects[T], wanted T, adjust func(now, wanted T) error,
) (int64, error) {
	how := reach.Write{Manager: bootstrapper}
	namespace, name := wanted.GetNamespace(), wanted.GetName()
	for attempt := 1; ; attempt++ {
		var found T
		done, err := objects.Update(ctx, namespace, name, how, func(now T) error {
			found = now
			if now.GetAnnotations()[autoUpdate] == "false" {
				return errProtected
			}
			now.SetLabels(merged(wanted.GetLabels(), now.GetLabels()))
			now.SetAnnotations(merged(wanted.GetAnnotations(), now.GetAnnotations()))
			return adjust(now, wanted)
		})
		switch {
		case errors.Is(err, errProtected):
			return 0, nil
		case errors.Is(err, errRecreate):
			uid := found.GetUID()
			sameObject := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}
			err = objects.Delete(ctx, namespace, name, sameObject)
			if err == nil || apierrors.IsNotFound(err) {
				done, err = objects.Create(ctx, wanted, how)
			}
		case apierrors.IsNotFound(err):
			done, err = objects.Create(ctx, wanted, how)
		}
		raced := apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) || apierrors.IsNotFound(err)
		switch {
		case err == nil:
			return revisionOf(done), nil
		case !raced || attempt == maxReconciles:
			return 0, err
		}
	}
}

func adjustClusterRole(now, wanted *rbacv1.ClusterRole) error {
	now.Rules = withRules(now.Rules, wanted.Rules)
	if wanted.AggregationRule == nil {
		now.AggregationRule = nil
		return nil
	}
	if now.AggregationRule == nil {
		now.AggregationRule = &rbacv1.AggregationRule{}
	}
	for _, selector := range wanted.AggregationRule.ClusterRoleSelectors {
		same := func(other metav1.LabelSelector) bool { return equality.Semantic.DeepEqual(selector, other) }
		if known := now.AggregationRule.ClusterRoleSelectors; !slices.ContainsFunc(known, same) {
			now.AggregationRule.ClusterRoleSelectors = append(known, selector)
		}
	}
	return nil
}

func adjustRole(now, wanted *rbacv1.Role) error {
	now.Rules = withRules(now.Rules, wanted.Rules)
	return nil
}

// withRules adds to rules what wanted allows and they don't.
func withRules(rules, wanted []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	_, missing := Covers(rules, wanted)
	return append(rules, missing...)
}

func adjustClusterRoleBinding(now, wanted *rbacv1.ClusterRoleBinding) error {
	now.Subjects = withSubjects(now.Subjects, wanted.Subjects)
	return sameRole(now.RoleRef, wanted.RoleRef)
}

func adjustRoleBinding(now, wanted *rbacv1.RoleBinding) error {
	now.Subjects = withSubjects(now.Subjects, wanted.Subjects)
	return sameRole(now.RoleRef, wanted.RoleRef)
}

func withSubjects(subjects, wanted []rbacv1.Subject) []rbacv1.Subject {
	for _, s := range wanted {
		if !slices.Contains(subjects, s) {
			subjects = append(subjects, s)
		}
	}
	return subjects
}

// sameRole asks that a binding be made anew if it refers to another role, which no update changes.
func sameRole(now, wanted rbacv1.RoleRef) error {
	if now != wanted {
		return errRecreate
	}
	return nil
}
