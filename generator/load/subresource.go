package load

import (
	"fmt"
	"go/constant"
	"go/types"
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
		for _, step := range steps {
			if step.Field == nil {
				b.errorf(s.Pos, "path %s of marker \"+kubebuilder:subresource:scale\": only a chain of fields leads to a number that can be set", path)
				return nil
			}
		}
		if end := steps[len(steps)-1].Field.Type.Pointee(); !fits(end) {
			b.errorf(s.Pos, "path %s of marker \"+kubebuilder:subresource:scale\" leads to %s, which is no %s", path, kindOf(end), want)
			return nil
		}
		return steps
	}
	s.SpecSteps = resolve(s.SpecPath, "int32", isReplicas)
	s.StatusSteps = resolve(s.StatusPath, "int32", isReplicas)
	s.SelectorSteps = resolve(s.SelectorPath, "string or *metav1.LabelSelector", func(t *model.Type) bool {
		return isString(t) || t.Package != nil && t.Package.Path == metaPath && t.Name == "LabelSelector"
	})
	if s.SpecSteps == nil {
		t.Kind.Scale = nil
	}
}

// isReplicas: the numbers of a Scale are of 32 bits.
func isReplicas(t *model.Type) bool {
	return t.Form == model.Basic && (t.Basic == "int32" || t.Basic == "rune")
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
	if s.Method == nil {
		return b.fieldSubresource(r, s, name)
	}
	if !b.recognize(s) {
		b.errorf(s.Method.Pos, "method %s of %s is the subresource %s by its marker, and no subresource by its signature: write %s", name, r.Hub.Name, m.Name, forms(r.Hub.Name, name))
		return nil
	}
	return b.complete(g, r, s)
}

// forms lists what a method may look like.
func forms(hub, name string) string {
	receiver := "func (in *" + hub + ") " + name
	return fmt.Sprintf("%s(ctx context.Context, body *Body) error to take a POST, or with (*Answer, error) to answer it; "+
		"%s(ctx context.Context, options *Options) (io.ReadCloser, error) to send output; "+
		"or %s(ctx context.Context, options *Options) (http.Handler, error) to serve connections", receiver, receiver, receiver)
}

// recognize tells the form of a method by its signature.
func (b *builder) recognize(s *model.Subresource) bool {
	m := s.Method
	if m.Variadic || len(m.Params) != 2 || !isType(m.Params[0], "context", "Context") || !isStructPointer(m.Params[1]) {
		return false
	}
	argument := m.Params[1].Elem
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
		b.errorf(s.Pos, "methods= and subpath= are for subresources that serve connections, and method %s of %s returns no http.Handler", s.Method.Name, r.Hub.Name)
		return nil
	}
	if s.Form != model.StreamSubresource && s.ContentType != "" {
		b.errorf(s.Pos, "contentType= is for subresources that send output, and method %s of %s returns no io.ReadCloser", s.Method.Name, r.Hub.Name)
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

// payload finds a kind's name on the wire, and its types in the versions of the resource.
func (b *builder) payload(g *model.Group, r *model.Resource, s *model.Subresource, p *model.Payload) bool {
	t := p.Hub
	if t.Kind == nil {
		b.errorf(s.Method.Pos, "%s, which the subresource %s takes or answers, is no kind: it needs TypeMeta and ObjectMeta embedded, and DeepCopyObject", t.Name, s.Name)
		return false
	}
	p.Kind = t.Name
	if group, ok := b.groupOf(t.Package); ok && t.Package.Version != "" {
		p.Group, p.Versions = group, []model.PayloadVersion{{Name: t.Package.Version, Type: t}}
		return true
	}
	if t.Package != g.Internal || g.Internal == nil {
		b.errorf(s.Method.Pos, "%s, which the subresource %s takes or answers, belongs to no version of a group: package %s needs +groupName and the name of a version",
			t.Name, s.Name, t.Package.Path)
		return false
	}
	p.Group = g.Name
	for _, rv := range r.Versions {
		v := rv.Version.Package.Type(t.Name)
		if v == nil {
			b.errorf(s.Method.Pos, "%s, which the subresource %s takes or answers, is not declared in version %s, which has %s", t.Name, s.Name, rv.Version.Name, r.Kind)
			return false
		}
		p.Versions = append(p.Versions, model.PayloadVersion{Name: rv.Version.Name, Type: v})
	}
	return true
}

// groupOf is the group that a package of types belongs to: by its marker, or by the constant GroupName where a dependency,
// as policy/v1 in k8s.io/api, has none.
func (b *builder) groupOf(p *model.Package) (string, bool) {
	if p.HasGroup {
		return p.Group, true
	}
	tp, err := b.l.load(p.Path)
	if err != nil {
		return "", false
	}
	name, ok := tp.Scope().Lookup("GroupName").(*types.Const)
	if !ok || name.Val().Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(name.Val()), true
}

// fieldSubresource is a subresource that is a field of the kind.
func (b *builder) fieldSubresource(r *model.Resource, s *model.Subresource, name string) *model.Subresource {
	for _, rv := range r.Versions {
		f := field(rv.Type, name)
		if f == nil {
			b.errorf(s.Pos, "subresource %s of %s is nothing: %s has neither a field %s nor a method of that name; write one of the two: %s",
				s.Name, r.Kind, rv.Type.Package.Name+"."+rv.Type.Name, name, forms(r.Hub.Name, name))
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

// virtualVerbs are the verbs of kinds without storage.
var virtualVerbs = []string{"create", "get", "list", "watch"}

// verbs decides how a kind without storage is served.
func (b *builder) verbs(r *model.Resource) {
	virtual := false
	for _, rv := range r.Versions {
		virtual = virtual || rv.Type.Kind.Virtual
	}
	if !virtual {
		return
	}
	r.Status = false
	for _, rv := range r.Versions {
		for _, verb := range rv.Type.Kind.Verbs {
			if !slices.Contains(virtualVerbs, verb) {
				b.errorf(rv.Type.Kind.VerbsPos, "%q is no verb that a kind without storage is served with: known are %s", verb, strings.Join(virtualVerbs, ", "))
				continue
			}
			r.Verbs = append(r.Verbs, verb)
		}
		if rv.Type.Kind.Scale != nil {
			b.errorf(rv.Type.Kind.Scale.Pos, "the subresource scale changes its object, and nothing is stored of %s", r.Kind)
		}
	}
	if len(r.Verbs) == 0 {
		r.Verbs = slices.Clone(virtualVerbs)
	}
	slices.Sort(r.Verbs)
	r.Verbs = slices.Compact(r.Verbs)
}

// payloads are the names of the kinds of a group that its subresources take or answer. They are no resources of their own,
// unless a marker says how they are served.
func payloads(pkgs []*model.Package, group string) map[string]bool {
	methods, served, taken := map[string][]string{}, map[string]bool{}, map[string]bool{}
	var types []*model.Type
	for _, p := range pkgs {
		if !p.HasGroup || p.Group != group {
			continue
		}
		types = append(types, p.Types...)
		for _, t := range p.Types {
			if t.Kind == nil {
				continue
			}
			served[t.Name] = served[t.Name] || t.Kind.Served || len(t.Kind.Subresources) > 0
			for _, s := range t.Kind.Subresources {
				methods[t.Name] = append(methods[t.Name], camel(s.Name))
			}
		}
	}
	for _, t := range types {
		for _, name := range methods[t.Name] {
			m := t.Methods[name]
			if m == nil {
				continue
			}
			for _, x := range slices.Concat(m.Params, m.Results) {
				if isStructPointer(x) && !served[x.Elem.Name] && x.Elem.Package.HasGroup && x.Elem.Package.Group == group {
					taken[x.Elem.Name] = true
				}
			}
		}
	}
	return taken
}

// payloadTypes reads what the parameters and results of a method point to, which may be what a subresource takes and
// answers: of these the fields matter.
func (b *builder) payloadTypes(f *types.Func) {
	sig := f.Signature()
	for _, tuple := range []*types.Tuple{sig.Params(), sig.Results()} {
		for i := range tuple.Len() {
			p, ok := types.Unalias(tuple.At(i).Type()).(*types.Pointer)
			if !ok {
				continue
			}
			if n, ok := types.Unalias(p.Elem()).(*types.Named); ok && n.Obj().Pkg() != nil {
				if _, ok := n.Underlying().(*types.Struct); ok {
					b.typ(n)
				}
			}
		}
	}
}
