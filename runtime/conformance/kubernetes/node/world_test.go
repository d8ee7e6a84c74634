package node

import (
	"fmt"
	"math/rand/v2"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// dice makes random objects. Their words are few, so that they meet.
type dice struct {
	*rand.Rand
	// nodes are the names of nodes, names those to which objects refer, and objects those of pods and the like.
	nodes, names, objects []string
	// single has no pod refer to an object twice.
	single bool
}

var namespaces = []string{"ns", "other"}

func (d *dice) one(words []string) string { return words[d.IntN(len(words))] }

func (d *dice) name() string { return d.one(d.names) }

// maybe returns a name, and sometimes none.
func (d *dice) maybe() string {
	if d.IntN(5) == 0 {
		return ""
	}
	return d.name()
}

func (d *dice) node() string {
	if d.IntN(5) == 0 {
		return ""
	}
	return d.one(d.nodes)
}

func (d *dice) meta(namespaced bool) metav1.ObjectMeta {
	m := metav1.ObjectMeta{Name: d.one(d.objects), UID: types.UID(fmt.Sprint(d.Uint64()))}
	if namespaced {
		m.Namespace = d.one(namespaces)
	}
	return m
}

func (d *dice) pod() *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: d.meta(true)}
	if d.IntN(8) == 0 {
		p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
	}
	p.Spec.NodeName, p.Spec.ServiceAccountName = d.node(), d.maybe()
	if d.single {
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: d.volumeSource()}}
		return p
	}
	for range d.IntN(2) {
		p.Spec.ImagePullSecrets = append(p.Spec.ImagePullSecrets, d.local())
	}
	for range d.IntN(2) {
		c := d.container()
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{EnvFrom: c.EnvFrom, Env: c.Env})
	}
	for range d.IntN(2) {
		c := d.container()
		p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{EnvFrom: c.EnvFrom, Env: c.Env})
	}
	for i := range d.IntN(4) {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: fmt.Sprint(i), VolumeSource: d.volumeSource()})
	}
	for i := range d.IntN(3) {
		claim := corev1.PodResourceClaim{Name: fmt.Sprint(i)}
		switch d.IntN(4) {
		case 0:
			claim.ResourceClaimName = new(d.maybe())
		case 1, 2:
			claim.ResourceClaimTemplateName = new(d.name())
		}
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, claim)
	}
	d.status(p)
	return p
}

// status gives a pod a status.
func (d *dice) status(p *corev1.Pod) {
	p.Status = corev1.PodStatus{}
	for range d.IntN(3) {
		status := corev1.PodResourceClaimStatus{Name: fmt.Sprint(d.IntN(3))}
		if d.IntN(3) > 0 {
			status.ResourceClaimName = new(d.name())
		}
		p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses, status)
	}
	if d.IntN(4) == 0 {
		p.Status.ExtendedResourceClaimStatus = &corev1.PodExtendedResourceClaimStatus{ResourceClaimName: d.maybe()}
	}
}

// evolved returns a pod after a change that the API allows.
func (d *dice) evolved(p *corev1.Pod) *corev1.Pod {
	p = p.DeepCopy()
	if p.Spec.NodeName == "" {
		p.Spec.NodeName = d.node()
	}
	if d.single {
		return p
	}
	if d.IntN(3) == 0 {
		p.Spec.EphemeralContainers = append(p.Spec.EphemeralContainers,
			corev1.EphemeralContainer{EphemeralContainerCommon: d.container()})
	}
	if d.IntN(2) == 0 {
		d.status(p)
	}
	return p
}

func (d *dice) local() corev1.LocalObjectReference {
	return corev1.LocalObjectReference{Name: d.maybe()}
}

func (d *dice) container() (c corev1.EphemeralContainerCommon) {
	for range d.IntN(2) {
		from := corev1.EnvFromSource{}
		if d.IntN(2) == 0 {
			from.SecretRef = &corev1.SecretEnvSource{LocalObjectReference: d.local()}
		} else {
			from.ConfigMapRef = &corev1.ConfigMapEnvSource{LocalObjectReference: d.local()}
		}
		c.EnvFrom = append(c.EnvFrom, from)
	}
	for range d.IntN(2) {
		source := &corev1.EnvVarSource{}
		switch d.IntN(3) {
		case 0:
			source.SecretKeyRef = &corev1.SecretKeySelector{LocalObjectReference: d.local()}
		case 1:
			source.ConfigMapKeyRef = &corev1.ConfigMapKeySelector{LocalObjectReference: d.local()}
		default:
			source = nil
		}
		c.Env = append(c.Env, corev1.EnvVar{Name: "X", ValueFrom: source})
	}
	return c
}

// volumeSource returns a volume of a pod.
func (d *dice) volumeSource() (s corev1.VolumeSource) {
	secret := new(d.local())
	if d.IntN(6) == 0 {
		secret = nil
	}
	sources := []func(){
		func() { s.Secret = &corev1.SecretVolumeSource{SecretName: d.maybe()} },
		func() { s.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: d.local()} },
		func() {
			s.Projected = &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{Secret: &corev1.SecretProjection{LocalObjectReference: d.local()}},
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: d.local()}}, {},
			}}
		},
		func() { s.Ephemeral = &corev1.EphemeralVolumeSource{} },
		func() { s.AzureFile = &corev1.AzureFileVolumeSource{SecretName: d.maybe()} },
		func() { s.CephFS = &corev1.CephFSVolumeSource{SecretRef: secret} },
		func() { s.Cinder = &corev1.CinderVolumeSource{SecretRef: secret} },
		func() { s.FlexVolume = &corev1.FlexVolumeSource{SecretRef: secret} },
		func() { s.RBD = &corev1.RBDVolumeSource{SecretRef: secret} },
		func() { s.ScaleIO = &corev1.ScaleIOVolumeSource{SecretRef: secret} },
		func() { s.ISCSI = &corev1.ISCSIVolumeSource{SecretRef: secret} },
		func() { s.StorageOS = &corev1.StorageOSVolumeSource{SecretRef: secret} },
		func() { s.CSI = &corev1.CSIVolumeSource{NodePublishSecretRef: secret} },
		func() { s.EmptyDir = &corev1.EmptyDirVolumeSource{} },
	}
	if d.IntN(3) == 0 {
		s.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: d.maybe()}
		return s
	}
	sources[d.IntN(len(sources))]()
	return s
}

// volume returns a persistent volume.
func (d *dice) volume() *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{ObjectMeta: d.meta(false)}
	if d.IntN(6) > 0 {
		v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: d.one(namespaces), Name: d.name()}
	}
	s := &v.Spec.PersistentVolumeSource
	sources := []func(){
		func() {
			s.CSI = &corev1.CSIPersistentVolumeSource{
				ControllerPublishSecretRef: d.secret(), ControllerExpandSecretRef: d.secret(),
				NodePublishSecretRef: d.secret(), NodeStageSecretRef: d.secret(), NodeExpandSecretRef: d.secret(),
			}
		},
		func() {
			s.AzureFile = &corev1.AzureFilePersistentVolumeSource{SecretName: d.maybe()}
			if d.IntN(2) == 0 {
				s.AzureFile.SecretNamespace = new(d.one([]string{"", "ns", "other"}))
			}
		},
		func() { s.CephFS = &corev1.CephFSPersistentVolumeSource{SecretRef: d.secret()} },
		func() { s.Cinder = &corev1.CinderPersistentVolumeSource{SecretRef: d.secret()} },
		func() { s.FlexVolume = &corev1.FlexPersistentVolumeSource{SecretRef: d.secret()} },
		func() { s.RBD = &corev1.RBDPersistentVolumeSource{SecretRef: d.secret()} },
		func() { s.ScaleIO = &corev1.ScaleIOPersistentVolumeSource{SecretRef: d.secret()} },
		func() { s.ISCSI = &corev1.ISCSIPersistentVolumeSource{SecretRef: d.secret()} },
		func() {
			s.StorageOS = &corev1.StorageOSPersistentVolumeSource{}
			if ref := d.secret(); ref != nil {
				s.StorageOS.SecretRef = &corev1.ObjectReference{Namespace: ref.Namespace, Name: ref.Name}
			}
		},
		func() { s.NFS = &corev1.NFSVolumeSource{} },
	}
	sources[d.IntN(len(sources))]()
	return v
}

func (d *dice) secret() *corev1.SecretReference {
	if d.IntN(4) == 0 {
		return nil
	}
	return &corev1.SecretReference{Namespace: d.one([]string{"", "ns", "other"}), Name: d.maybe()}
}

func (d *dice) attachment() *storagev1.VolumeAttachment {
	return &storagev1.VolumeAttachment{ObjectMeta: d.meta(false),
		Spec: storagev1.VolumeAttachmentSpec{NodeName: d.node()}}
}

func (d *dice) slice() *resourcev1.ResourceSlice {
	s := &resourcev1.ResourceSlice{ObjectMeta: d.meta(false)}
	if d.IntN(4) > 0 {
		s.Spec.NodeName = new(d.node())
	}
	return s
}

func (d *dice) request() *certificatesv1.PodCertificateRequest {
	return &certificatesv1.PodCertificateRequest{ObjectMeta: d.meta(true),
		Spec: certificatesv1.PodCertificateRequestSpec{NodeName: types.NodeName(d.node())}}
}
