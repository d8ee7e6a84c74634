package reference

import (
	"cmp"
	"strings"

	"apigen.dev/generator/model"
)

// subresource is one of a kind's subresources: its methods, what is sent and answered, and what its author says of it.
type subresource struct {
	Name, Methods string
	// Takes and Answers are types; Takes is what the query is read into where Query is set.
	Takes, Answers shape
	Query          bool
	Text           text
}

// whole are the methods of what is read and written like the object.
const whole = "GET, PUT, PATCH"

// subresources describes those of a resource, status first.
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

// part is a part of the object, which is written through it alone.
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
