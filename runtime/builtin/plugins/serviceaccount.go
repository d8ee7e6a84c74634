package plugins

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/internal/object/metadata"
	"apigen.dev/runtime/reach"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	defaultAccount = "default"
	// mountPath is where containers find the token of their service account.
	mountPath = "/var/run/secrets/kubernetes.io/serviceaccount"
	// tokenVolume is the beginning of the name of the volume with the token.
	tokenVolume = "kube-api-access-"
	// tokenLife is the life of that token, in seconds. kube-apiserver gives it this odd length to know it by.
	tokenLife = 60*60 + 7
	// enforceSecrets is the annotation of a service account whose pods may mount its secrets alone.
	enforceSecrets = "kubernetes.io/enforce-mountable-secrets" //nolint:gosec // It is no secret.
)

// serviceAccounts is the plug-in ServiceAccount: a pod has a service account that exists, its pull secrets, and a
// volume with its token.
func serviceAccounts() admission.Plugin {
	return admission.For(admission.Typed[*core.Pod]{
		Name: "ServiceAccount", Subresources: []string{"", "ephemeralcontainers"},
		Admit: func(ctx context.Context, a *admission.Attributes, pod, _ *core.Pod) error {
			if a.Operation != admission.Create || isMirror(pod) {
				return nil
			}
			if pod.Spec.ServiceAccountName == "" {
				pod.Spec.ServiceAccountName = defaultAccount
			}
			account, err := accountOf(ctx, a, pod)
			if err != nil {
				return err
			}
			if automounts(account, pod) {
				mountToken(pod)
			}
			if len(pod.Spec.ImagePullSecrets) == 0 {
				pod.Spec.ImagePullSecrets = slices.Clone(account.ImagePullSecrets)
			}
			return nil
		},
		Validate: func(ctx context.Context, a *admission.Attributes, pod, _ *core.Pod) error {
			switch {
			case a.Subresource == "" && a.Operation != admission.Create:
				return nil
			case a.Subresource == "" && isMirror(pod):
				return checkMirror(pod)
			case pod.Spec.ServiceAccountName == "":
				return fmt.Errorf("no service account specified for pod %s/%s", a.Namespace, pod.Name)
			}
			account, err := accountOf(ctx, a, pod)
			if err != nil {
				return err
			}
			if enforce, _ := strconv.ParseBool(account.Annotations[enforceSecrets]); enforce {
				return checkSecrets(account, pod, a.Subresource != "")
			}
			return nil
		},
	})
}

func isMirror(pod *core.Pod) bool {
	_, mirror := pod.Annotations[core.MirrorPodAnnotationKey]
	return mirror
}

// accountOf returns the service account of a pod. It waits a moment for one named default, which a controller makes
// soon after its namespace.
func accountOf(ctx context.Context, a *admission.Attributes, pod *core.Pod) (*core.ServiceAccount, error) {
	name := pod.Spec.ServiceAccountName
	accounts, err := reach.Of[*core.ServiceAccount](ctx)
	if err != nil {
		return nil, err
	}
	attempts := 1
	if name == defaultAccount {
		attempts = 10
	}
	var account *core.ServiceAccount
	for n := range attempts {
		if n > 0 {
			if err := pause(ctx, 150*time.Millisecond); err != nil {
				return nil, err
			}
		}
		if account, err = accounts.Get(ctx, a.Namespace, name); !apierrors.IsNotFound(err) {
			break
		}
		err = apierrors.NewNotFound(schema.GroupResource{Resource: "serviceaccount"}, name)
	}
	if err != nil {
		// Not the 404 of the account, which would read as one of the pod.
		return nil, admission.Forbidden(a, errors.New("error looking up service account "+a.Namespace+"/"+name+": "+
			err.Error()))
	}
	return account, nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func automounts(account *core.ServiceAccount, pod *core.Pod) bool {
	for _, wish := range []*bool{pod.Spec.AutomountServiceAccountToken, account.AutomountServiceAccountToken} {
		if wish != nil {
			return *wish
		}
	}
	return true
}

// mountToken mounts a volume with the token into each container that mounts nothing at its path.
func mountToken(pod *core.Pod) {
	isToken := func(v core.Volume) bool { return strings.HasPrefix(v.Name, tokenVolume) }
	known := slices.IndexFunc(pod.Spec.Volumes, isToken)
	var name string
	if known >= 0 {
		name = pod.Spec.Volumes[known].Name
	} else {
		name = metadata.GenerateName(tokenVolume)
	}
	needed := false
	for _, containers := range [][]core.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			c := &containers[i]
			if slices.ContainsFunc(c.VolumeMounts, func(m core.VolumeMount) bool { return m.MountPath == mountPath }) {
				continue
			}
			c.VolumeMounts = append(c.VolumeMounts, core.VolumeMount{Name: name, ReadOnly: true, MountPath: mountPath})
			needed = true
		}
	}
	if needed && known < 0 {
		pod.Spec.Volumes = append(pod.Spec.Volumes, core.Volume{
			Name: name, VolumeSource: core.VolumeSource{Projected: tokenSource()},
		})
	}
}

// tokenSource returns a volume with the token, the authority of the server's certificate and the pod's namespace.
func tokenSource() *core.ProjectedVolumeSource {
	mode, life := core.ProjectedVolumeSourceDefaultMode, int64(tokenLife)
	return &core.ProjectedVolumeSource{DefaultMode: &mode, Sources: []core.VolumeProjection{
		{ServiceAccountToken: &core.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: &life}},
		{ConfigMap: &core.ConfigMapProjection{
			LocalObjectReference: core.LocalObjectReference{Name: "kube-root-ca.crt"},
			Items:                []core.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
		}},
		{DownwardAPI: &core.DownwardAPIProjection{Items: []core.DownwardAPIVolumeFile{{
			Path: "namespace", FieldRef: &core.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"},
		}}}},
	}}
}

// checkMirror refuses a pod that mirrors a static one and refers to objects of the API, which no kubelet has for it.
func checkMirror(pod *core.Pod) error {
	if pod.Spec.ServiceAccountName != "" {
		return errors.New("a mirror pod may not reference service accounts")
	}
	for range secretsOf(pod) {
		return errors.New("a mirror pod may not reference secrets")
	}
	for _, v := range pod.Spec.Volumes {
		if v.Projected == nil {
			continue
		}
		for _, source := range v.Projected.Sources {
			if source.ServiceAccountToken != nil {
				return errors.New("a mirror pod may not use ServiceAccountToken volume projections")
			}
		}
	}
	return nil
}

// checkSecrets refuses a pod with a secret that its service account doesn't list. With ephemeral, it looks at ephemeral
// containers alone.
func checkSecrets(account *core.ServiceAccount, pod *core.Pod, ephemeral bool) error {
	listed := secretsAllowed{account}
	if ephemeral {
		for _, c := range pod.Spec.EphemeralContainers {
			if err := listed.check("ephemeral container "+c.Name, c.Env, c.EnvFrom); err != nil {
				return err
			}
		}
		return nil
	}
	for _, v := range pod.Spec.Volumes {
		if v.Secret != nil && !listed.has(v.Secret.SecretName) {
			return listed.refuse("volume with", v.Secret.SecretName)
		}
	}
	for _, c := range pod.Spec.InitContainers {
		if err := listed.check("init container "+c.Name, c.Env, c.EnvFrom); err != nil {
			return err
		}
	}
	for _, c := range pod.Spec.Containers {
		if err := listed.check("container "+c.Name, c.Env, c.EnvFrom); err != nil {
			return err
		}
	}
	for i, ref := range pod.Spec.ImagePullSecrets {
		if !slices.Contains(account.ImagePullSecrets, ref) {
			return fmt.Errorf(`imagePullSecrets[%d].name="%s" is not allowed because service account %s does not `+
				`reference that imagePullSecret`, i, ref.Name, account.Name)
		}
	}
	return nil
}

// secretsAllowed are the secrets that a service account lists.
type secretsAllowed struct{ account *core.ServiceAccount }

func (s secretsAllowed) has(name string) bool {
	return slices.ContainsFunc(s.account.Secrets, func(ref core.ObjectReference) bool { return ref.Name == name })
}

func (s secretsAllowed) refuse(what, name string) error {
	return fmt.Errorf("%s secret.secretName=\"%s\" is not allowed because service account %s does not reference "+
		"that secret", what, name, s.account.Name)
}

// check refuses a container whose environment has a secret that isn't listed.
func (s secretsAllowed) check(container string, env []core.EnvVar, from []core.EnvFromSource) error {
	for _, e := range env {
		if ref := secretOf(e); ref != nil && !s.has(ref.Name) {
			return s.refuse(container+" with envVar "+e.Name+" referencing", ref.Name)
		}
	}
	for _, f := range from {
		if f.SecretRef != nil && !s.has(f.SecretRef.Name) {
			return s.refuse(container+" with envFrom referencing", f.SecretRef.Name)
		}
	}
	return nil
}

func secretOf(e core.EnvVar) *core.SecretKeySelector {
	if e.ValueFrom == nil {
		return nil
	}
	return e.ValueFrom.SecretKeyRef
}

// secretsOf yields the names of all secrets that a pod refers to.
func secretsOf(pod *core.Pod) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, name := range slices.Concat(pullSecrets(pod), containerSecrets(pod), volumeSecrets(pod)) {
			if name != "" && !yield(name) {
				return
			}
		}
	}
}

func pullSecrets(pod *core.Pod) (names []string) {
	for _, ref := range pod.Spec.ImagePullSecrets {
		names = append(names, ref.Name)
	}
	return names
}

func containerSecrets(pod *core.Pod) (names []string) {
	add := func(env []core.EnvVar, from []core.EnvFromSource) {
		for _, e := range env {
			if ref := secretOf(e); ref != nil {
				names = append(names, ref.Name)
			}
		}
		for _, f := range from {
			if f.SecretRef != nil {
				names = append(names, f.SecretRef.Name)
			}
		}
	}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		add(c.Env, c.EnvFrom)
	}
	for _, c := range pod.Spec.EphemeralContainers {
		add(c.Env, c.EnvFrom)
	}
	return names
}

func volumeSecrets(pod *core.Pod) (names []string) {
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		switch {
		case v.Secret != nil:
			names = append(names, v.Secret.SecretName)
		case v.AzureFile != nil:
			names = append(names, v.AzureFile.SecretName)
		case v.StorageOS != nil && v.StorageOS.SecretRef != nil:
			names = append(names, v.StorageOS.SecretRef.Name)
		case v.Projected != nil:
			for _, source := range v.Projected.Sources {
				if source.Secret != nil {
					names = append(names, source.Secret.Name)
				}
			}
		}
		if ref := driverSecret(v); ref != nil {
			names = append(names, ref.Name)
		}
	}
	return names
}

// driverSecret returns the secret by which a driver mounts a volume, or nil.
func driverSecret(v *core.Volume) *core.LocalObjectReference {
	switch {
	case v.CephFS != nil:
		return v.CephFS.SecretRef
	case v.Cinder != nil:
		return v.Cinder.SecretRef
	case v.FlexVolume != nil:
		return v.FlexVolume.SecretRef
	case v.RBD != nil:
		return v.RBD.SecretRef
	case v.ScaleIO != nil:
		return v.ScaleIO.SecretRef
	case v.ISCSI != nil:
		return v.ISCSI.SecretRef
	case v.CSI != nil:
		return v.CSI.NodePublishSecretRef
	}
	return nil
}
