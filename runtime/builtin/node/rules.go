package node

import (
	"fmt"
	"slices"

	"apigen.dev/runtime/internal/request"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
)

// question is what a kubelet wants to do with a resource.
type question struct {
	graph *Graph
	node  string
	*request.Info
}

// rule decides a question. The reason, which may be "", says why it doesn't allow something.
type rule func(q *question) (reason string, allowed bool)

// rules decide about the resources whose objects belong to nodes. For all others the ClusterRole decides.
var rules = map[schema.GroupResource]rule{
	{Resource: "pods"}:                                                                   aboutPods,
	{Resource: "nodes"}:                                                                  aboutNodes,
	{Resource: "serviceaccounts"}:                                                        aboutServiceAccounts,
	{Resource: "secrets"}:                                                                reading(secrets),
	{Resource: "configmaps"}:                                                             reading(configMaps),
	{Resource: "persistentvolumeclaims"}:                                                 aboutClaims,
	{Resource: "persistentvolumes"}:                                                      getting(volumes),
	{Group: storagev1.GroupName, Resource: "volumeattachments"}:                          getting(attachments),
	{Group: storagev1.GroupName, Resource: "csinodes"}:                                   aboutCSINodes,
	{Group: coordinationv1.GroupName, Resource: "leases"}:                                aboutLeases,
	{Group: resourcev1.GroupName, Resource: "resourceclaims"}:                            getting(resourceClaims),
	{Group: resourcev1.GroupName, Resource: "resourceslices"}:                            aboutResourceSlices,
	{Group: certificatesv1.SchemeGroupVersion.Group, Resource: "podcertificaterequests"}: aboutCertificateRequests,
}

// verb reports whether the verb is one of some.
func (q *question) verb(some ...string) bool { return slices.Contains(some, q.Verb) }

// about reports whether the object in question is one of the node's.
func (q *question) about(of kind) (string, bool) {
	if q.Name == "" {
		return "No Object name found", false
	}
	if !q.graph.has(object{q.Namespace, q.Name, of}, q.node) {
		return fmt.Sprintf("no relationship found between node '%s' and this object", q.node), false
	}
	return "", true
}

// selectsNode reports whether the field selector lets through only the objects of the node.
func (q *question) selectsNode() bool {
	selector, err := fields.ParseSelector(q.FieldSelector)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(selector.Requirements(), func(r fields.Requirement) bool {
		return r.Field == "spec.nodeName" && r.Operator == selection.Equals && r.Value == q.node
	})
}

// getting returns the rule of kinds whose objects a kubelet gets by their names.
func getting(of kind) rule {
	return func(q *question) (string, bool) {
		switch {
		case !q.verb("get"):
			return "can only get individual resources of this type", false
		case q.Subresource != "":
			return "cannot get subresource", false
		}
		return q.about(of)
	}
}

// reading returns the rule of kinds whose objects a kubelet gets, lists and watches one by one.
func reading(of kind) rule {
	return func(q *question) (string, bool) {
		switch {
		case !q.verb("get", "list", "watch"):
			return "can only read resources of this type", false
		case q.Subresource != "":
			return "cannot read subresource", false
		case q.Namespace == "":
			return "can only read namespaced object of this type", false
		}
		return q.about(of)
	}
}

var (
	getClaim           = getting(claims)
	readServiceAccount = reading(serviceAccounts)
)

func aboutClaims(q *question) (string, bool) {
	switch {
	case q.Subresource != "status":
		return getClaim(q)
	case !q.verb("update", "patch"):
		return "can only get/update/patch this type", false
	}
	return q.about(claims)
}

func aboutServiceAccounts(q *question) (string, bool) {
	switch {
	case q.verb("get") && q.Subresource == "":
		return readServiceAccount(q)
	case !q.verb("create") || q.Name == "":
		return "can only create tokens for individual service accounts", false
	case q.Subresource != "token":
		return "can only create token subresource of serviceaccount", false
	}
	return q.about(serviceAccounts)
}

// aboutLeases decides about leases. A create has no name in its path.
func aboutLeases(q *question) (string, bool) {
	switch {
	case !q.verb("get", "create", "update", "patch", "delete"):
		return "can only get, create, update, patch, or delete a node lease", false
	case q.Namespace != corev1.NamespaceNodeLease:
		return fmt.Sprintf("can only access leases in the %q system namespace", corev1.NamespaceNodeLease), false
	case !q.verb("create") && q.Name != q.node:
		return "can only access node lease with the same name as the requesting node", false
	}
	return "", true
}

// aboutCSINodes decides about CSINodes. Their status belongs to the feature gate CSIVolumeHealth, which is off.
func aboutCSINodes(q *question) (string, bool) {
	switch {
	case q.Subresource == "status":
		return "CSINode status access requires CSIVolumeHealth feature", false
	case q.Subresource != "":
		return "cannot authorize CSINode subresources", false
	case !q.verb("get", "create", "update", "patch", "delete"):
		return "can only get, create, update, patch, or delete a CSINode", false
	case !q.verb("create") && q.Name != q.node:
		return "can only access CSINode with the same name as the requesting node", false
	}
	return "", true
}

func aboutResourceSlices(q *question) (string, bool) {
	switch {
	case q.Subresource != "":
		return "cannot authorize ResourceSlice subresources", false
	case q.verb("create"):
		return "", true
	case q.verb("get", "update", "patch", "delete"):
		return q.about(resourceSlices)
	case !q.verb("watch", "list", "deletecollection"):
		return "only the following verbs are allowed for a ResourceSlice: " +
			"get, watch, list, create, update, patch, delete, deletecollection", false
	case !q.selectsNode():
		return "can only list/watch/deletecollection resourceslices with nodeName field selector", false
	}
	return "", true
}

func aboutCertificateRequests(q *question) (string, bool) {
	switch {
	case q.Subresource != "":
		return "nodes may not access the status subresource of PodCertificateRequests", false
	case q.verb("create"):
		return "", true
	case q.verb("get"):
		return q.about(certificateRequests)
	case !q.verb("list", "watch"):
		return fmt.Sprintf("nodes may not %s podcertificaterequests", q.Verb), false
	case !q.selectsNode():
		return "can only list/watch podcertificaterequests with nodeName field selector", false
	}
	return "", true
}

// aboutNodes decides about Nodes. A kubelet reads its own by the name, which needn't exist yet.
func aboutNodes(q *question) (string, bool) {
	switch {
	case q.Subresource == "status":
		return "", q.verb("update", "patch")
	case q.Subresource != "":
		return "", false
	case q.verb("create", "update", "patch"):
		return "", true
	case !q.verb("get", "list", "watch"):
		return "", false
	case q.Name == "":
		return fmt.Sprintf("node '%s' cannot read all nodes, only its own Node object", q.node), false
	case q.Name != q.node:
		return fmt.Sprintf("node '%s' cannot read '%s', only its own Node object", q.node, q.Name), false
	}
	return "", true
}

// aboutPods decides about pods. A kubelet creates and deletes mirror pods.
func aboutPods(q *question) (string, bool) {
	switch q.Subresource {
	case "":
	case "status":
		return "", q.verb("update", "patch")
	case "eviction":
		return "", q.verb("create")
	default:
		return "", false
	}
	switch {
	case q.verb("create", "delete"):
		return "", true
	case q.verb("get"):
		return q.about(pods)
	case !q.verb("list", "watch"):
		return "", false
	case q.selectsNode():
		return "", true
	case q.Name == "":
		return "can only list/watch pods with spec.nodeName field selector", false
	}
	return q.about(pods)
}
