package quota

import (
	"strings"

	"apigen.dev/runtime/admission"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// byClass stands between the name of a storage class and what claims of that class use.
const byClass = ".storageclass.storage.k8s.io/"

// claims are measured by their number and the storage that they request, in all and by storage class.
type claims struct{ counted }

func (claims) handles(a *admission.Attributes) bool {
	return (a.Operation == admission.Create || a.Operation == admission.Update) &&
		(a.Subresource == "" || a.Subresource == "status")
}

func (c claims) tracks(name core.ResourceName) bool {
	if _, rest, ofClass := strings.Cut(string(name), byClass); ofClass {
		name = core.ResourceName(rest)
	}
	return name == core.ResourcePersistentVolumeClaims || name == core.ResourceRequestsStorage || c.counted.tracks(name)
}

func (c claims) usage(obj any) core.ResourceList {
	claim := obj.(*core.PersistentVolumeClaim)
	used := c.counted.usage(obj)
	class := claim.Annotations[core.BetaStorageClassAnnotation]
	if class == "" && claim.Spec.StorageClassName != nil {
		class = *claim.Spec.StorageClassName
	}
	set := func(name core.ResourceName, quantity resource.Quantity) {
		used[name] = quantity
		if class != "" {
			used[core.ResourceName(class+byClass)+name] = quantity
		}
	}
	set(core.ResourcePersistentVolumeClaims, one)
	if storage, ok := storageOf(claim); ok {
		set(core.ResourceRequestsStorage, storage)
	}
	return used
}

// storageOf returns how much storage a claim asks for or has, in whole bytes.
func storageOf(claim *core.PersistentVolumeClaim) (resource.Quantity, bool) {
	storage, ok := claim.Spec.Resources.Requests[core.ResourceStorage]
	if !ok {
		return resource.Quantity{}, false
	}
	if allocated, has := claim.Status.AllocatedResources[core.ResourceStorage]; has && allocated.Cmp(storage) > 0 {
		storage = allocated
	}
	storage = storage.DeepCopy()
	storage.RoundUp(0)
	return storage, true
}

func (claims) inScope(scope core.ScopedResourceSelectorRequirement, obj any) (bool, error) {
	if scope.ScopeName != core.ResourceQuotaScopeVolumeAttributesClass {
		return false, nil
	}
	claim := obj.(*core.PersistentVolumeClaim)
	var names []string
	for _, name := range []*string{
		claim.Spec.VolumeAttributesClassName, claim.Status.CurrentVolumeAttributesClassName, targetClass(claim),
	} {
		if name != nil && *name != "" {
			names = append(names, *name)
		}
	}
	return selects(scope, len(names) > 0, names)
}

func targetClass(claim *core.PersistentVolumeClaim) *string {
	if status := claim.Status.ModifyVolumeStatus; status != nil {
		return &status.TargetVolumeAttributesClassName
	}
	return nil
}
