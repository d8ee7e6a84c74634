package resolve

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

type subresourceBuilder struct {
	*faults
	group    *model.Group
	resource *model.Resource
}

// subresources decides what the subresources of a kind are. A marker of any version or of the hub holds for all
// versions.
func (b *subresourceBuilder) subresources() {
	r := b.resource
	seen := map[string]bool{}
	scale := &model.Subresource{SubresourceMarker: model.SubresourceMarker{Name: "scale"},
		Form: model.ScaleSubresource, Scales: map[*model.Version]*model.Scale{}}
	types := []*model.Type{r.Hub}
	for _, rv := range r.Versions {
		if rv.Type != r.Hub {
			types = append(types, rv.Type)
		}
		if rv.Type.Kind.Scale != nil {
			scale.Scales[rv.Version], scale.Pos = rv.Type.Kind.Scale, rv.Type.Kind.Scale.Pos
		}
	}
	if len(scale.Scales) > 0 {
		r.Subresources = append(r.Subresources, scale)
	}
	for _, t := range types {
		if t.Kind == nil {
			continue
		}
		for _, m := range t.Kind.Subresources {
			if seen[m.Name] {
				continue
			}
			seen[m.Name] = true
			if m.Name == "status" {
				b.status(m)
			} else if s := b.subresource(m); s != nil {
				r.Subresources = append(r.Subresources, s)
			}
		}
	}
	slices.SortFunc(r.Subresources, func(x, y *model.Subresource) int { return strings.Compare(x.Name, y.Name) })
}

// refuse reports a subresource that can't be served, and returns none.
func (b *subresourceBuilder) refuse(pos model.Position, format string, args ...any) *model.Subresource {
	b.errorf(pos, format, args...)
	return nil
}

func (b *subresourceBuilder) subresource(m model.SubresourceMarker) *model.Subresource {
	r := b.resource
	name := model.Camel(m.Name)
	s := &model.Subresource{SubresourceMarker: m, Method: r.Hub.Methods[name]}
	if f := subresourceFunction(r.Hub, m.Name); f != nil {
		s.Method, s.Function = f, true
	}
	if len(m.Parts) > 0 {
		return b.partSubresource(s)
	}
	if s.Method == nil {
		return b.fieldSubresource(s, name)
	}
	if !recognize(r.Hub, s) {
		at := s.Method.Pos
		if r.Hub.Package.ServedBy != nil && !s.Function {
			at = s.Pos // the user can't edit the method
		}
		return b.refuse(at, "%s is the subresource %s by its marker, and no subresource by its signature: write %s",
			described(r.Hub, s), m.Name, forms(r.Hub, name))
	}
	return b.complete(s)
}

// forms lists what a method may look like, or a function that stands for one.
func forms(hub *model.Type, name string) string {
	begin := "func (in *" + hub.Name + ") " + name + "(ctx context.Context, "
	if hub.Package.ServedBy != nil {
		begin = "func " + functionName(hub, name) + "(ctx context.Context, obj " +
			"*" + hub.Package.Name + "." + hub.Name + ", "
	}
	return fmt.Sprintf("%sbody *Body) error to take a POST, or with (*Answer, error) to answer it, or with "+
		"(*metav1.DeleteOptions, error) to delete the object; the same with *Options, which is no kind, to answer a "+
		"GET; %soptions *Options) (io.ReadCloser, error) to send output; or %soptions *Options) (http.Handler, "+
		"error) to serve connections", begin, begin, begin)
}

// recognize tells the form of a method, or of a function that stands for one, by its signature.
func recognize(hub *model.Type, s *model.Subresource) bool {
	m, params := s.Method, s.Method.Params
	if s.Function && len(params) == 3 {
		if p := params[1]; p.Form != model.Pointer || p.Name != "" || p.Elem != hub {
			return false
		}
		params = []*model.Type{params[0], params[2]}
	}
	if m.Variadic || len(params) != 2 || len(m.Params) == 2 && s.Function || !params[0].Is("context",
		"Context") || !isStructPointer(params[1]) {
		return false
	}
	argument := params[1].Elem
	n := len(m.Results)
	if n == 0 || n > 2 || m.Results[n-1].Name != "error" || m.Results[n-1].Package != nil {
		return false
	}
	switch {
	case n == 1:
		s.Form, s.Body = model.ActionSubresource, &model.Payload{Hub: argument}
	case m.Results[0].Is("io", "ReadCloser"):
		s.Form, s.Options = model.StreamSubresource, argument
	case m.Results[0].Is("net/http", "Handler"):
		s.Form, s.Options = model.ConnectSubresource, argument
	case isStructPointer(m.Results[0]) && m.Results[0].Elem.Is(metaPath, "DeleteOptions"):
		s.Form, s.Body = model.RemovalSubresource, &model.Payload{Hub: argument}
	case isStructPointer(m.Results[0]) && argument.Kind == nil:
		s.Form, s.Options, s.Answer = model.ViewSubresource, argument, &model.Payload{Hub: m.Results[0].Elem}
	case isStructPointer(m.Results[0]):
		s.Form, s.Body, s.Answer = model.RequestSubresource, &model.Payload{Hub: argument},
			&model.Payload{Hub: m.Results[0].Elem}
	default:
		return false
	}
	return true
}

// complete checks what a recognized subresource needs beside its signature.
func (b *subresourceBuilder) complete(s *model.Subresource) *model.Subresource {
	r := b.resource
	connects := s.Form == model.ConnectSubresource
	if !connects && (len(s.Methods) > 0 || s.Subpath || s.Address) {
		return b.refuse(s.Pos, "methods=, subpath= and address= are for subresources that serve connections, and %s "+
			"returns no http.Handler", described(r.Hub, s))
	}
	if len(s.Metadata) > 0 {
		return b.refuse(s.Pos, "metadata= is for subresources that are a part of the object, and %s is the "+
			"subresource %s", described(r.Hub, s), s.Name)
	}
	if s.Form != model.StreamSubresource && s.ContentType != "" {
		return b.refuse(s.Pos, "contentType= is for subresources that send output, and %s returns no io.ReadCloser",
			described(r.Hub, s))
	}
	if connects && len(s.Methods) == 0 {
		s.Methods = []string{"GET", "POST"}
	}
	for _, p := range s.Payloads() {
		if !b.payload(s, p) {
			return nil
		}
	}
	if r.WithoutStorage && s.Body != nil {
		return b.refuse(s.Pos, "subresource %s changes its object, and nothing is stored of %s", s.Name, r.Kind)
	}
	return s
}

func (b *subresourceBuilder) fieldSubresource(s *model.Subresource, name string) *model.Subresource {
	r := b.resource
	for _, rv := range r.Versions {
		f := field(rv.Type, name)
		if f == nil {
			what := "a method of that name; write one of the two"
			if r.Hub.Package.ServedBy != nil {
				what = fmt.Sprintf("is there a function %s in package %s; write it", functionName(r.Hub, name),
					r.Hub.Package.ServedBy.Path)
			}
			return b.refuse(s.Pos, "subresource %s of %s is nothing: %s has neither a field %s nor %s: %s",
				s.Name, r.Kind, rv.Type.Package.Name+"."+rv.Type.Name, name, what, forms(r.Hub, name))
		}
		if f.JSON != s.Name {
			return b.refuse(f.Pos, "field %s of %s is the subresource %s, and is called %q on the wire: write "+
				"`json:%q`", name, r.Kind, s.Name, f.JSON, s.Name+",omitempty")
		}
	}
	if s.Field = field(r.Hub, name); s.Field == nil {
		return b.refuse(s.Pos, "subresource %s of %s: the hub %s.%s has no field %s", s.Name, r.Kind,
			r.Hub.Package.Name, r.Hub.Name, name)
	}
	if s.Subpath || s.Address || len(s.Methods) > 0 || s.ContentType != "" {
		return b.refuse(s.Pos, "subresource %s of %s is a field: methods=, subpath=, address= and contentType= mean "+
			"nothing here", s.Name, r.Kind)
	}
	if r.WithoutStorage {
		return b.refuse(s.Pos, "subresource %s is a part of its object, and nothing is stored of %s", s.Name, r.Kind)
	}
	return s
}

func field(t *model.Type, name string) *model.Field {
	for _, f := range t.Fields {
		if f.Name == name && !f.Ignored && !f.Embedded {
			return f
		}
	}
	return nil
}

func isStructPointer(t *model.Type) bool {
	return t.Form == model.Pointer && t.Name == "" && t.Elem.Name != "" && t.Elem.Package != nil &&
		t.Elem.Form == model.Struct
}

// The user can't add methods to kinds of another module. In their place the user writes functions in the package that
// serves the kinds, named after both, which take the object behind the context: Log_Pod(ctx, pod, options).

// functionName returns the function that stands for a method of a kind.
func functionName(t *model.Type, method string) string { return method + "_" + t.Name }

// subresourceFunction returns the function that stands for the method of a subresource, nil if there is none.
func subresourceFunction(t *model.Type, subresource string) *model.Func {
	if t.Package.ServedBy == nil {
		return nil
	}
	return t.Package.ServedBy.Func(functionName(t, model.Camel(subresource)))
}

// subresourceMethod returns the function or the method that a subresource would call; nil if there is none.
func subresourceMethod(t *model.Type, subresource string) *model.Func {
	if f := subresourceFunction(t, subresource); f != nil {
		return f
	}
	return t.Methods[model.Camel(subresource)]
}

func described(hub *model.Type, s *model.Subresource) string {
	if s.Function {
		return "function " + s.Method.Name
	}
	return "method " + s.Method.Name + " of " + hub.Name
}

// subresourceTypes reads the fields of the types that functions of a kind's subresources take and answer.
func (b *typeBuilder) subresourceTypes(home *model.Package, t *model.Type) {
	s := b.u.Root(home.Path)
	if s == nil || s.Types == nil || t.Kind == nil {
		return
	}
	for _, m := range t.Kind.Subresources {
		if f, ok := s.Types.Scope().Lookup(functionName(t, model.Camel(m.Name))).(*types.Func); ok {
			b.payloadTypes(f)
		}
	}
}

// payloadKinds adds the types that the methods and functions of a kind's subresources take or answer.
func payloadKinds(t *model.Type, taken map[*model.Type]bool) {
	if t.Kind == nil {
		return
	}
	for _, m := range t.Kind.Subresources {
		for x := range pointedTo(subresourceMethod(t, m.Name)) {
			taken[x] = true
		}
	}
}

func (f *faults) resolveScale(t *model.Type) {
	s := t.Kind.Scale
	if s == nil {
		return
	}
	resolve := func(path, want string, fits func(*model.Type) bool) []model.Step {
		if path == "" {
			return nil
		}
		steps := f.path(t, path, s.Pos, true)
		if steps == nil {
			return nil
		}
		end := t
		for _, step := range steps {
			if end = settable(end, step); end == nil {
				f.fault(t.Package, s.Pos, "path %s of marker \"+kubebuilder:subresource:scale\": only fields and "+
					"keys of maps lead to a number that can be set", path)
				return nil
			}
		}
		if end = end.Pointee(); !fits(end) {
			f.fault(t.Package, s.Pos, "path %s of marker \"+kubebuilder:subresource:scale\" leads to %s, which is "+
				"no %s", path, end.Describe(), want)
			return nil
		}
		return steps
	}
	s.SpecSteps = resolve(s.SpecPath, "int32 or int64", isReplicas)
	s.StatusSteps = resolve(s.StatusPath, "int32 or int64", isReplicas)
	s.SelectorSteps = resolve(s.SelectorPath, "string, *metav1.LabelSelector or map[string]string", model.IsSelector)
	if s.SpecSteps == nil {
		t.Kind.Scale = nil
	}
}

// settable returns the type of what a step leads to, where that can be set: a field, or a value of a map by its text.
// Else nil. A write creates absent structs on the way, which therefore need a name.
func settable(from *model.Type, step model.Step) *model.Type {
	nameless := func(t *model.Type) bool { return t.Pointee().Form == model.Struct && t.Pointee().Package == nil }
	if from.Form == model.Pointer && nameless(from) {
		return nil
	}
	switch from = from.Pointee(); {
	case step.Field != nil:
		return step.Field.Type
	case from.Form == model.Map && from.Key.IsString() && !nameless(from.Elem) && !step.IsIndex && step.Filter == nil:
		return from.Elem
	}
	return nil
}

// isReplicas tells the types of numbers of replicas. A Scale, whose numbers have 32 bits, shows greater ones as its
// greatest.
func isReplicas(t *model.Type) bool {
	return t.Form == model.Basic && slices.Contains([]string{"int32", "rune", "int64", "int"}, t.Basic)
}
