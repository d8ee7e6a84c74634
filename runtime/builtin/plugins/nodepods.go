package plugins

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/reach"
	authentication "k8s.io/api/authentication/v1"
	core "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// restrictPods lets a node delete and evict its pods, tell their status, and create the mirrors of static ones.
func restrictPods(ctx context.Context, name string, a *admission.Attributes) error {
	switch a.Subresource {
	case "":
		return restrictPod(ctx, name, a)
	case "status":
		return restrictStatus(name, a)
	case "eviction":
		if a.Operation != admission.Create {
			return fmt.Errorf("unexpected operation %s", a.Operation)
		}
		pod, err := podOf(ctx, a.Namespace, a.Name)
		if err != nil {
			return err
		}
		if pod.Spec.NodeName != name {
			return fmt.Errorf("node %s can only evict pods with spec.nodeName set to itself", name)
		}
		return nil
	}
	return fmt.Errorf("unexpected pod subresource %q, only 'status' and 'eviction' are allowed", a.Subresource)
}

func podOf(ctx context.Context, namespace, name string) (*core.Pod, error) {
	pods, err := reach.Of[*core.Pod](ctx)
	if err != nil {
		return nil, err
	}
	return pods.Get(ctx, namespace, name)
}

func restrictPod(ctx context.Context, name string, a *admission.Attributes) error {
	switch a.Operation {
	case admission.Create:
		pod, ok := a.Object.Value().(*core.Pod)
		if !ok {
			return nil
		}
		return restrictMirror(ctx, name, pod)
	case admission.Delete:
		if pod, ok := a.Old.Value().(*core.Pod); ok && pod.Spec.NodeName != name {
			return fmt.Errorf("node %q can only delete pods with spec.nodeName set to itself", name)
		}
		return nil
	}
	return fmt.Errorf("unexpected operation %q, node %q can only create and delete mirror pods", a.Operation, name)
}

// restrictMirror refuses a pod that mirrors no static pod of the node, or that would read objects of the API.
func restrictMirror(ctx context.Context, name string, pod *core.Pod) error {
	switch {
	case !isMirror(pod):
		return fmt.Errorf("pod does not have %q annotation, node %q can only create mirror pods",
			core.MirrorPodAnnotationKey, name)
	case pod.Spec.NodeName != name:
		return fmt.Errorf("node %q can only create pods with spec.nodeName set to itself", name)
	case len(pod.OwnerReferences) > 1:
		return fmt.Errorf("node %q can only create pods with a single owner reference set to itself", name)
	case len(pod.OwnerReferences) == 0:
		return fmt.Errorf("node %q can only create pods with an owner reference set to itself", name)
	}
	if err := checkNodeOwner(ctx, name, pod.OwnerReferences[0]); err != nil {
		return err
	}
	what, err := apiObjectOf(pod)
	switch {
	case err != nil:
		return fmt.Errorf("error checking mirror pod for API references: %w", err)
	case what != "":
		return fmt.Errorf("node %q can not create pods that reference %s", name, what)
	}
	return nil
}

func checkNodeOwner(ctx context.Context, name string, owner metav1.OwnerReference) error {
	switch {
	case owner.APIVersion != "v1" || owner.Kind != "Node" || owner.Name != name:
		return fmt.Errorf("node %q can only create pods with an owner reference set to itself", name)
	case owner.Controller == nil || !*owner.Controller:
		return fmt.Errorf("node %q can only create pods with a controller owner reference set to itself", name)
	case blocks(owner):
		return fmt.Errorf("node %q must not set blockOwnerDeletion on an owner reference", name)
	}
	nodes, err := reach.Of[*core.Node](ctx)
	if err != nil {
		return fmt.Errorf("error looking up node %s to verify uid: %w", name, err)
	}
	node, err := nodes.Get(ctx, "", name)
	if err != nil {
		return err
	}
	if owner.UID != node.UID {
		return fmt.Errorf("node %s UID mismatch: expected %s got %s", name, owner.UID, node.UID)
	}
	return nil
}

// restrictStatus lets a node change the status of its pods, and nothing else through it.
func restrictStatus(name string, a *admission.Attributes) error {
	if a.Operation != admission.Update {
		return unexpectedOperation(a)
	}
	pod, isPod := a.Object.Value().(*core.Pod)
	old, isOld := a.Old.Value().(*core.Pod)
	switch {
	case !isPod || !isOld:
		return nil
	case old.Spec.NodeName != name:
		return fmt.Errorf("node %q can only update pod status for pods with spec.nodeName set to itself", name)
	case !maps.Equal(pod.Labels, old.Labels):
		return fmt.Errorf("node %q cannot update labels through pod status", name)
	case !equality.Semantic.DeepEqual(pod.Status.ResourceClaimStatuses, old.Status.ResourceClaimStatuses):
		return fmt.Errorf("node %q cannot update resource claim statues", name)
	case !equality.Semantic.DeepEqual(pod.Status.ExtendedResourceClaimStatus, old.Status.ExtendedResourceClaimStatus):
		return fmt.Errorf("node %q cannot update extended resource claim status", name)
	}
	return nil
}

// restrictTokens lets a node request tokens for its pods, for the audiences that they name.
func restrictTokens(ctx context.Context, name string, a *admission.Attributes) error {
	if a.Operation != admission.Create || a.Subresource != "token" {
		return nil
	}
	in, ok := a.Object.Value().(*authentication.TokenRequest)
	if !ok {
		return nil
	}
	ref := in.Spec.BoundObjectRef
	switch {
	case ref == nil || ref.APIVersion != "v1" || ref.Kind != "Pod" || ref.Name == "":
		return errors.New("node requested token not bound to a pod")
	case ref.UID == "":
		return errors.New("node requested token with a pod binding without a uid")
	}
	pod, err := podOf(ctx, a.Namespace, ref.Name)
	switch {
	case err != nil:
		return err
	case ref.UID != pod.UID:
		return fmt.Errorf("the UID in the bound object reference (%s) does not match the UID in record. The object "+
			"might have been deleted and then recreated", ref.UID)
	case pod.Spec.NodeName != name:
		return errors.New("node requested token bound to a pod scheduled on a different node")
	}
	return checkAudience(ctx, a, in.Spec.Audiences, pod)
}

// checkAudience refuses a token for an audience that no volume of the pod names, and that the node may not ask for.
func checkAudience(ctx context.Context, a *admission.Attributes, audiences []string, pod *core.Pod) error {
	if len(audiences) > 1 {
		return errors.New("node may only request 0 or 1 audiences")
	}
	audience := ""
	if len(audiences) == 1 {
		audience = audiences[0]
	}
	named, err := namesAudience(ctx, pod, audience)
	if err != nil {
		return fmt.Errorf("error validating audience %q: %w", audience, err)
	}
	if named {
		return nil
	}
	ok, _, err := allowed(ctx, a.User, request.Info{
		Verb: "request-serviceaccounts-token-audience", Namespace: a.Namespace, Version: "v1", Resource: audience,
		Name: a.Name,
	})
	switch {
	case ok:
		return nil
	case err != nil:
		return fmt.Errorf("audience %q not found in pod spec volume, error authorizing %s to request tokens for this "+
			"audience: %w", audience, a.User.Name, err)
	}
	return fmt.Errorf("audience %q not found in pod spec volume, %s is not authorized to request tokens for this "+
		"audience", audience, a.User.Name)
}

// namesAudience reports whether a volume of a pod has tokens for an audience, itself or through a CSI driver.
func namesAudience(ctx context.Context, pod *core.Pod, audience string) (bool, error) {
	var failures []error
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, func(s core.VolumeProjection) bool {
			return s.ServiceAccountToken != nil && s.ServiceAccountToken.Audience == audience
		}) {
			return true, nil
		}
		driver, err := driverOf(ctx, pod, v)
		named := false
		if err == nil && driver != "" {
			named, err = driverNames(ctx, driver, audience)
		}
		if named {
			return true, nil
		}
		failures = append(failures, err)
	}
	return false, errors.Join(failures...)
}

// driverOf returns the CSI driver of a volume, "" for another one.
func driverOf(ctx context.Context, pod *core.Pod, v *core.Volume) (string, error) {
	var claim string
	switch {
	case v.CSI != nil:
		return v.CSI.Driver, nil
	case v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil:
		claim = pod.Name + "-" + v.Name
	case v.PersistentVolumeClaim != nil:
		claim = v.PersistentVolumeClaim.ClaimName
	default:
		return "", nil
	}
	claims, err := reach.Of[*core.PersistentVolumeClaim](ctx)
	if err != nil {
		return "", err
	}
	found, err := claims.Get(ctx, pod.Namespace, claim)
	if err != nil {
		return "", err
	}
	volumes, err := reach.Of[*core.PersistentVolume](ctx)
	if err != nil {
		return "", err
	}
	volume, err := volumes.Get(ctx, "", found.Spec.VolumeName)
	if err != nil || volume.Spec.CSI == nil {
		return "", err
	}
	return volume.Spec.CSI.Driver, nil
}

func driverNames(ctx context.Context, name, audience string) (bool, error) {
	drivers, err := reach.Of[*storage.CSIDriver](ctx)
	if err != nil {
		return false, err
	}
	driver, err := drivers.Get(ctx, "", name)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(driver.Spec.TokenRequests, func(r storage.TokenRequest) bool {
		return r.Audience == audience
	}), nil
}
