// Package admit has the admission plug-ins of kube-apiserver for the kinds of this project. They have its names, so
// that --disable-admission-plugins switches them off.
package admit

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/api"
	"apigen.dev/runtime/reach"
)

// Plugins returns the plug-ins, in kube-apiserver's order.
func Plugins() []admission.Plugin {
	return []admission.Plugin{taintNodes(), runtimeClass(), defaultStorageClass(), inUse(), defaultIngressClass()}
}

// The finalizers that keep volumes and claims which are in use, and the taint of a node that isn't ready.
const (
	volumeFinalizer = "kubernetes.io/pv-protection"
	claimFinalizer  = "kubernetes.io/pvc-protection"
)

// taintNodes keeps pods away from a node until its kubelet has told that it is ready.
func taintNodes() admission.Plugin {
	return admission.For(admission.Typed[*corev1.Node]{
		Name: "TaintNodesByCondition", Operations: []admission.Operation{admission.Create},
		Admit: func(_ context.Context, _ *admission.Attributes, node, _ *corev1.Node) error {
			taint := corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}
			if !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) }) {
				node.Spec.Taints = append(node.Spec.Taints, taint)
			}
			return nil
		},
	})
}

// inUse keeps volumes and claims while somebody uses them: a controller takes the finalizer away.
func inUse() admission.Plugin {
	volumes := protect[*corev1.PersistentVolume](volumeFinalizer)
	claims := protect[*corev1.PersistentVolumeClaim](claimFinalizer)
	return admission.Plugin{Name: volumes.Name, Handles: volumes.Handles,
		Admit: func(ctx context.Context, a *admission.Attributes) error {
			if err := volumes.Admit(ctx, a); err != nil {
				return err
			}
			return claims.Admit(ctx, a)
		}}
}

func protect[T api.Object](finalizer string) admission.Plugin {
	return admission.For(admission.Typed[T]{
		Name: "StorageObjectInUseProtection", Operations: []admission.Operation{admission.Create},
		Admit: func(_ context.Context, _ *admission.Attributes, obj, _ T) error {
			if has := obj.GetFinalizers(); !slices.Contains(has, finalizer) {
				obj.SetFinalizers(append(has, finalizer))
			}
			return nil
		},
	})
}

// defaultStorageClass gives a claim that names no storage class the newest default one.
func defaultStorageClass() admission.Plugin {
	return admission.For(admission.Typed[*corev1.PersistentVolumeClaim]{
		Name: "DefaultStorageClass", Operations: []admission.Operation{admission.Create},
		Admit: func(ctx context.Context, _ *admission.Attributes, claim, _ *corev1.PersistentVolumeClaim) error {
			if _, annotated := claim.Annotations[corev1.BetaStorageClassAnnotation]; annotated ||
				claim.Spec.StorageClassName != nil {
				return nil
			}
			name, err := newestDefault[*storagev1.StorageClass](ctx, "storageclass.kubernetes.io/is-default-class")
			if err == nil && name != "" {
				claim.Spec.StorageClassName = &name
			}
			return err
		},
	})
}

// defaultIngressClass gives an ingress that names no class the default one.
func defaultIngressClass() admission.Plugin {
	return admission.For(admission.Typed[*networkingv1.Ingress]{
		Name: "DefaultIngressClass", Operations: []admission.Operation{admission.Create},
		Admit: func(ctx context.Context, _ *admission.Attributes, ingress, _ *networkingv1.Ingress) error {
			if _, annotated := ingress.Annotations["kubernetes.io/ingress.class"]; annotated ||
				ingress.Spec.IngressClassName != nil {
				return nil
			}
			name, err := newestDefault[*networkingv1.IngressClass](ctx, networkingv1.AnnotationIsDefaultIngressClass)
			if err == nil && name != "" {
				ingress.Spec.IngressClassName = &name
			}
			return err
		},
	})
}

// newestDefault returns the name of the newest object with an annotation that marks it as the default.
func newestDefault[T metav1.Object](ctx context.Context, annotation string) (name string, err error) {
	objects, err := reach.Of[T](ctx)
	if err != nil {
		return "", err
	}
	all, err := objects.List(ctx, "", nil)
	if err != nil {
		return "", err
	}
	var newest metav1.Time
	for _, object := range all {
		created := object.GetCreationTimestamp()
		if object.GetAnnotations()[annotation] != "true" || name != "" && !newest.Before(&created) &&
			(!newest.Equal(&created) || object.GetName() > name) {
			continue
		}
		name, newest = object.GetName(), created
	}
	return name, nil
}
