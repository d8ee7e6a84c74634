package node

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin/node"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/reach"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	certificatesinformers "k8s.io/client-go/informers/certificates/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	resourceinformers "k8s.io/client-go/informers/resource/v1"
	storageinformers "k8s.io/client-go/informers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/auth/nodeidentifier"
	kubernetes "k8s.io/kubernetes/plugin/pkg/auth/authorizer/node"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
)

// TestDecisions: both authorizers answer alike about objects that change step by step.
func TestDecisions(t *testing.T) {
	for part := range uint64(4) {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			few := []string{"a", "b", "c", "d", "a-0", "b-1"}
			d := &dice{Rand: rand.New(rand.NewPCG(37, part)), nodes: few[:3], names: few, objects: few}
			for range 25 {
				compareDecisions(t, d, 1000, 3, 1)
			}
		})
	}
}

// TestCrowd: so many pods refer to the same objects that Kubernetes' authorizer makes an index of their nodes.
func TestCrowd(t *testing.T) {
	var nodes, objects []string
	for i := range 40 {
		nodes = append(nodes, fmt.Sprint("node-", i))
	}
	for i := range 400 {
		objects = append(objects, fmt.Sprint("pod-", i))
	}
	d := &dice{Rand: rand.New(rand.NewPCG(37, 37)), nodes: nodes, names: []string{"a", "b"}, objects: objects,
		single: true}
	for range 3 {
		compareDecisions(t, d, 5000, 100, 10)
	}
}

// compareDecisions asks questions, between which there are up to a number of changes of each kind.
func compareDecisions(t *testing.T, d *dice, questions, changes, perStep int) {
	t.Helper()
	c := newComparison(t, d)
	for asked := 0; asked < questions; asked += perStep {
		c.change(changes)
		for range perStep {
			c.decide()
		}
		c.list()
	}
	c.end()
	t.Logf("%d of %d requests were allowed, %d of them by the graph", c.allowed, questions, c.byGraph)
	if c.byGraph < questions/25 {
		t.Error("too few requests meet an object")
	}
	if t.Failed() {
		t.FailNow()
	}
}

// comparison is both authorizers, beside the objects that they follow.
type comparison struct {
	*testing.T
	*dice
	pods        *stream[*corev1.Pod]
	volumes     *stream[*corev1.PersistentVolume]
	attachments *stream[*storagev1.VolumeAttachment]
	slices      *stream[*resourcev1.ResourceSlice]
	requests    *stream[*certificatesv1.PodCertificateRequest]

	theirs *kubernetes.NodeAuthorizer
	// empty is ours without objects.
	ours, empty      *node.Authorizer
	end              func()
	allowed, byGraph int
}

// The streams as informers.
type (
	podInformer struct {
		coreinformers.PodInformer
		cache.SharedIndexInformer
	}
	volumeInformer struct {
		coreinformers.PersistentVolumeInformer
		cache.SharedIndexInformer
	}
	attachmentInformer struct {
		storageinformers.VolumeAttachmentInformer
		cache.SharedIndexInformer
	}
	sliceInformer struct {
		resourceinformers.ResourceSliceInformer
		cache.SharedIndexInformer
	}
	requestInformer struct {
		certificatesinformers.PodCertificateRequestInformer
		cache.SharedIndexInformer
	}
)

func (i podInformer) Informer() cache.SharedIndexInformer        { return i.SharedIndexInformer }
func (i volumeInformer) Informer() cache.SharedIndexInformer     { return i.SharedIndexInformer }
func (i attachmentInformer) Informer() cache.SharedIndexInformer { return i.SharedIndexInformer }
func (i sliceInformer) Informer() cache.SharedIndexInformer      { return i.SharedIndexInformer }
func (i requestInformer) Informer() cache.SharedIndexInformer    { return i.SharedIndexInformer }

func newComparison(t *testing.T, d *dice) *comparison {
	t.Helper()
	c := &comparison{
		T: t, dice: d, pods: newStream[*corev1.Pod](), volumes: newStream[*corev1.PersistentVolume](),
		attachments: newStream[*storagev1.VolumeAttachment](), slices: newStream[*resourcev1.ResourceSlice](),
		requests: newStream[*certificatesv1.PodCertificateRequest](),
	}
	graph := kubernetes.NewGraph()
	kubernetes.AddGraphEventHandlers(graph, nil, podInformer{SharedIndexInformer: c.pods},
		volumeInformer{SharedIndexInformer: c.volumes}, attachmentInformer{SharedIndexInformer: c.attachments},
		sliceInformer{SharedIndexInformer: c.slices}, requestInformer{SharedIndexInformer: c.requests})
	c.theirs = kubernetes.NewAuthorizer(graph, nodeidentifier.NewDefaultNodeIdentifier(), bootstrappolicy.NodeRules())
	var err error
	if c.ours, err = node.New(); err != nil {
		t.Fatal(err)
	}
	if c.empty, err = node.New(); err != nil {
		t.Fatal(err)
	}
	ctx := reach.WithObjects(reach.WithObjects(t.Context(), c.pods), c.volumes)
	ctx = reach.WithObjects(reach.WithObjects(reach.WithObjects(ctx, c.attachments), c.slices), c.requests)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- c.ours.Graph.Follow(ctx) }()
	c.end = func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	return c
}

func (c *comparison) change(most int) {
	for range c.IntN(most + 1) {
		c.changePod()
	}
	change(c, c.volumes, most, c.volume, c.volumes.put)
	change(c, c.attachments, most, c.attachment, c.attachments.put)
	change(c, c.slices, most, c.slice, c.slices.replace)       // the node is immutable
	change(c, c.requests, most, c.request, c.requests.replace) // and so it is here
	reset := c.IntN(30) == 0
	c.pods.flush(reset)
	c.volumes.flush(reset)
	c.attachments.flush(reset)
	c.slices.flush(reset)
	c.requests.flush(reset)
}

// changePod creates, changes or deletes a pod.
func (c *comparison) changePod() {
	p := c.pod()
	old, found := c.pods.find(p)
	switch action := c.IntN(5); {
	case found && action == 0:
		c.pods.remove(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name}}, c.IntN(2) == 0)
	case found && action == 1:
		c.pods.replace(p)
	case found && action == 2 && p.Spec.NodeName != "":
		c.pods.put(p) // an informer that missed the deletion sees another UID
	case found:
		c.pods.put(c.evolved(old))
	default:
		c.pods.put(p)
	}
}

// change puts or deletes some objects of a kind.
func change[T metav1.Object](c *comparison, s *stream[T], most int, object func() T, put func(T)) {
	for range c.IntN(most + 1) {
		if o := object(); c.IntN(3) == 0 {
			s.remove(o, c.IntN(2) == 0)
		} else {
			put(o)
		}
	}
}

var (
	verbs = []string{"get", "get", "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection",
		"proxy", "*", ""}
	subresources = []string{"", "", "", "", "", "", "status", "token", "eviction", "log", "*"}
	// resources are those with rules of their own, and others of the ClusterRole.
	resources = []struct{ group, resource string }{
		{"", "pods"}, {"", "secrets"}, {"", "secrets"}, {"", "configmaps"}, {"", "persistentvolumeclaims"},
		{"", "persistentvolumes"}, {"", "serviceaccounts"}, {"", "nodes"}, {"storage.k8s.io", "volumeattachments"},
		{"storage.k8s.io", "csinodes"}, {"coordination.k8s.io", "leases"}, {"resource.k8s.io", "resourceclaims"},
		{"resource.k8s.io", "resourceslices"}, {"certificates.k8s.io", "podcertificaterequests"},
		{"", "services"}, {"", "events"}, {"events.k8s.io", "events"}, {"", "endpoints"}, {"apps", "secrets"},
		{"storage.k8s.io", "csidrivers"}, {"node.k8s.io", "runtimeclasses"}, {"", "leases"}, {"storage.k8s.io", "pods"},
		{"certificates.k8s.io", "certificatesigningrequests"}, {"certificates.k8s.io", "clustertrustbundles"},
		{"authentication.k8s.io", "tokenreviews"}, {"authorization.k8s.io", "localsubjectaccessreviews"}, {"", ""},
	}
	// clusterScoped are the resources whose requests usually have no namespace.
	clusterScoped = map[string]bool{"persistentvolumes": true, "nodes": true, "volumeattachments": true,
		"csinodes": true, "resourceslices": true}
)

func (c *comparison) user() *auth.User {
	u := &auth.User{Name: "system:node:" + c.one(c.nodes), Groups: []string{"system:authenticated", "system:nodes"}}
	switch c.IntN(30) {
	case 0:
		u.Name = c.one([]string{"system:node:", "ann", "system:nodes:a", "", "system:node:nobody"})
	case 1:
		u.Groups = []string{c.one([]string{"", "system:masters", "system:node"})}
	}
	return u
}

func (c *comparison) info() *request.Info {
	if c.IntN(40) == 0 {
		return &request.Info{Verb: c.one(verbs), Path: c.one([]string{"/healthz", "/api", "/version", ""})}
	}
	of := resources[c.IntN(len(resources))]
	info := &request.Info{IsResource: true, Verb: c.one(verbs), Group: of.group, Version: "v1", Resource: of.resource,
		Subresource: c.one(subresources), Name: c.maybe(), Namespace: c.one(namespaces)}
	if clusterScoped[of.resource] != (c.IntN(15) == 0) {
		info.Namespace = ""
	}
	switch {
	case of.resource == "leases" && c.IntN(3) > 0:
		info.Namespace, info.Name = "kube-node-lease", c.node()
	case c.IntN(5) == 0:
		info.Name = c.node()
	}
	if c.IntN(2) == 0 {
		info.FieldSelector = c.selector()
	}
	return info
}

// selector returns a field selector, which may be wrong.
func (c *comparison) selector() string {
	selector := ""
	for range 1 + c.IntN(2) {
		selector += c.one([]string{"spec.nodeName", "spec.nodeName", "metadata.name", "nodeName", ""}) +
			c.one([]string{"=", "=", "==", "!=", "", "=="}) + c.one([]string{c.node(), c.node(), `\`, "x=y", "a"}) +
			c.one([]string{"", ","})
	}
	return selector
}

// aim turns a request into one for an object to which a pod or a volume refers, by the node of a pod.
func (c *comparison) aim(who *auth.User, info *request.Info) {
	if len(c.pods.all) == 0 {
		return
	}
	p := c.pods.all[c.IntN(len(c.pods.all))]
	who.Name, who.Groups = "system:node:"+p.Spec.NodeName, []string{"system:nodes"}
	*info = request.Info{IsResource: true, Verb: c.one([]string{"get", "get", "watch", "create", "patch"}),
		Version: "v1", Namespace: p.Namespace, Name: c.name()}
	switch c.IntN(10) {
	case 0:
		info.Resource, info.Name = "pods", p.Name
	case 1:
		info.Resource, info.Name = "serviceaccounts", p.Spec.ServiceAccountName
		info.Subresource = c.one([]string{"", "token"})
	case 2:
		info.Resource, info.Subresource = "persistentvolumeclaims", c.one([]string{"", "status"})
	case 3:
		info.Resource = "configmaps"
	case 4:
		info.Group, info.Resource = "resource.k8s.io", "resourceclaims"
	case 5, 6:
		info.Resource, info.Namespace = "secrets", c.one(namespaces)
	case 7:
		info.Resource, info.Namespace, info.Name = "persistentvolumes", "", c.one(c.objects)
	case 8:
		info.Resource = "secrets"
	default:
		c.aimAtNode(info)
	}
}

// aimAtNode turns a request into one for an object that belongs to a node.
func (c *comparison) aimAtNode(info *request.Info) {
	info.Verb, info.Name = "get", c.one(c.objects)
	switch c.IntN(3) {
	case 0:
		info.Group, info.Resource, info.Namespace = "storage.k8s.io", "volumeattachments", ""
	case 1:
		info.Group, info.Resource, info.Namespace = "resource.k8s.io", "resourceslices", ""
	default:
		info.Group, info.Resource = "certificates.k8s.io", "podcertificaterequests"
	}
}

func (c *comparison) decide() {
	who, info := c.user(), c.info()
	if c.IntN(2) == 0 {
		c.aim(who, info)
	}
	question := auth.Attributes{User: who, Info: info}
	record := authorizer.AttributesRecord{
		User: &user.DefaultInfo{Name: who.Name, Groups: who.Groups}, Verb: info.Verb, Namespace: info.Namespace,
		APIGroup: info.Group, APIVersion: info.Version, Resource: info.Resource, Subresource: info.Subresource,
		Name: info.Name, ResourceRequest: info.IsResource, Path: info.Path,
	}
	if selector, err := fields.ParseSelector(info.FieldSelector); err == nil {
		record.FieldSelectorRequirements = selector.Requirements()
	} else {
		record.FieldSelectorParsingErr = err
	}
	wantDecision, wantReason, wantErr := c.theirs.Authorize(c.Context(), record)
	decision, reason, err := c.ours.Authorize(c.Context(), question)
	if (decision == auth.Allow) != (wantDecision == authorizer.DecisionAllow) || decision == auth.Deny ||
		reason != wantReason || err != nil || wantErr != nil {
		c.Errorf("%+v %+v: %v, %q, %v; Kubernetes says %v, %q, %v", who, info, decision, reason, err, wantDecision,
			wantReason, wantErr)
	}
	if decision == auth.Allow {
		c.allowed++
		if without, _, _ := c.empty.Authorize(c.Context(), question); without != decision {
			c.byGraph++
		}
	}
}

// list compares which rules the authorizers list for a user.
func (c *comparison) list() {
	who := c.user()
	_, _, incomplete, wantErr := c.theirs.RulesFor(c.Context(),
		&user.DefaultInfo{Name: who.Name, Groups: who.Groups}, "ns")
	rules, complete, err := c.ours.RulesFor(c.Context(), who, "ns")
	if complete == incomplete || fmt.Sprint(err) != fmt.Sprint(wantErr) || rules.Resources != nil ||
		rules.NonResources != nil {
		c.Errorf("%+v: %+v, %v, %v; Kubernetes says %v, %v", who, rules, complete, err, incomplete, wantErr)
	}
}
