package plugins

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/auth"
	certificatesv1 "apigen.dev/runtime/builtin/certificates/v1"
	certificates "k8s.io/api/certificates/v1"
	core "k8s.io/api/core/v1"
	resource "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// nodeRestriction is the plug-in NodeRestriction: a kubelet, which authenticates as system:node:<name>, changes its own
// node, and what belongs to that, alone. In a server without the mode Node it concerns nobody.
func nodeRestriction() admission.Plugin {
	return admission.Plugin{
		Name: "NodeRestriction", Off: true,
		Handles: func(a *admission.Attributes) bool {
			_, isNode := nodeOf(a.User)
			return isNode && a.Operation != admission.Connect
		},
		Admit: func(ctx context.Context, a *admission.Attributes) error {
			name, _ := nodeOf(a.User)
			if name == "" {
				return fmt.Errorf("could not determine node from user %q", a.User.Name)
			}
			return restrictions[a.Resource.GroupResource().String()].check(ctx, name, a)
		},
	}
}

const (
	nodesGroup     = "system:nodes"
	nodePrefix     = "system:node:"
	leaseNamespace = "kube-node-lease"
)

// nodeOf returns the name of the node as which a user authenticated, and whether the user is a node.
func nodeOf(user *auth.User) (string, bool) {
	if user == nil || !slices.Contains(user.Groups, nodesGroup) {
		return "", false
	}
	return strings.CutPrefix(user.Name, nodePrefix)
}

// restriction refuses what a node may not do with a resource.
type restriction func(ctx context.Context, node string, a *admission.Attributes) error

// check does nothing for resources without a restriction.
func (r restriction) check(ctx context.Context, node string, a *admission.Attributes) error {
	if r == nil {
		return nil
	}
	return r(ctx, node, a)
}

// restrictions are by group resources.
var restrictions = map[string]restriction{
	"pods": restrictPods, "nodes": restrictNode, "persistentvolumeclaims": restrictClaim,
	"serviceaccounts":                                restrictTokens,
	"leases.coordination.k8s.io":                     restrictLease,
	"csinodes.storage.k8s.io":                        restrictCSINode,
	"resourceslices.resource.k8s.io":                 restrictSlice,
	"certificatesigningrequests.certificates.k8s.io": restrictRequest,
}

func unexpectedOperation(a *admission.Attributes) error {
	return fmt.Errorf("unexpected operation %q", a.Operation)
}

// restrictNode lets a node change itself, but not the labels and taints by which others keep work away from it.
func restrictNode(_ context.Context, name string, a *admission.Attributes) error {
	if a.Name != name {
		return fmt.Errorf("node %q is not allowed to modify node %q", name, a.Name)
	}
	if a.Object == nil {
		return nil
	}
	node, ok := a.Object.Value().(*core.Node)
	if !ok {
		return nil // the server's own idea of a node
	}
	if a.Operation == admission.Create {
		if configSource(node) != nil {
			return fmt.Errorf("node %q is not allowed to create pods with a non-nil configSource", name)
		}
		if labels := forbiddenLabels(node.Labels, nil); len(labels) > 0 {
			return fmt.Errorf("node %q is not allowed to set the following labels: %s", name,
				strings.Join(labels, ", "))
		}
		return nil
	}
	old := a.Old.Value().(*core.Node)
	switch {
	case configSource(node) != nil && !equality.Semantic.DeepEqual(configSource(node), configSource(old)):
		return fmt.Errorf("node %q is not allowed to update configSource to a new non-nil configSource", name)
	case !equality.Semantic.DeepEqual(node.Spec.Taints, old.Spec.Taints):
		return fmt.Errorf("node %q is not allowed to modify taints", name)
	case !slices.EqualFunc(node.OwnerReferences, old.OwnerReferences, sameOwner):
		return fmt.Errorf("node %q is not allowed to modify ownerReferences", name)
	}
	if labels := forbiddenLabels(node.Labels, old.Labels); len(labels) > 0 {
		return fmt.Errorf("is not allowed to modify labels: %s", strings.Join(labels, ", "))
	}
	return nil
}

// forbiddenLabels returns the labels that differ and that a node may not set, sorted.
func forbiddenLabels(labels, old map[string]string) (forbidden []string) {
	all := maps.Clone(old)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, labels)
	for label := range all {
		value, has := labels[label]
		before, had := old[label]
		if (has != had || value != before) && isForbidden(label) {
			forbidden = append(forbidden, label)
		}
	}
	slices.Sort(forbidden)
	return forbidden
}

// nodeLabels are the labels of Kubernetes that a kubelet sets on its node.
var nodeLabels = []string{
	core.LabelHostname, core.LabelTopologyZone, core.LabelTopologyRegion, core.LabelFailureDomainBetaZone,
	core.LabelFailureDomainBetaRegion, core.LabelInstanceType, core.LabelInstanceTypeStable, core.LabelOSStable,
	core.LabelArchStable, "beta.kubernetes.io/os", "beta.kubernetes.io/arch",
}

func isForbidden(label string) bool {
	domain, _, ok := strings.Cut(label, "/")
	if !ok {
		return false
	}
	within := func(of string) bool { return domain == of || strings.HasSuffix(domain, "."+of) }
	if within(core.LabelNamespaceNodeRestriction) {
		return true
	}
	ofKubelet := slices.Contains(nodeLabels, label) || within(core.LabelNamespaceSuffixKubelet) ||
		within(core.LabelNamespaceSuffixNode)
	return (within("kubernetes.io") || within("k8s.io")) && !ofKubelet
}

// restrictClaim lets a node tell how far the resizing of a volume is.
func restrictClaim(_ context.Context, name string, a *admission.Attributes) error {
	switch {
	case a.Subresource != "status":
		return fmt.Errorf("may only update PVC status")
	case a.Operation != admission.Update:
		return unexpectedOperation(a)
	}
	claim, isClaim := a.Object.Value().(*core.PersistentVolumeClaim)
	old, isOld := a.Old.Value().(*core.PersistentVolumeClaim)
	if !isClaim || !isOld {
		return nil
	}
	if !equality.Semantic.DeepEqual(fixedPart(claim), fixedPart(old)) {
		return fmt.Errorf("node %q is not allowed to update fields other than status.quantity and status.conditions",
			name)
	}
	return nil
}

// fixedPart returns a copy of a claim without what a node may change.
func fixedPart(claim *core.PersistentVolumeClaim) *core.PersistentVolumeClaim {
	claim = claim.DeepCopy()
	claim.ResourceVersion, claim.ManagedFields = "", nil
	status := &claim.Status
	status.Capacity, status.Conditions = nil, nil
	status.AllocatedResourceStatuses, status.AllocatedResources = nil, nil
	return claim
}

// restrictLease lets a node renew the lease by which others see that it lives.
func restrictLease(_ context.Context, name string, a *admission.Attributes) error {
	switch {
	case a.Namespace != leaseNamespace:
		return fmt.Errorf("can only access leases in the %q system namespace", leaseNamespace)
	case a.Name != name:
		return fmt.Errorf("can only access node lease with the same name as the requesting node")
	}
	return nil
}

func restrictCSINode(_ context.Context, name string, a *admission.Attributes) error {
	if a.Name != name {
		return fmt.Errorf("can only access CSINode with the same name as the requesting node")
	}
	return nil
}

// restrictSlice looks at creations and deletions. The authorizer of the mode Node looks at other requests.
func restrictSlice(_ context.Context, name string, a *admission.Attributes) error {
	object, word := a.Object, "create"
	switch a.Operation {
	case admission.Create:
	case admission.Delete:
		object, word = a.Old, "delete"
	default:
		return nil
	}
	slice, ok := object.Value().(*resource.ResourceSlice)
	if ok && (slice.Spec.NodeName == nil || *slice.Spec.NodeName != name) {
		return fmt.Errorf("can only %s ResourceSlice with the same NodeName as the requesting node", word)
	}
	return nil
}

// restrictRequest lets a node request certificates of its own name from the signers of kubelets.
func restrictRequest(_ context.Context, name string, a *admission.Attributes) error {
	if a.Operation != admission.Create || a.Subresource != "" {
		return nil
	}
	csr, ok := a.Object.Value().(*certificates.CertificateSigningRequest)
	if !ok || csr.Spec.SignerName != certificates.KubeletServingSignerName &&
		csr.Spec.SignerName != certificates.KubeAPIServerClientKubeletSignerName {
		return nil
	}
	parsed, err := certificatesv1.ParseRequest(csr.Spec.Request)
	if err != nil {
		return fmt.Errorf("unable to parse csr: %w", err)
	}
	if parsed.Subject.CommonName != nodePrefix+name {
		return fmt.Errorf("can only create a node CSR with CN=%s%s", nodePrefix, name)
	}
	return nil
}

// configSource returns a field that nothing uses any more, and that nodes may still not set.
func configSource(node *core.Node) *core.NodeConfigSource {
	return node.Spec.ConfigSource //nolint:staticcheck // SA1019: kube-apiserver looks at it.
}
