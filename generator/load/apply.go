package load

import (
	"encoding/json"
	"go/types"
	"strings"

	"apigen.dev/generator/marker"
	"apigen.dev/generator/model"
)

const (
	metaPath    = "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimePath = "k8s.io/apimachinery/pkg/runtime"
	wiringName  = "wiring"
)

// effective are the markers that count for the model: those that a beta wraps count as if they stood alone.
func effective(ms marker.Markers) marker.Markers {
	var out marker.Markers
	for _, m := range ms {
		for m.Name == "k8s:beta" && m.Wrapped != nil {
			m = *m.Wrapped
		}
		out = append(out, m)
	}
	return out
}

// typeMarkers gives a named type what its markers say.
func (b *builder) typeMarkers(m *model.Type, n *types.Named, nt *note) {
	ms := effective(nt.markers)
	obj := n.Obj()
	m.DeepCopyInterfaces = b.interfaces(m, ms)
	m.NonPointerInterfaces = ms.Has("k8s:deepcopy-gen:nonpointer-interfaces")
	m.DeepCopy = b.deepCopy(n, ms)
	b.checkCopies(m, n)
	if c, ok := ms.Get("k8s:conversion-gen"); ok {
		m.ConversionOff = c.Value == "false"
	}
	for _, c := range ms.All("k8s:conversion-gen:explicit-from") {
		m.ConversionFrom = append(m.ConversionFrom, b.ref(m.Package, c, c.Value))
	}
	if d, ok := ms.Get("k8s:defaulter-gen"); ok {
		m.Defaulter = d.Value
	}
	m.Enum = ms.Has("enum") || ms.Has("k8s:enum")
	b.checkEnum(m, n, ms)
	m.Default = b.defaultOf(m.Package, m, ms)
	b.schema(&m.Schema, m, ms)
	notes := b.notesOf(obj.Pkg(), obj.Pos())
	m.SchemaType = notes.of(0, obj.Name()+".OpenAPISchemaType()").literal
	m.SchemaFormat = notes.of(0, obj.Name()+".OpenAPISchemaFormat()").literal
	if m.Enum && !b.isRoot(obj.Pkg()) {
		b.enumConstants(obj)
	}
	b.kind(m, ms)
}

// checkEnum reports +enum of what has no constants that a schema would list.
func (b *builder) checkEnum(m *model.Type, n *types.Named, ms marker.Markers) {
	x, ok := ms.Get("enum")
	if !ok || ms.Has("k8s:enum") || isString(m) || !b.isRoot(n.Obj().Pkg()) {
		return
	}
	remedy := "remove it"
	if m.Form == model.Basic {
		remedy = "write the values as +" + valuePrefix + "Enum=1;2;3"
	}
	b.fault(m.Package, x.Pos, "marker \"+enum\": the constants of strings are values, and %s is %s: %s", m.Name, kindOf(m), remedy)
}

// deepCopy decides how a type is copied: for roots by markers and hand-written methods, else by its methods. A type that
// is asked for and has only one of the two methods by hand is generated: the other is missing.
func (b *builder) deepCopy(n *types.Named, ms marker.Markers) model.DeepCopyMode {
	mode := existingCopy(n)
	p := n.Obj().Pkg()
	if !b.isRoot(p) || mode == model.DeepCopyExisting && declares(n, "DeepCopy") || n.TypeParams().Len() > 0 {
		return mode
	}
	wanted, explicit := b.pkg(p).DeepCopy, false
	if ms.Has("kubebuilder:object:root") || len(ms.All("k8s:deepcopy-gen:interfaces")) > 0 {
		wanted = true
	}
	for _, name := range []string{"kubebuilder:object:generate", "k8s:deepcopy-gen"} {
		if m, ok := ms.Get(name); ok {
			wanted, explicit = m.Value != "false", true
		}
	}
	if !wanted || !n.Obj().Exported() && !explicit {
		return mode
	}
	if mode != model.DeepCopyNone {
		return model.DeepCopyGenerate
	}
	switch n.Underlying().(type) {
	case *types.Struct, *types.Map, *types.Slice, *types.Array:
		return model.DeepCopyGenerate
	}
	return mode
}

// interfaces are those that DeepCopy<Interface> methods are written for.
func (b *builder) interfaces(m *model.Type, ms marker.Markers) []model.Ref {
	var out []model.Ref
	seen := map[string]bool{}
	add := func(r model.Ref) {
		if key := r.Path + "." + r.Name; !seen[key] {
			seen[key] = true
			out = append(out, r)
		}
	}
	for _, x := range ms.All("k8s:deepcopy-gen:interfaces") {
		for _, v := range strings.Split(x.Value, ",") {
			if v = strings.TrimSpace(v); v != "" {
				r := b.ref(m.Package, x, v)
				b.checkInterface(r, v)
				add(r)
			}
		}
	}
	if x, ok := ms.Get("kubebuilder:object:root"); ok && x.True() {
		add(model.Ref{Path: runtimePath, Name: "Object", Pos: x.Pos})
	}
	return out
}

// checkInterface reports a name that is no interface.
func (b *builder) checkInterface(r model.Ref, written string) {
	p, err := b.l.load(r.Path)
	if err != nil {
		b.errorf(r.Pos, "package of interface %s can't be loaded: %v", written, err)
		return
	}
	o, ok := p.Scope().Lookup(r.Name).(*types.TypeName)
	if !ok {
		b.errorf(r.Pos, "there is no interface %s", written)
	} else if _, ok := o.Type().Underlying().(*types.Interface); !ok {
		b.errorf(r.Pos, "%s is no interface", written)
	}
}

// ref splits path.Name; a name alone is of the package that the marker stands in.
func (b *builder) ref(p *model.Package, at marker.Marker, value string) model.Ref {
	i := strings.LastIndexByte(value, '.')
	if i < 0 || strings.LastIndexByte(value, '/') > i {
		return model.Ref{Path: p.Path, Name: value, Pos: at.Pos}
	}
	return model.Ref{Path: value[:i], Name: value[i+1:], Pos: at.Pos}
}

// defaultOf is the value of +default or +kubebuilder:default.
func (b *builder) defaultOf(p *model.Package, t *model.Type, ms marker.Markers) *model.Default {
	if m, ok := ms.Get("default"); ok {
		if name, ok := strings.CutPrefix(m.Value, "ref("); ok {
			r := b.ref(p, m, strings.TrimSuffix(name, ")"))
			return &model.Default{Ref: &r, JSON: b.constantOf(r), Pos: m.Pos}
		}
		return &model.Default{JSON: m.Value, Pos: m.Pos}
	}
	if m, ok := ms.Get("kubebuilder:default"); ok {
		return &model.Default{JSON: jsonValue(m.Value, t), Pos: m.Pos}
	}
	return nil
}

// jsonValue turns a value in controller-gen's grammar into JSON: quoted, bare, {list,list}, {key: value}.
func jsonValue(v string, t *model.Type) string {
	v = strings.TrimSpace(v)
	if isString(t) {
		if len(v) >= 2 && v[0] == '"' && json.Valid([]byte(v)) {
			return v
		}
		return quoteJSON(marker.Unquote(v))
	}
	if strings.HasPrefix(v, "{") && strings.Trim(v, "{} \t") == "" && isList(t) {
		return "[]" // controller-gen writes empty lists and empty objects alike
	}
	if json.Valid([]byte(v)) {
		return v
	}
	if strings.HasPrefix(v, "{") && strings.HasSuffix(v, "}") {
		return bracedJSON(v[1:len(v)-1], t)
	}
	if strings.Contains(v, ";") {
		return bracedJSON(strings.ReplaceAll(v, ";", ","), t)
	}
	return quoteJSON(marker.Unquote(v))
}

// bracedJSON turns what stands in braces into an object where it has keys, else into a list.
func bracedJSON(v string, t *model.Type) string {
	var elem *model.Type
	if t = t.Pointee(); t != nil {
		elem = t.Elem
	}
	var out []string
	object := false
	for _, p := range cutOutside(v, ',') {
		if p = strings.TrimSpace(p); p == "" {
			continue
		}
		pair := cutOutside(p, ':')
		if len(pair) > 1 && !isList(t) {
			object = true
			value := p[len(pair[0])+1:]
			out = append(out, quoteJSON(marker.Unquote(strings.TrimSpace(pair[0])))+":"+jsonValue(value, elem))
			continue
		}
		out = append(out, jsonValue(p, elem))
	}
	if object {
		return "{" + strings.Join(out, ",") + "}"
	}
	return "[" + strings.Join(out, ",") + "]"
}

// cutOutside splits at a separator that stands outside of quotes, braces and brackets.
func cutOutside(s string, sep byte) []string {
	var out []string
	start, depth, quote := 0, 0, byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == '\\' && quote != '`' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '`' || c == '\'':
			quote = c
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == sep && depth <= 0:
			out, start = append(out, s[start:i]), i+1
		}
	}
	return append(out, s[start:])
}

// isString tells whether values of the type are JSON strings by Go's rules.
func isString(t *model.Type) bool {
	for t != nil && t.Form == model.Pointer {
		t = t.Elem
	}
	return t != nil && t.Form == model.Basic && t.Basic == "string"
}

// isList tells whether values of the type are JSON lists.
func isList(t *model.Type) bool {
	t = t.Pointee()
	return t != nil && (t.Form == model.Slice || t.Form == model.Array)
}
