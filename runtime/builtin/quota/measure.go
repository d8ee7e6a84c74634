package quota

import (
	"apigen.dev/runtime/admission"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// measure says how the objects of one resource use quota.
type measure interface {
	// handles reports whether a creation or an update can use more.
	handles(a *admission.Attributes) bool
	// tracks reports whether the objects use a resource that a quota names.
	tracks(name core.ResourceName) bool
	// usage returns what an object uses.
	usage(obj any) core.ResourceList
	// inScope reports whether a scope of a quota has an object.
	inScope(scope core.ScopedResourceSelectorRequirement, obj any) (bool, error)
	// check refuses a new object that doesn't say what a quota of these names counts.
	check(names []core.ResourceName, obj any) error
}

// measureOf returns the measure of a resource for an object of it: by the Go type where quota knows it, else by count.
func measureOf(gr schema.GroupResource, obj any) measure {
	switch obj.(type) {
	case *core.Pod:
		return pods{counted(gr)}
	case *core.Service:
		return services{counted(gr)}
	case *core.PersistentVolumeClaim:
		return claims{counted(gr)}
	}
	return counted(gr)
}

// ignored are resources that quota doesn't count: reviews, and events, which the server makes itself.
var ignored = map[schema.GroupResource]bool{
	{Resource: "bindings"}: true, {Resource: "componentstatuses"}: true,
	{Group: "authentication.k8s.io", Resource: "tokenreviews"}:             true,
	{Group: "authentication.k8s.io", Resource: "selfsubjectreviews"}:       true,
	{Group: "authorization.k8s.io", Resource: "subjectaccessreviews"}:      true,
	{Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"}:  true,
	{Group: "authorization.k8s.io", Resource: "localsubjectaccessreviews"}: true,
	{Group: "authorization.k8s.io", Resource: "selfsubjectrulesreviews"}:   true,
	{Resource: "events"}: true, {Group: "events.k8s.io", Resource: "events"}: true,
}

// aliases are the names of counts from before count/<resource>.
var aliases = map[schema.GroupResource]core.ResourceName{
	{Resource: "configmaps"}: core.ResourceConfigMaps, {Resource: "secrets"}: core.ResourceSecrets,
	{Resource: "resourcequotas"}:         core.ResourceQuotas,
	{Resource: "replicationcontrollers"}: core.ResourceReplicationControllers,
}

var one = *resource.NewQuantity(1, resource.DecimalSI)

// counted measures objects by their number.
type counted schema.GroupResource

func (c counted) name() core.ResourceName {
	if c.Group == "" {
		return core.ResourceName("count/" + c.Resource)
	}
	return core.ResourceName("count/" + c.Resource + "." + c.Group)
}

func (counted) handles(a *admission.Attributes) bool {
	return a.Operation == admission.Create && a.Subresource == ""
}

func (c counted) tracks(name core.ResourceName) bool {
	return name == c.name() || name == aliases[schema.GroupResource(c)]
}

func (c counted) usage(any) core.ResourceList {
	used := core.ResourceList{c.name(): one}
	if alias, ok := aliases[schema.GroupResource(c)]; ok {
		used[alias] = one
	}
	return used
}

func (counted) inScope(core.ScopedResourceSelectorRequirement, any) (bool, error) { return false, nil }

func (counted) check([]core.ResourceName, any) error { return nil }

// services are measured by their number, and by the load balancers and node ports that they ask for.
type services struct{ counted }

func (services) handles(a *admission.Attributes) bool {
	return (a.Operation == admission.Create || a.Operation == admission.Update) && a.Subresource == ""
}

func (s services) tracks(name core.ResourceName) bool {
	switch name {
	case core.ResourceServices, core.ResourceServicesNodePorts, core.ResourceServicesLoadBalancers:
		return true
	}
	return s.counted.tracks(name)
}

func (s services) usage(obj any) core.ResourceList {
	service := obj.(*core.Service)
	used := s.counted.usage(obj)
	used[core.ResourceServices] = one
	balancers, ports := 0, 0
	switch service.Spec.Type {
	case core.ServiceTypeNodePort:
		ports = len(service.Spec.Ports)
	case core.ServiceTypeLoadBalancer:
		balancers, ports = 1, len(service.Spec.Ports)
		if allocate := service.Spec.AllocateLoadBalancerNodePorts; allocate != nil && !*allocate {
			ports = explicitPorts(service)
		}
	}
	used[core.ResourceServicesLoadBalancers] = *resource.NewQuantity(int64(balancers), resource.DecimalSI)
	used[core.ResourceServicesNodePorts] = *resource.NewQuantity(int64(ports), resource.DecimalSI)
	return used
}

func explicitPorts(service *core.Service) (ports int) {
	for _, port := range service.Spec.Ports {
		if port.NodePort != 0 {
			ports++
		}
	}
	return ports
}
