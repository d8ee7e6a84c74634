package node

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// entryOfPod returns what a pod says: its node may read the pod and the objects to which it refers. A mirror pod gives
// no references, because a kubelet creates it.
func entryOfPod(pod *corev1.Pod) *entry {
	e := &entry{node: pod.Spec.NodeName}
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror || e.node == "" {
		return e
	}
	refs := &references{namespace: pod.Namespace}
	refs.add(serviceAccounts, pod.Spec.ServiceAccountName)
	for _, secret := range pod.Spec.ImagePullSecrets {
		refs.add(secrets, secret.Name)
	}
	for i := range pod.Spec.InitContainers {
		refs.addEnvironment(pod.Spec.InitContainers[i].EnvFrom, pod.Spec.InitContainers[i].Env)
	}
	for i := range pod.Spec.Containers {
		refs.addEnvironment(pod.Spec.Containers[i].EnvFrom, pod.Spec.Containers[i].Env)
	}
	for i := range pod.Spec.EphemeralContainers {
		refs.addEnvironment(pod.Spec.EphemeralContainers[i].EnvFrom, pod.Spec.EphemeralContainers[i].Env)
	}
	for i := range pod.Spec.Volumes {
		refs.addVolume(pod.Name, &pod.Spec.Volumes[i])
	}
	refs.addResourceClaims(pod)
	e.references = refs.sorted()
	return e
}

// references are the objects to which a pod or a volume refers.
type references struct {
	namespace string
	all       []object
}

// add adds an object in the namespace, unless its name is empty.
func (r *references) add(of kind, name string) { r.addIn(r.namespace, of, name) }

func (r *references) addIn(namespace string, of kind, name string) {
	if name != "" {
		r.all = append(r.all, object{namespace, name, of})
	}
}

func (r *references) sorted() []object {
	slices.SortFunc(r.all, object.compare)
	return slices.Compact(r.all)
}

func (r *references) addEnvironment(all []corev1.EnvFromSource, single []corev1.EnvVar) {
	for _, from := range all {
		if from.SecretRef != nil {
			r.add(secrets, from.SecretRef.Name)
		}
		if from.ConfigMapRef != nil {
			r.add(configMaps, from.ConfigMapRef.Name)
		}
	}
	for _, variable := range single {
		if variable.ValueFrom == nil {
			continue
		}
		if key := variable.ValueFrom.SecretKeyRef; key != nil {
			r.add(secrets, key.Name)
		}
		if key := variable.ValueFrom.ConfigMapKeyRef; key != nil {
			r.add(configMaps, key.Name)
		}
	}
}

func (r *references) addVolume(pod string, volume *corev1.Volume) {
	source := &volume.VolumeSource
	switch {
	case source.Secret != nil:
		r.add(secrets, source.Secret.SecretName)
	case source.ConfigMap != nil:
		r.add(configMaps, source.ConfigMap.Name)
	case source.Projected != nil:
		for _, part := range source.Projected.Sources {
			if part.Secret != nil {
				r.add(secrets, part.Secret.Name)
			}
			if part.ConfigMap != nil {
				r.add(configMaps, part.ConfigMap.Name)
			}
		}
	case source.PersistentVolumeClaim != nil:
		r.add(claims, source.PersistentVolumeClaim.ClaimName)
	case source.Ephemeral != nil:
		r.add(claims, pod+"-"+volume.Name) // the name of the claim that its controller makes
	case source.AzureFile != nil:
		r.add(secrets, source.AzureFile.SecretName)
	default:
		if secret := secretOf(source); secret != nil {
			r.add(secrets, secret.Name)
		}
	}
}

// secretOf returns the secret with which a kubelet mounts a volume of a pod, or nil.
func secretOf(source *corev1.VolumeSource) *corev1.LocalObjectReference {
	switch {
	case source.CSI != nil:
		return source.CSI.NodePublishSecretRef
	case source.CephFS != nil:
		return source.CephFS.SecretRef
	case source.Cinder != nil:
		return source.Cinder.SecretRef
	case source.FlexVolume != nil:
		return source.FlexVolume.SecretRef
	case source.ISCSI != nil:
		return source.ISCSI.SecretRef
	case source.RBD != nil:
		return source.RBD.SecretRef
	case source.ScaleIO != nil:
		return source.ScaleIO.SecretRef
	case source.StorageOS != nil:
		return source.StorageOS.SecretRef
	}
	return nil
}

// addResourceClaims adds the claims that a pod names, and those made for it, which its status names.
func (r *references) addResourceClaims(pod *corev1.Pod) {
	for _, claim := range pod.Spec.ResourceClaims {
		name := claim.ResourceClaimName
		if name == nil && claim.ResourceClaimTemplateName != nil {
			name = claimMadeFor(pod, claim.Name)
		}
		if name != nil {
			r.add(resourceClaims, *name)
		}
	}
	if extended := pod.Status.ExtendedResourceClaimStatus; extended != nil {
		r.add(resourceClaims, extended.ResourceClaimName)
	}
}

// claimMadeFor returns the name of the claim that a controller made of a template, or nil if there is none.
func claimMadeFor(pod *corev1.Pod, claim string) *string {
	for _, status := range pod.Status.ResourceClaimStatuses {
		if status.Name == claim {
			return status.ResourceClaimName
		}
	}
	return nil
}

// entryOfVolume returns what a volume says: the nodes of its claim may read the volume, and its secrets. A volume
// without a claim has no nodes.
func entryOfVolume(volume *corev1.PersistentVolume) *entry {
	claim := volume.Spec.ClaimRef
	if claim == nil {
		return &entry{}
	}
	refs := &references{namespace: claim.Namespace}
	refs.addVolumeSecrets(&volume.Spec.PersistentVolumeSource)
	return &entry{source: &object{claim.Namespace, claim.Name, claims}, references: refs.sorted()}
}

// addVolumeSecrets adds the secrets with which a kubelet mounts a volume. Some kinds of volumes have references without
// a namespace, which is then that of the claim.
func (r *references) addVolumeSecrets(source *corev1.PersistentVolumeSource) {
	switch {
	case source.CSI != nil:
		r.addSecretIn(source.CSI.NodePublishSecretRef)
		r.addSecretIn(source.CSI.NodeStageSecretRef)
		r.addSecretIn(source.CSI.NodeExpandSecretRef)
	case source.AzureFile != nil:
		namespace := r.namespace
		if chosen := source.AzureFile.SecretNamespace; chosen != nil && *chosen != "" {
			namespace = *chosen
		}
		r.addIn(namespace, secrets, source.AzureFile.SecretName)
	case source.CephFS != nil:
		r.addSecret(source.CephFS.SecretRef)
	case source.Cinder != nil:
		r.addSecretIn(source.Cinder.SecretRef)
	case source.FlexVolume != nil:
		r.addSecret(source.FlexVolume.SecretRef)
	case source.ISCSI != nil:
		r.addSecret(source.ISCSI.SecretRef)
	case source.RBD != nil:
		r.addSecret(source.RBD.SecretRef)
	case source.ScaleIO != nil:
		r.addSecret(source.ScaleIO.SecretRef)
	case source.StorageOS != nil && source.StorageOS.SecretRef != nil:
		r.addIn(source.StorageOS.SecretRef.Namespace, secrets, source.StorageOS.SecretRef.Name)
	}
}

// addSecretIn adds a secret in the namespace that the reference has.
func (r *references) addSecretIn(secret *corev1.SecretReference) {
	if secret != nil {
		r.addIn(secret.Namespace, secrets, secret.Name)
	}
}

// addSecret is addSecretIn, with the namespace of the claim where the reference has none.
func (r *references) addSecret(secret *corev1.SecretReference) {
	if secret != nil && secret.Namespace == "" {
		r.add(secrets, secret.Name)
		return
	}
	r.addSecretIn(secret)
}
