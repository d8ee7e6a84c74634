package load

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"apigen.dev/generator/marker"
	"apigen.dev/generator/model"
)

// subresourceMarkers reads what a kind's markers say of its subresources and its storage.
func (b *builder) subresourceMarkers(k *model.Kind, ms marker.Markers) {
	if s, ok := ms.Get("kubebuilder:subresource:scale"); ok {
		arg := func(key string) string { v, _ := s.Arg(key); return v }
		k.Scale = &model.Scale{SpecPath: arg("specpath"), StatusPath: arg("statuspath"), SelectorPath: arg("selectorpath"), Pos: s.Pos}
		if k.Scale.SpecPath == "" {
			b.errorf(s.Pos, "marker \"+kubebuilder:subresource:scale\" needs specpath=, where the number of replicas that is wanted stands")
			k.Scale = nil
		}
	}
	for _, s := range ms.All("apigen:subresource") {
		if sub, ok := b.subresourceMarker(s); ok {
			k.Subresources = append(k.Subresources, sub)
		}
	}
	k.Virtual = ms.Has("apigen:storage")
	if v, ok := ms.Get("genclient:onlyVerbs"); ok {
		k.VerbsPos = v.Pos
		for verb := range strings.SplitSeq(v.Value, ",") {
			k.Verbs = append(k.Verbs, strings.TrimSpace(verb))
		}
	}
}

var subresourcePattern = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// httpMethods are those that a connection may serve.
var httpMethods = []string{"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"}

func (b *builder) subresourceMarker(m marker.Marker) (s model.SubresourceMarker, ok bool) {
	s.Pos = m.Pos
	s.Name, _ = m.Arg("name")
	s.ContentType, _ = m.Arg("contentType")
	switch {
	case s.Name == "":
		b.errorf(m.Pos, "marker \"+apigen:subresource\" needs name=")
		return s, false
	case !subresourcePattern.MatchString(s.Name):
		b.errorf(m.Pos, "%q is no name of a subresource: it needs lower-case letters and digits, as in log or port-forward", s.Name)
		return s, false
	case s.Name == statusName || s.Name == scaleName:
		hint := "a Status field says so already"
		if s.Name == scaleName {
			hint = "write +kubebuilder:subresource:scale:specpath=.spec.replicas"
		}
		b.errorf(m.Pos, "the subresource %s needs no +apigen:subresource: %s", s.Name, hint)
		return s, false
	}
	if methods, said := m.Arg("methods"); said {
		for _, method := range marker.SplitList(methods) {
			if method == "*" {
				s.Methods = slices.Clone(httpMethods)
				break
			}
			if method = strings.ToUpper(method); !slices.Contains(httpMethods, method) {
				b.errorf(m.Pos, "%q is no HTTP method: known are %s, or * for all", method, strings.Join(httpMethods, ", "))
				continue
			}
			s.Methods = append(s.Methods, method)
		}
		slices.Sort(s.Methods)
		s.Methods = slices.Compact(s.Methods)
	}
	if subpath, said := m.Arg("subpath"); said {
		var err error
		if s.Subpath, err = strconv.ParseBool(subpath); err != nil {
			b.errorf(m.Pos, "subpath=%s of marker \"+apigen:subresource\" is neither true nor false", subpath)
		}
	}
	return s, true
}

const (
	statusName = "status"
	scaleName  = "scale"
)

// resolveScale resolves the paths of a kind's scale.
func (b *builder) resolveScale(t *model.Type) {
	s := t.Kind.Scale
	if s == nil {
		return
	}
	resolve := func(path, want string, fits func(*model.Type) bool) []model.Step {
		if path == "" {
			return nil
		}
		steps := b.path(t, path, s.Pos, true)
		if steps == nil {
			return nil
		}
		end := t
		for _, step := range steps {
			if end = settable(end, step); end == nil {
				b.fault(t.Package, s.Pos, "path %s of marker \"+kubebuilder:subresource:scale\": only fields and keys of maps lead to a number that can be set", path)
				return nil
			}
		}
		if end = end.Pointee(); !fits(end) {
			b.fault(t.Package, s.Pos, "path %s of marker \"+kubebuilder:subresource:scale\" leads to %s, which is no %s", path, kindOf(end), want)
			return nil
		}
		return steps
	}
	s.SpecSteps = resolve(s.SpecPath, "int32 or int64", isReplicas)
	s.StatusSteps = resolve(s.StatusPath, "int32 or int64", isReplicas)
	s.SelectorSteps = resolve(s.SelectorPath, "string or *metav1.LabelSelector", func(t *model.Type) bool {
		return isString(t) || t.Package != nil && t.Package.Path == metaPath && t.Name == "LabelSelector"
	})
	if s.SpecSteps == nil {
		t.Kind.Scale = nil
	}
}

// settable is the type of what a step leads to, where that can be set: a field, or a value of a map by its text. Else nil.
// What is absent on the way has to be made, and so needs a name.
func settable(from *model.Type, step model.Step) *model.Type {
	nameless := func(t *model.Type) bool { return t.Pointee().Form == model.Struct && t.Pointee().Package == nil }
	if from.Form == model.Pointer && nameless(from) {
		return nil
	}
	switch from = from.Pointee(); {
	case step.Field != nil:
		return step.Field.Type
	case from.Form == model.Map && isString(from.Key) && !nameless(from.Elem) && !step.IsIndex && step.Filter == nil:
		return from.Elem
	}
	return nil
}

// isReplicas tells the types of numbers of replicas. Those of a Scale are of 32 bits; greater ones are shown as the greatest.
func isReplicas(t *model.Type) bool {
	return t.Form == model.Basic && slices.Contains([]string{"int32", "rune", "int64", "int"}, t.Basic)
}

// subresources decides what the subresources of a kind are. What any version or the hub says holds for all.
func (b *builder) subresources(g *model.Group, r *model.Resource) {
	seen := map[string]bool{}
	scale := &model.Subresource{SubresourceMarker: model.SubresourceMarker{Name: scaleName}, Form: model.ScaleSubresource, Scales: map[*model.Version]*model.Scale{}}
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
			if s := b.subresource(g, r, m); s != nil {
				r.Subresources = append(r.Subresources, s)
			}
		}
	}
	slices.SortFunc(r.Subresources, func(x, y *model.Subresource) int { return strings.Compare(x.Name, y.Name) })
}

// camel is the Go name of a subresource: PortForward for port-forward.
func camel(name string) string {
	var out strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		out.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return out.String()
}

// subresource finds the method or the field that a marker means.
func (b *builder) subresource(g *model.Group, r *model.Resource, m model.SubresourceMarker) *model.Subresource {
	name := camel(m.Name)
	s := &model.Subresource{SubresourceMarker: m, Method: r.Hub.Methods[name]}
	if f := subresourceFunction(r.Hub, m.Name); f != nil {
		s.Method, s.Function = f, true
	}
	if s.Method == nil {
		return b.fieldSubresource(r, s, name)
	}
	if !b.recognize(r.Hub, s) {
		at := s.Method.Pos
		if r.Hub.Package.ServedBy != nil && !s.Function {
			at = s.Pos // the method is nobody's to change
		}
		b.errorf(at, "%s is the subresource %s by its marker, and no subresource by its signature: write %s", described(r.Hub, s), m.Name, forms(r.Hub, name))
		return nil
	}
	return b.complete(g, r, s)
}

// forms lists what a method may look like, or a function that stands for one.
func forms(hub *model.Type, name string) string {
	begin := "func (in *" + hub.Name + ") " + name + "(ctx context.Context, "
	if hub.Package.ServedBy != nil {
		begin = "func " + functionName(hub, name) + "(ctx context.Context, obj *" + hub.Package.Name + "." + hub.Name + ", "
	}
	return fmt.Sprintf("%sbody *Body) error to take a POST, or with (*Answer, error) to answer it, or with (*metav1.DeleteOptions, error) to delete the object; "+
		"the same with *Options, which is no kind, to answer a GET; "+
		"%soptions *Options) (io.ReadCloser, error) to send output; "+
		"or %soptions *Options) (http.Handler, error) to serve connections", begin, begin, begin)
}

// recognize tells the form of a method, or of a function that stands for one, by its signature.
func (b *builder) recognize(hub *model.Type, s *model.Subresource) bool {
	m, params := s.Method, s.Method.Params
	if s.Function && len(params) == 3 {
		if p := params[1]; p.Form != model.Pointer || p.Name != "" || p.Elem != hub {
			return false
		}
		params = []*model.Type{params[0], params[2]}
	}
	if m.Variadic || len(params) != 2 || len(m.Params) == 2 && s.Function || !isType(params[0], "context", "Context") || !isStructPointer(params[1]) {
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
	case isType(m.Results[0], "io", "ReadCloser"):
		s.Form, s.Options = model.StreamSubresource, argument
	case isType(m.Results[0], "net/http", "Handler"):
		s.Form, s.Options = model.ConnectSubresource, argument
	case isStructPointer(m.Results[0]) && isType(m.Results[0].Elem, metaPath, "DeleteOptions"):
		s.Form, s.Body = model.RemovalSubresource, &model.Payload{Hub: argument}
	case isStructPointer(m.Results[0]) && argument.Kind == nil:
		s.Form, s.Options, s.Answer = model.ViewSubresource, argument, &model.Payload{Hub: m.Results[0].Elem}
	case isStructPointer(m.Results[0]):
		s.Form, s.Body, s.Answer = model.RequestSubresource, &model.Payload{Hub: argument}, &model.Payload{Hub: m.Results[0].Elem}
	default:
		return false
	}
	return true
}

// complete checks what a recognized subresource needs beside its signature.
func (b *builder) complete(g *model.Group, r *model.Resource, s *model.Subresource) *model.Subresource {
	connects := s.Form == model.ConnectSubresource
	if !connects && (len(s.Methods) > 0 || s.Subpath) {
		b.errorf(s.Pos, "methods= and subpath= are for subresources that serve connections, and %s returns no http.Handler", described(r.Hub, s))
		return nil
	}
	if s.Form != model.StreamSubresource && s.ContentType != "" {
		b.errorf(s.Pos, "contentType= is for subresources that send output, and %s returns no io.ReadCloser", described(r.Hub, s))
		return nil
	}
	if connects && len(s.Methods) == 0 {
		s.Methods = []string{"GET", "POST"}
	}
	for _, p := range []*model.Payload{s.Body, s.Answer} {
		if p != nil && !b.payload(g, r, s, p) {
			return nil
		}
	}
	if r.Virtual() && s.Body != nil {
		b.errorf(s.Pos, "subresource %s changes its object, and nothing is stored of %s", s.Name, r.Kind)
		return nil
	}
	return s
}

// fieldSubresource is a subresource that is a field of the kind.
func (b *builder) fieldSubresource(r *model.Resource, s *model.Subresource, name string) *model.Subresource {
	for _, rv := range r.Versions {
		f := field(rv.Type, name)
		if f == nil {
			what := "a method of that name; write one of the two"
			if r.Hub.Package.ServedBy != nil {
				what = fmt.Sprintf("is there a function %s in package %s; write it", functionName(r.Hub, name), r.Hub.Package.ServedBy.Path)
			}
			b.errorf(s.Pos, "subresource %s of %s is nothing: %s has neither a field %s nor %s: %s",
				s.Name, r.Kind, rv.Type.Package.Name+"."+rv.Type.Name, name, what, forms(r.Hub, name))
			return nil
		}
		if f.JSON != s.Name {
			b.errorf(f.Pos, "field %s of %s is the subresource %s, and is called %q on the wire: write `json:%q`", name, r.Kind, s.Name, f.JSON, s.Name+",omitempty")
			return nil
		}
	}
	if s.Field = field(r.Hub, name); s.Field == nil {
		b.errorf(s.Pos, "subresource %s of %s: the hub %s.%s has no field %s", s.Name, r.Kind, r.Hub.Package.Name, r.Hub.Name, name)
		return nil
	}
	if s.Subpath || len(s.Methods) > 0 || s.ContentType != "" {
		b.errorf(s.Pos, "subresource %s of %s is a field: methods=, subpath= and contentType= mean nothing here", s.Name, r.Kind)
		return nil
	}
	if r.Virtual() {
		b.errorf(s.Pos, "subresource %s is a part of its object, and nothing is stored of %s", s.Name, r.Kind)
		return nil
	}
	return s
}

// field is the field of a struct by its Go name.
func field(t *model.Type, name string) *model.Field {
	for _, f := range t.Fields {
		if f.Name == name && !f.Ignored && !f.Embedded {
			return f
		}
	}
	return nil
}

func isType(t *model.Type, path, name string) bool {
	return t.Package != nil && t.Package.Path == path && t.Name == name
}

func isStructPointer(t *model.Type) bool {
	return t.Form == model.Pointer && t.Name == "" && t.Elem.Name != "" && t.Elem.Package != nil && t.Elem.Form == model.Struct
}
