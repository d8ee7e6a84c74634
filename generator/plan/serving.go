package plan

import (
	"fmt"
	"slices"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/model"
)

// Serving is what the wiring of a resource prints, beside hooks and conversions. What can't be served is missing, and
// has a fault.
type Serving struct {
	// Status is the hub's status field; nil without the subresource.
	Status *model.Field
	// Storage is the served version that objects are stored in; it may be nil for kinds without storage.
	Storage    *model.ResourceVersion
	Selectable []Selectable
	Scale      *Scale
	Faults     diag.Errors
}

// serve decides the serving of a resource.
func (p *Plan) serve(g *model.Group, r *model.Resource) *Serving {
	s := &Serving{}
	if len(r.Served()) == 0 {
		return s
	}
	if !s.storage(r) {
		return s
	}
	if r.Status {
		if s.Status = fieldNamed(r.Hub, "Status"); s.Status == nil {
			s.Faults.Add(r.Hub.Pos, "%s has a status in its versions, and none in %s.%s: add a Status field there",
				r.Kind, r.Hub.Package.Name, r.Hub.Name)
		}
	}
	s.selectable(r)
	for _, sub := range r.Subresources {
		if sub.Form == model.ScaleSubresource {
			s.scale(r, sub)
		}
		for _, payload := range []*model.Payload{sub.Body, sub.Answer} {
			if payload == nil {
				continue
			}
			for _, v := range payload.Versions {
				p.checkHub(s, g, versionOf{payload.Kind, v.Name, v.Type, payload.Hub})
				s.Faults = append(s.Faults, p.columnFaults(v.Type)...)
			}
		}
	}
	for _, v := range r.Served() {
		p.checkHub(s, g, versionOf{r.Kind, v.Version.Name, v.Type, r.Hub})
		s.Faults = append(s.Faults, p.columnFaults(v.Type)...)
	}
	return s
}

// storage finds the storage version, or reports that there is none. The runtime writes only versions that it serves.
func (s *Serving) storage(r *model.Resource) bool {
	for i, v := range r.Versions {
		if v.Version != r.Storage {
			continue
		}
		served := slices.ContainsFunc(r.Served(), func(o model.ResourceVersion) bool { return o.Version == r.Storage })
		if !served && !r.Virtual() {
			s.Faults.Add(v.Type.Pos, "%s is stored in version %s, which is not served: serve it, or put "+
				"+kubebuilder:storageversion on a version that is", r.Kind, r.Storage.Name)
			return false
		}
		s.Storage = &r.Versions[i]
		return true
	}
	if !r.Virtual() {
		s.Faults.Add(r.Hub.Pos, "%s has no version to store it in: put +kubebuilder:storageversion on one of its "+
			"versions", r.Kind)
	}
	return r.Virtual()
}

// versionOf is a version of a kind, which a resource or a subresource serves.
type versionOf struct {
	kind, name string
	typ, hub   *model.Type
}

// checkHub reports a version that nothing converts to the hub and back.
func (p *Plan) checkHub(s *Serving, g *model.Group, v versionOf) {
	if v.typ == v.hub {
		return
	}
	home := p.Home(v.typ.Package)
	there := Pair{v.typ, v.hub}
	for _, pair := range []Pair{there, there.Reverse()} {
		if _, ok := p.Converters[pair]; ok {
			continue
		}
		s.Faults.Add(v.typ.Pos, "kind %s can't be served in version %s: nothing converts it to %s.%s, the hub, and "+
			"back: %s, or write func %s(in *%s, out *%s, s conversion.Scope) error and its reverse in package %s",
			v.kind, v.name, v.hub.Package.Name, v.hub.Name, v.remedy(g.Internal, home),
			pair.Function(), Text(pair.In, home), Text(pair.Out, home), home.Path)
		return
	}
}

// remedy is what the user can do so that the missing conversions are generated.
func (v versionOf) remedy(internal, home *model.Package) string {
	switch {
	case internal != nil && v.hub.Package != internal:
		return fmt.Sprintf("declare %s in the group's internal package %s", v.kind, internal.Path)
	case v.typ.ConversionOff || v.hub.ConversionOff:
		return "remove +k8s:conversion-gen=false from the type"
	case home.ConversionOff:
		return "remove +k8s:conversion-gen=false from package " + home.Path
	}
	return fmt.Sprintf("write // +k8s:conversion-gen=%s above the package clause of %s", v.hub.Package.Path, home.Path)
}
