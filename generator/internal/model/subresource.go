package model

import "slices"

// Scale is +kubebuilder:subresource:scale. The steps lead from the kind; they are nil if there is no path.
type Scale struct {
	SpecPath, StatusPath, SelectorPath    string
	SpecSteps, StatusSteps, SelectorSteps []Step
	Pos                                   Position
}

// SubresourceMarker is +apigen:subresource as it was written.
type SubresourceMarker struct {
	Name    string
	Methods []string
	Subpath bool
	// Address: requests to a connection may name the object with a scheme and a port.
	Address bool
	// ContentType is "" if it was not said.
	ContentType string
	// Parts are the paths of the fields that a write changes, and Metadata the members of metadata, sorted.
	Parts    []string
	Metadata []string
	Pos      Position
}

// SubresourceForm says what a subresource is.
type SubresourceForm uint8

// The forms. FieldSubresource and PartSubresource are parts of the object; the others are methods of the hub, told
// apart by what they take and return.
const (
	FieldSubresource   SubresourceForm = iota
	ScaleSubresource                   // autoscaling/v1 Scale
	ActionSubresource                  // (ctx, *Body) error
	RemovalSubresource                 // (ctx, *Body) (*metav1.DeleteOptions, error)
	RequestSubresource                 // (ctx, *Body) (*Answer, error), Body being a kind
	ViewSubresource                    // (ctx, *Options) (*Answer, error), Options being none
	StreamSubresource                  // (ctx, *Options) (io.ReadCloser, error)
	ConnectSubresource                 // (ctx, *Options) (http.Handler, error)
	PartSubresource                    // fields by their paths
)

// Subresource is one of a resource's subresources beside status.
type Subresource struct {
	SubresourceMarker
	Form SubresourceForm
	// Scales are the markers of a ScaleSubresource by version.
	Scales map[*Version]*Scale
	// Parts are the fields of a PartSubresource, for each served version.
	Parts map[*Version][]SubresourcePart
	// Method is the hub's; or, where Function is set, a function of the package that serves the hub, which is another
	// module's, with the object behind the context. Field is the hub's field of a FieldSubresource.
	Method   *Func
	Function bool
	Field    *Field
	// Body and Answer are the kinds that are sent and answered; Options the struct that the query is read into.
	Body, Answer *Payload
	Options      *Type
}

// SubresourcePart is a field of a PartSubresource in one version. Steps lead to it, through structs and the items of
// lists.
type SubresourcePart struct {
	Path  string
	Steps []Step
}

// UpdateHook is the name of the subresource in those of its hooks: Berth in ValidateBerthUpdate. It is empty where the
// subresource is not part of the object.
func (s *Subresource) UpdateHook() string {
	switch s.Form {
	case FieldSubresource:
		return s.Field.Name
	case PartSubresource:
		return Camel(s.Name)
	}
	return ""
}

// Verbs are those of a PartSubresource, sorted.
func (s *Subresource) Verbs() []string {
	verbs := map[string]string{"GET": "get", "PATCH": "patch", "PUT": "update"}
	var out []string
	for _, method := range s.Methods {
		out = append(out, verbs[method])
	}
	return out
}

// Payloads are those of Body and Answer that there are.
func (s *Subresource) Payloads() []*Payload {
	return slices.DeleteFunc([]*Payload{s.Body, s.Answer}, func(p *Payload) bool { return p == nil })
}

// OptionsKind is the kind of a connection's options.
type OptionsKind struct {
	// Version is empty if the kind is of the resource's own group: it then has the version that the URL names.
	Group, Version, Kind string
}

// OptionsKind returns the kind of the options of a connection to an object of a group, or nil if the options are no
// kind.
func (s *Subresource) OptionsKind(group string) *OptionsKind {
	if s.Form != ConnectSubresource || !s.Options.IsObject() || !s.Options.Package.HasGroup {
		return nil
	}
	kind := &OptionsKind{Group: s.Options.Package.Group, Kind: s.Options.Name}
	if kind.Group != group {
		kind.Version = s.Options.Package.Version
	}
	return kind
}

// Payload is a kind that a subresource takes or answers.
type Payload struct {
	// Hub is the type in the method's signature.
	Hub *Type
	// Group and Kind are those on the wire. Versions are the resource's, where the kind is of its group, with its type
	// in each of them; else there is one.
	Group, Kind string
	Versions    []PayloadVersion
}

// PayloadVersion is a Payload in one version.
type PayloadVersion struct {
	Name string
	Type *Type
}

// At returns the payload's type in a version of the resource, and the version's name.
func (p *Payload) At(version string) PayloadVersion {
	for _, v := range p.Versions {
		if v.Name == version {
			return v
		}
	}
	return p.Versions[0]
}

// In returns the payload's type in a package, or nil.
func (p *Payload) In(pkg *Package) *Type {
	for _, v := range p.Versions {
		if v.Type.Package == pkg {
			return v.Type
		}
	}
	return nil
}
