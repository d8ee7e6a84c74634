package reference

import (
	"cmp"
	"strings"

	"apigen.dev/generator/model"
)

// subresource is one of a kind's subresources: its methods, the types of requests and responses, and its documentation.
type subresource struct {
	Name, Methods string
	// Takes and Answers are the types of requests and responses. Where Query is set, Takes is the type of the query.
	Takes, Answers shape
	Query          bool
	Text           text
}

// whole are the methods of a subresource that clients read and write in the form of the object.
const whole = "GET, PUT, PATCH"

// subresources describes the subresources of a resource, status first.
func (m *maker) subresources(r *model.Resource, kind *model.Type) []subresource {
	var out []subresource
	if r.Status {
		out = append(out, m.part("status", kind))
	}
	for _, s := range r.Subresources {
		out = append(out, m.subresource(s, kind))
	}
	return out
}

// part describes a subresource through which clients write a part of the object.
func (m *maker) part(name string, kind *model.Type) subresource {
	object := shape{Name: kind.Name, Link: "#" + m.anchor(kind), After: ", of which " + name + " is written"}
	return subresource{Name: name, Methods: whole, Takes: object}
}

func (m *maker) subresource(s *model.Subresource, kind *model.Type) subresource {
	out := subresource{Name: s.Name, Methods: "GET"}
	if s.Method != nil {
		out.Text = parse(s.Method.Doc)
	}
	if s.Options != nil {
		out.Takes, out.Query = m.shape(m.types.Type(s.Options)), true
	}
	switch s.Form {
	case model.FieldSubresource:
		return m.part(s.Name, kind)
	case model.ScaleSubresource:
		out.Methods, out.Takes = whole, shape{Name: "Scale", After: " (autoscaling/v1)"}
	case model.ActionSubresource, model.RemovalSubresource:
		out.Methods, out.Takes = "POST", m.payload(s.Body)
	case model.RequestSubresource:
		out.Methods, out.Takes, out.Answers = "POST", m.payload(s.Body), m.payload(s.Answer)
	case model.ViewSubresource:
		out.Answers = m.payload(s.Answer)
	case model.StreamSubresource:
		out.Answers = shape{Name: cmp.Or(s.ContentType, "text/plain")}
	case model.ConnectSubresource:
		out.Methods = strings.Join(s.Methods, ", ")
		out.Answers = shape{Name: "a connection"}
	}
	return out
}

func (m *maker) payload(p *model.Payload) shape {
	return m.shape(m.types.Type(p.At(m.version.Name).Type))
}
