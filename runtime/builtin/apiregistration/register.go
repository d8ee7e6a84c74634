package apiregistration

import (
	"cmp"
	"context"
	"slices"
	"time"

	v1 "apigen.dev/runtime/builtin/apiregistration/v1"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/server"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The label of APIServices that a server keeps, and its values: for versions that the server has from its start on, and
// for those that come and go with definitions of custom resources.
const (
	automanaged = "kube-aggregator.kubernetes.io/automanaged"
	atStart     = "onstart"
	always      = "true"
)

// registrar keeps an APIService for each version that the server serves itself.
type registrar struct {
	*controller
	objects reach.Objects[*v1.APIService]
	// unwanted are the names that nobody wanted at the last look. Another server of the same storage may know a
	// definition sooner than this one, so that a first look takes nothing away.
	unwanted map[string]bool
	started  bool
}

// grace is how long after a look the next one comes that may take something away, and how soon a failed write is tried
// again.
const grace = 5 * time.Second

func (r *registrar) run(ctx context.Context) {
	if r.awaitFirst(ctx) != nil {
		return
	}
	for {
		versions, changed := r.apis.Local()
		again := r.look(ctx, versions)
		var pause <-chan time.Time
		if again {
			pause = time.After(grace)
		}
		select {
		case <-changed:
		case <-r.wake:
		case <-pause:
		case <-ctx.Done():
			return
		}
	}
}

// look writes what is missing or different, and deletes what is too much. It returns true if it must look again.
func (r *registrar) look(ctx context.Context, versions []server.LocalVersion) (again bool) {
	there := r.registered()
	wanted := map[string]bool{}
	for _, object := range registrations(versions) {
		wanted[object.Name] = true
		if err := r.write(ctx, there[object.Name], object); err != nil && ctx.Err() == nil {
			r.log.Warn("an APIService of this server can't be written", "name", object.Name, "error", err)
			again = true
		}
	}
	unwanted := map[string]bool{}
	for name, object := range there {
		if !wanted[name] && object.IsLocal() && !v1.IsAvailable(object) { // a user's
			if err := r.markLocal(ctx, name); err != nil && ctx.Err() == nil {
				r.log.Warn("the status of a local APIService can't be written", "name", name, "error", err)
				again = true
			}
		}
		how := object.Labels[automanaged]
		if wanted[name] || how != always && (how != atStart || r.started) {
			continue
		}
		if !r.unwanted[name] {
			unwanted[name], again = true, true
			continue
		}
		options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &object.UID}}
		err := r.objects.Delete(ctx, "", name, options)
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && ctx.Err() == nil {
			r.log.Warn("an APIService of this server can't be deleted", "name", name, "error", err)
			unwanted[name], again = true, true
		}
	}
	r.started = r.started || len(unwanted) == 0
	r.unwanted = unwanted
	return again
}

// registered returns the APIServices that are known.
func (r *registrar) registered() map[string]*v1.APIService {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[string]*v1.APIService{}
	for name, e := range r.known {
		all[name] = e.object
	}
	return all
}

// write creates or updates an APIService, unless somebody else keeps it.
func (r *registrar) write(ctx context.Context, there, wanted *v1.APIService) error {
	how := reach.Write{Manager: manager}
	var err error
	switch {
	case there == nil:
		there, err = r.objects.Create(ctx, wanted, how)
		if apierrors.IsAlreadyExists(err) {
			return nil // it comes
		}
	case there.Labels[automanaged] == "":
		if there.IsLocal() && !v1.IsAvailable(there) {
			return r.markLocal(ctx, wanted.Name)
		}
		return nil
	case !sameRegistration(there, wanted):
		there, err = r.objects.Update(ctx, "", wanted.Name, how, func(object *v1.APIService) error {
			if object.Labels[automanaged] != "" {
				object.Labels[automanaged], object.Spec = wanted.Labels[automanaged], wanted.Spec
			}
			return nil
		})
	}
	if err != nil || v1.IsAvailable(there) {
		return err
	}
	return r.markLocal(ctx, wanted.Name)
}

// markLocal says in the status of an APIService that this server serves the version itself.
func (r *registrar) markLocal(ctx context.Context, name string) error {
	_, err := r.objects.Update(ctx, "", name, reach.Write{Subresource: "status", Manager: manager},
		func(object *v1.APIService) error {
			if object.IsLocal() {
				v1.SetCondition(object, v1.LocalCondition())
			}
			return nil
		})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // it comes again
	}
	return err
}

func sameRegistration(a, b *v1.APIService) bool {
	return a.IsLocal() && a.Spec.Group == b.Spec.Group && a.Spec.Version == b.Spec.Version &&
		a.Spec.GroupPriorityMinimum == b.Spec.GroupPriorityMinimum &&
		a.Spec.VersionPriority == b.Spec.VersionPriority && a.Labels[automanaged] == b.Labels[automanaged]
}

// registrations returns the APIServices of versions, but for that of APIServices themselves, as kube-aggregator has
// none of those.
func registrations(versions []server.LocalVersion) (all []*v1.APIService) {
	nth := map[string]int32{} // how many versions of a group came before
	for _, local := range versions {
		if local.Group == v1.GroupName {
			continue
		}
		object := &v1.APIService{}
		object.Name, object.Labels = local.Version+"."+local.Group, map[string]string{automanaged: atStart}
		if local.Added {
			object.Labels[automanaged] = always
		}
		object.Spec = v1.APIServiceSpec{
			Group: local.Group, Version: local.Version,
			GroupPriorityMinimum: cmp.Or(groupPriorities[local.Group], customPriority), VersionPriority: 100,
		}
		if !local.Added { // the versions of definitions are in the order of their names
			object.Spec.VersionPriority = max(1, 100-nth[local.Group])
		}
		nth[local.Group]++
		all = append(all, object)
	}
	slices.SortFunc(all, v1.CompareGroups)
	return all
}

// customPriority is that of groups that Kubernetes doesn't have, as of custom resources in kube-apiserver.
const customPriority = 1000

// groupPriorities are those that kube-apiserver gives to its groups.
var groupPriorities = map[string]int32{
	"":                             18000,
	"events.k8s.io":                17750,
	"authentication.k8s.io":        17700,
	"authorization.k8s.io":         17600,
	"autoscaling":                  17500,
	"batch":                        17400,
	"certificates.k8s.io":          17300,
	"networking.k8s.io":            17200,
	"policy":                       17100,
	"rbac.authorization.k8s.io":    17000,
	"storage.k8s.io":               16800,
	"admissionregistration.k8s.io": 16700,
	"apiextensions.k8s.io":         16700,
	"scheduling.k8s.io":            16600,
	"coordination.k8s.io":          16500,
	"node.k8s.io":                  16300,
	"discovery.k8s.io":             16200,
	"flowcontrol.apiserver.k8s.io": 16100,
	"apps":                         17800,
	"resource.k8s.io":              15900,
	"internal.apiserver.k8s.io":    16000,
	"storagemigration.k8s.io":      15800,
}
