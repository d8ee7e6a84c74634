package plugins

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/api"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/typedclient"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage/memory"
	certificates "k8s.io/api/certificates/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	scheduling "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// world has the kinds that the plug-ins look at.
type world struct {
	*testing.T
	ctx context.Context
}

func define[T api.Object](
	group, kind, plural string, scope api.Scope, fresh func() T, parts ...registry.Subresource[T],
) registry.Resource {
	return registry.New(registry.Definition[T]{
		Group: group, Names: api.Names{Kind: kind, Plural: plural}, Scope: scope, New: fresh, Storage: "v1",
		Versions: []codec.Version[T]{
			codec.VersionOf(api.VersionInfo{Name: "v1"}, codec.Conversion[T, T]{New: fresh}),
		},
		Subresources: parts,
	})
}

// newWorld opens the kinds with the plug-ins of the feature that have the names, for a user who may do what allow
// allows.
func newWorld(t *testing.T, allow func(auth.Attributes) bool, names ...string) *world {
	t.Helper()
	var f Feature
	f.tolerations = tolerationSeconds{notReady: 300, unreachable: 300}
	var config server.Config
	if err := config.Use(t.Context(), &f); err != nil {
		t.Fatal(err)
	}
	run := slices.DeleteFunc(config.Admission, func(p admission.Plugin) bool { return !slices.Contains(names, p.Name) })
	if len(run) != len(names) {
		t.Fatal("no plug-ins of the names", names)
	}
	backend := memory.New()
	t.Cleanup(func() { backend.Close() })
	var handles []verb.Handle
	for _, r := range resources() {
		h, err := r.Open(t.Context(), registry.Config{
			Backend: backend, Prefix: "/registry", DisableCache: true, Admission: admission.NewChain(run, nil),
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { h.Close() })
		handles = append(handles, h)
	}
	reached, err := typedclient.Reachable(handles)
	if err != nil {
		t.Fatal(err)
	}
	ctx := reach.WithCatalog(reach.With(t.Context(), reached),
		typedclient.Catalog[verb.Handle]{Handles: func() []verb.Handle { return handles }})
	return &world{T: t, ctx: auth.WithAccess(ctx, &auth.Access{Authorizer: authorizer(allow)})}
}

func resources() []registry.Resource {
	return []registry.Resource{
		define("", "Pod", "pods", api.Namespaced, func() *core.Pod { return new(core.Pod) },
			registry.Subresource[*core.Pod]{
				Name:  "status",
				Copy:  func(from, to *core.Pod) { to.Status, to.Labels = from.Status, from.Labels },
				Reset: func(p *core.Pod) { p.Status = core.PodStatus{} },
			}),
		define("", "Node", "nodes", api.Cluster, func() *core.Node { return new(core.Node) }),
		define("", "ServiceAccount", "serviceaccounts", api.Namespaced,
			func() *core.ServiceAccount { return new(core.ServiceAccount) }),
		define("", "ConfigMap", "configmaps", api.Namespaced, func() *core.ConfigMap { return new(core.ConfigMap) }),
		define("", "LimitRange", "limitranges", api.Namespaced,
			func() *core.LimitRange { return new(core.LimitRange) }),
		define("", "PersistentVolumeClaim", "persistentvolumeclaims", api.Namespaced,
			func() *core.PersistentVolumeClaim { return new(core.PersistentVolumeClaim) }),
		define("coordination.k8s.io", "Lease", "leases", api.Namespaced,
			func() *coordination.Lease { return new(coordination.Lease) }),
		define("scheduling.k8s.io", "PriorityClass", "priorityclasses", api.Cluster,
			func() *scheduling.PriorityClass { return new(scheduling.PriorityClass) }),
		define("certificates.k8s.io", "CertificateSigningRequest", "certificatesigningrequests", api.Cluster,
			func() *certificates.CertificateSigningRequest { return new(certificates.CertificateSigningRequest) },
			csrPart("approval"), csrPart("status")),
	}
}

func csrPart(name string) registry.Subresource[*certificates.CertificateSigningRequest] {
	return registry.Subresource[*certificates.CertificateSigningRequest]{
		Name: name, Fields: map[string][]string{"v1": {"status"}},
		Copy: func(from, to *certificates.CertificateSigningRequest) { to.Status = from.Status },
	}
}

type authorizer func(auth.Attributes) bool

func (a authorizer) Authorize(_ context.Context, attributes auth.Attributes) (auth.Decision, string, error) {
	if a != nil && a(attributes) {
		return auth.Allow, "", nil
	}
	return auth.NoOpinion, "because", nil
}

// as returns the world as a user sees it.
func (w *world) as(user *auth.User) *world {
	return &world{T: w.T, ctx: auth.WithUser(w.ctx, user)}
}

func create[T api.Object](w *world, obj T) (T, error) {
	w.Helper()
	all, err := reach.Of[T](w.ctx)
	if err != nil {
		w.Fatal(err)
	}
	return all.Create(w.ctx, obj, reach.Write{})
}

func mustCreate[T api.Object](w *world, obj T) T {
	w.Helper()
	made, err := create(w, obj)
	if err != nil {
		w.Fatal(err)
	}
	return made
}

func update[T api.Object](w *world, obj T, part string, change func(T)) error {
	w.Helper()
	all, err := reach.Of[T](w.ctx)
	if err != nil {
		w.Fatal(err)
	}
	_, err = all.Update(w.ctx, obj.GetNamespace(), obj.GetName(), reach.Write{Subresource: part}, func(obj T) error {
		change(obj)
		return nil
	})
	return err
}

// refused reports whether err is 403 with a message; an empty message wants none.
func (w *world) refused(err error, message string) {
	w.Helper()
	switch {
	case message == "" && err != nil:
		w.Error(err)
	case message != "" && (!apierrors.IsForbidden(err) || !strings.HasSuffix(err.Error(), "is forbidden: "+message)):
		w.Errorf("got %v, want 403: %s", err, message)
	}
}

func in(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func pod(name string, containers ...core.Container) *core.Pod {
	return &core.Pod{ObjectMeta: in("ns", name), Spec: core.PodSpec{Containers: containers}}
}

func TestServiceAccount(t *testing.T) {
	w := newWorld(t, nil, "ServiceAccount")
	w.refused(second(create(w, &core.Pod{ObjectMeta: in("ns", "a"), Spec: core.PodSpec{ServiceAccountName: "robot"}})),
		`error looking up service account ns/robot: serviceaccount "robot" not found`)
	mustCreate(w, &core.ServiceAccount{ObjectMeta: in("ns", "default"),
		ImagePullSecrets: []core.LocalObjectReference{{Name: "pull"}}})
	made := mustCreate(w, pod("b", core.Container{Name: "c"}, core.Container{
		Name: "own", VolumeMounts: []core.VolumeMount{{Name: "x", MountPath: mountPath}},
	}))
	spec := made.Spec
	switch {
	case spec.ServiceAccountName != "default" || len(spec.ImagePullSecrets) != 1 || len(spec.Volumes) != 1:
		t.Errorf("%+v", spec)
	case len(spec.Containers[0].VolumeMounts) != 1 || spec.Containers[0].VolumeMounts[0].Name != spec.Volumes[0].Name:
		t.Errorf("%+v", spec.Containers[0])
	case spec.Containers[1].VolumeMounts[0].Name != "x" || len(spec.Containers[1].VolumeMounts) != 1:
		t.Errorf("%+v", spec.Containers[1])
	case *spec.Volumes[0].Projected.Sources[0].ServiceAccountToken.ExpirationSeconds != 3607:
		t.Errorf("%+v", spec.Volumes[0])
	}
	without := pod("c", core.Container{Name: "c"})
	without.Spec.AutomountServiceAccountToken = ptr.To(false)
	if made := mustCreate(w, without); len(made.Spec.Volumes) != 0 {
		t.Errorf("%+v", made.Spec)
	}
	mirror := pod("m")
	mirror.Annotations = map[string]string{core.MirrorPodAnnotationKey: "x"}
	mustCreate(w, mirror.DeepCopy())
	mirror.Name, mirror.Spec.ServiceAccountName = "m2", "default"
	w.refused(second(create(w, mirror)), "a mirror pod may not reference service accounts")

	account := &core.ServiceAccount{ObjectMeta: in("ns", "strict"), Secrets: []core.ObjectReference{{Name: "mine"}}}
	account.Annotations = map[string]string{enforceSecrets: "true"}
	mustCreate(w, account)
	strict := pod("s", core.Container{Name: "c", EnvFrom: []core.EnvFromSource{{
		SecretRef: &core.SecretEnvSource{LocalObjectReference: core.LocalObjectReference{Name: "other"}},
	}}})
	strict.Spec.ServiceAccountName = "strict"
	w.refused(second(create(w, strict)), `container c with envFrom referencing secret.secretName="other" is not `+
		`allowed because service account strict does not reference that secret`)
	strict.Spec.Containers[0].EnvFrom[0].SecretRef.Name = "mine"
	w.refused(second(create(w, strict)), "")
}

func second[T any](_ T, err error) error { return err }

func TestPriority(t *testing.T) {
	w := newWorld(t, nil, "Priority")
	made := mustCreate(w, pod("none"))
	if *made.Spec.Priority != 0 || made.Spec.PriorityClassName != "" ||
		*made.Spec.PreemptionPolicy != core.PreemptLowerPriority {
		t.Errorf("%+v", made.Spec)
	}
	high := pod("high")
	high.Spec.PriorityClassName = "high"
	w.refused(second(create(w, high)), "no PriorityClass with name high was found")
	mustCreate(w, &scheduling.PriorityClass{ObjectMeta: in("", "high"), Value: 1000})
	mustCreate(w, &scheduling.PriorityClass{ObjectMeta: in("", "usual"), Value: 10, GlobalDefault: true,
		PreemptionPolicy: ptr.To(core.PreemptNever)})
	if made := mustCreate(w, high); *made.Spec.Priority != 1000 {
		t.Errorf("%+v", made.Spec)
	}
	if made := mustCreate(w, pod("usual")); *made.Spec.Priority != 10 || made.Spec.PriorityClassName != "usual" ||
		*made.Spec.PreemptionPolicy != core.PreemptNever {
		t.Errorf("%+v", made.Spec)
	}
	wrong := pod("wrong")
	wrong.Spec.Priority = ptr.To[int32](5)
	w.refused(second(create(w, wrong)), "the integer value of priority (5) must not be provided in pod spec; "+
		"priority admission controller computed 10 from the given PriorityClass name")
	w.refused(second(create(w, &scheduling.PriorityClass{ObjectMeta: in("", "also"), GlobalDefault: true})),
		"PriorityClass usual is already marked as default. Only one default can exist")
	w.refused(update(w, pod("usual"), "", func(p *core.Pod) { p.Spec.Priority = nil }), "")
}

func TestTolerations(t *testing.T) {
	w := newWorld(t, nil, "DefaultTolerationSeconds")
	all := pod("all")
	all.Spec.Tolerations = []core.Toleration{{Operator: core.TolerationOpExists}}
	if made := mustCreate(w, all); len(made.Spec.Tolerations) != 1 {
		t.Errorf("%+v", made.Spec.Tolerations)
	}
	made := mustCreate(w, pod("none"))
	if len(made.Spec.Tolerations) != 2 || made.Spec.Tolerations[0].Key != core.TaintNodeNotReady ||
		*made.Spec.Tolerations[1].TolerationSeconds != 300 {
		t.Errorf("%+v", made.Spec.Tolerations)
	}
}

func TestLimits(t *testing.T) {
	w := newWorld(t, nil, "LimitRanger")
	list := func(cpu string) core.ResourceList {
		return core.ResourceList{core.ResourceCPU: resource.MustParse(cpu)}
	}
	mustCreate(w, &core.LimitRange{ObjectMeta: in("ns", "l"), Spec: core.LimitRangeSpec{Limits: []core.LimitRangeItem{
		{Type: core.LimitTypeContainer, Default: list("500m"), DefaultRequest: list("100m"), Min: list("50m"),
			Max: list("1"), MaxLimitRequestRatio: list("10")},
		{Type: core.LimitTypePod, Max: list("1500m")},
		{Type: core.LimitTypePersistentVolumeClaim, Max: core.ResourceList{"storage": resource.MustParse("1Gi")}},
	}}})
	made := mustCreate(w, pod("default", core.Container{Name: "c"}))
	if c := made.Spec.Containers[0].Resources; c.Requests.Cpu().String() != "100m" ||
		c.Limits.Cpu().String() != "500m" ||
		made.Annotations[limitsAnnotation] != "LimitRanger plugin set: cpu request for container c; "+
			"cpu limit for container c" {
		t.Errorf("%+v %v", c, made.Annotations)
	}
	sized := func(name, request, limit string) *core.Pod {
		return pod(name, core.Container{Name: "c", Resources: core.ResourceRequirements{
			Requests: list(request), Limits: list(limit),
		}})
	}
	for _, c := range []struct{ request, limit, message string }{
		{"20m", "100m", "minimum cpu usage per Container is 50m, but request is 20m"},
		{"500m", "2", "[maximum cpu usage per Container is 1, but limit is 2, maximum cpu usage per Pod is 1500m, " +
			"but limit is 2]"},
		{"50m", "1", "cpu max limit to request ratio per Container is 10, but provided ratio is 20.000000"},
		{"500m", "1", ""},
	} {
		w.refused(second(create(w, sized("p"+c.request, c.request, c.limit))), c.message)
	}
	claim := &core.PersistentVolumeClaim{ObjectMeta: in("ns", "c")}
	claim.Spec.Resources.Requests = core.ResourceList{"storage": resource.MustParse("2Gi")}
	w.refused(second(create(w, claim)),
		"maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi")
	w.refused(second(create(w, &core.Pod{ObjectMeta: in("elsewhere", "a")})), "")
}

func TestOwnerReferences(t *testing.T) {
	may := map[string]bool{}
	w := newWorld(t, func(a auth.Attributes) bool {
		return may[a.Verb+" "+a.Group+"/"+a.Resource+"/"+a.Subresource+"/"+a.Name]
	}, "OwnerReferencesPermissionEnforcement")
	owned := &core.ConfigMap{ObjectMeta: in("ns", "a")}
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "1"}}
	mustCreate(w, owned)
	change := func(blocks bool) error {
		return update(w, owned, "", func(c *core.ConfigMap) { c.OwnerReferences[0].BlockOwnerDeletion = &blocks })
	}
	w.refused(change(false), "cannot set an ownerRef on a resource you can't delete: because, <nil>")
	may["delete /configmaps//a"] = true
	w.refused(change(false), "")
	w.refused(change(true), "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set "+
		"finalizers on: because, <nil>")
	may["update /pods/finalizers/p"] = true
	w.refused(change(true), "")
	w.refused(update(w, owned, "", func(c *core.ConfigMap) { c.OwnerReferences[0].Kind = "Pid" }), "")
	other := &core.ConfigMap{ObjectMeta: in("ns", "b")}
	other.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "x.example.com/v1", Kind: "Y", Name: "p", UID: "1", BlockOwnerDeletion: ptr.To(true),
	}}
	w.refused(second(create(w, other)), "cannot set blockOwnerDeletion in this case because cannot find RESTMapping "+
		`for APIVersion x.example.com/v1 Kind Y: no matches for kind "Y" in version "x.example.com/v1"`)
	may["update */*/finalizers/*"] = true
	w.refused(second(create(w, other)), "")
}

func requestFor(t *testing.T, name string, groups ...string) []byte {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: name, Organization: groups},
	}, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}

func TestCertificates(t *testing.T) {
	may := map[string]bool{}
	w := newWorld(t, func(a auth.Attributes) bool { return may[a.Verb+" "+a.Resource+" "+a.Name] },
		"CertificateApproval", "CertificateSigning", "CertificateSubjectRestriction")
	csr := &certificates.CertificateSigningRequest{ObjectMeta: in("", "a")}
	csr.Spec.SignerName, csr.Spec.Request = "example.com/one", requestFor(t, "me", auth.Masters)
	mustCreate(w, csr)
	approve := func() error {
		return update(w, csr, "approval", func(c *certificates.CertificateSigningRequest) {
			c.Status.Conditions = append(c.Status.Conditions, certificates.CertificateSigningRequestCondition{
				Type: certificates.CertificateApproved,
			})
		})
	}
	w.refused(approve(), `user not permitted to approve requests with signerName "example.com/one"`)
	may["approve signers example.com/*"] = true
	w.refused(approve(), "")
	sign := func() error {
		return update(w, csr, "status", func(c *certificates.CertificateSigningRequest) {
			c.Status.Certificate = []byte("x")
		})
	}
	w.refused(sign(), `user not permitted to sign requests with signerName "example.com/one"`)
	may["sign signers example.com/one"] = true
	w.refused(sign(), "")
	client := &certificates.CertificateSigningRequest{ObjectMeta: in("", "b"), Spec: csr.Spec}
	client.Spec.SignerName = certificates.KubeAPIServerClientSignerName
	w.refused(second(create(w, client)), "use of kubernetes.io/kube-apiserver-client signer with system:masters "+
		"group is not allowed")
	client.Spec.Request = []byte("x")
	w.refused(second(create(w, client)), "failed to parse CSR: PEM block type must be CERTIFICATE REQUEST")
}

func TestNodeRestriction(t *testing.T) {
	all := newWorld(t, nil, "NodeRestriction")
	w := all.as(&auth.User{Name: "system:node:n1", Groups: []string{nodesGroup}})
	node := mustCreate(w, &core.Node{ObjectMeta: in("", "n1")})
	w.refused(second(create(w, &core.Node{ObjectMeta: in("", "n2")})), `node "n1" is not allowed to modify node "n2"`)
	w.refused(update(w, node, "", func(n *core.Node) {
		n.Labels = map[string]string{
			"node-restriction.kubernetes.io/x": "1", "kubernetes.io/hostname": "h", "app": "x",
			"x.node.kubernetes.io/y": "1", "k8s.io/z": "1",
		}
	}), "is not allowed to modify labels: k8s.io/z, node-restriction.kubernetes.io/x")
	w.refused(update(w, node, "", func(n *core.Node) { n.Spec.Taints = []core.Taint{{Key: "x"}} }),
		`node "n1" is not allowed to modify taints`)
	w.refused(update(w, node, "", func(n *core.Node) { n.Labels = map[string]string{"app": "x"} }), "")

	w.refused(second(create(w, pod("a"))), `pod does not have "kubernetes.io/config.mirror" annotation, node "n1" `+
		`can only create mirror pods`)
	mirror := pod("a")
	mirror.Annotations = map[string]string{core.MirrorPodAnnotationKey: "x"}
	mirror.Spec.NodeName = "n1"
	w.refused(second(create(w, mirror)), `node "n1" can only create pods with an owner reference set to itself`)
	mirror.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "v1", Kind: "Node", Name: "n1", UID: "wrong", Controller: ptr.To(true),
	}}
	w.refused(second(create(w, mirror)), "node n1 UID mismatch: expected wrong got "+string(node.UID))
	mirror.OwnerReferences[0].UID = node.UID
	mirror.Spec.Volumes = []core.Volume{{Name: "v", VolumeSource: core.VolumeSource{
		ConfigMap: &core.ConfigMapVolumeSource{},
	}}}
	w.refused(second(create(w, mirror)),
		`node "n1" can not create pods that reference configmaps (via configmap volumes)`)
	mirror.Spec.Volumes = nil
	w.refused(second(create(w, mirror)), "")

	other := pod("other")
	other.Spec.NodeName = "n2"
	mustCreate(all.as(&auth.User{Name: "admin"}), other)
	status := func(p *core.Pod) error {
		return update(w, p, "status", func(p *core.Pod) { p.Status.Phase = core.PodRunning })
	}
	w.refused(status(mirror), "")
	w.refused(status(other), `node "n1" can only update pod status for pods with spec.nodeName set to itself`)
	w.refused(update(w, mirror, "status", func(p *core.Pod) { p.Labels = map[string]string{"a": "b"} }),
		`node "n1" cannot update labels through pod status`)
	w.refused(update(w, mirror, "", func(p *core.Pod) { p.Labels = map[string]string{"a": "b"} }),
		`unexpected operation "UPDATE", node "n1" can only create and delete mirror pods`)
	pods, err := reach.Of[*core.Pod](w.ctx)
	if err != nil {
		t.Fatal(err)
	}
	w.refused(pods.Delete(w.ctx, "ns", "other", metav1.DeleteOptions{}),
		`node "n1" can only delete pods with spec.nodeName set to itself`)
	w.refused(pods.Delete(w.ctx, "ns", "a", metav1.DeleteOptions{}), "")

	w.refused(second(create(w, &coordination.Lease{ObjectMeta: in("ns", "n1")})),
		`can only access leases in the "kube-node-lease" system namespace`)
	w.refused(second(create(w, &coordination.Lease{ObjectMeta: in(leaseNamespace, "n2")})),
		"can only access node lease with the same name as the requesting node")
	w.refused(second(create(w, &coordination.Lease{ObjectMeta: in(leaseNamespace, "n1")})), "")
	csr := &certificates.CertificateSigningRequest{ObjectMeta: in("", "c")}
	csr.Spec.SignerName, csr.Spec.Request = certificates.KubeletServingSignerName, requestFor(t, "system:node:n2")
	w.refused(second(create(w, csr)), "can only create a node CSR with CN=system:node:n1")
	csr.Spec.Request = requestFor(t, "system:node:n1")
	w.refused(second(create(w, csr)), "")
	nameless := all.as(&auth.User{Name: "system:node:", Groups: []string{nodesGroup}})
	nameless.refused(second(create(nameless, &core.ConfigMap{ObjectMeta: in("ns", "x")})),
		`could not determine node from user "system:node:"`)
}
