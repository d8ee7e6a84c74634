package load

import (
	"slices"
	"strconv"
	"strings"

	"apigen.dev/generator/marker"
	"apigen.dev/generator/model"
)

// kind marks a type as a kind where it is one: an exported struct with TypeMeta and ObjectMeta embedded that markers or
// a method say is an object.
func (b *builder) kind(m *model.Type, ms marker.Markers) {
	if len(m.TypeArgs) > 0 {
		return
	}
	if m.Form != model.Struct || !exported(m.Name) || !embeds(m, "TypeMeta") || !embeds(m, "ObjectMeta") {
		b.checkNoKind(m, ms)
		return
	}
	object := slices.ContainsFunc(m.DeepCopyInterfaces, func(r model.Ref) bool { return r.Path == runtimePath && r.Name == "Object" })
	_, method := m.Methods["DeepCopyObject"]
	_, client := ms.Get("genclient")
	if !object && !method && !client {
		b.checkNoKind(m, ms)
		return
	}
	b.checkPaths(m, ms)
	k := &model.Kind{
		ClusterScoped:  ms.Has("genclient:nonNamespaced"),
		StorageVersion: ms.Has("kubebuilder:storageversion"),
		Unserved:       ms.Has("kubebuilder:unservedversion"),
		HasStatus:      hasStatus(m) && len(ms.All("genclient:noStatus")) == 0,
		Plural:         text(ms, "resourceName"),
		Kubebuilder:    ms.Has("kubebuilder:object:root"),

		CreateOnUpdate:         ms.Has("apigen:createOnUpdate"),
		RequireResourceVersion: ms.Has("apigen:requireResourceVersion"),
		ReturnDeletedObject:    ms.Has("apigen:returnDeletedObject"),
		Generation:             switched(ms, "apigen:generation"),
		RoundTripOff:           switchedOff(ms, "apigen:roundtrip"),
	}
	if len(ms.All("genclient:nonNamespaced")) > 0 {
		k.ClusterScoped = true
	}
	b.resourceMarker(k, ms)
	k.Manifest = b.manifest(ms)
	b.subresourceMarkers(k, ms)
	b.storagePrefix(k, ms)
	if client {
		k.Client = b.client(m, ms)
	}
	if d, ok := ms.Get("kubebuilder:deprecatedversion"); ok {
		k.IsDeprecated = true
		k.Deprecated, _ = d.Arg("warning")
	}
	for _, c := range ms {
		if c.Name == "kubebuilder:printcolumn" || c.Name == "apigen:printcolumn" {
			k.Columns = append(k.Columns, b.column(c))
		}
	}
	for _, f := range ms.All("kubebuilder:selectablefield") {
		path, _ := f.Arg("JSONPath")
		k.Selectable = append(k.Selectable, model.SelectableField{JSONPath: path, Pos: f.Pos})
	}
	m.Kind = k
}

// switched is the value of a marker that is a boolean; nil where it isn't there.
func switched(ms marker.Markers, name string) *bool {
	m, ok := ms.Get(name)
	if !ok {
		return nil
	}
	return new(m.Value != "false")
}

// switchedOff tells a marker whose value is false.
func switchedOff(ms marker.Markers, name string) bool {
	m, ok := ms.Get(name)
	return ok && m.Value == "false"
}

func (b *builder) resourceMarker(k *model.Kind, ms marker.Markers) {
	for _, r := range ms.All("kubebuilder:resource") {
		k.Served = true
		if v, ok := r.Arg("path"); ok {
			k.Plural = v
		}
		if v, ok := r.Arg("singular"); ok {
			k.Singular = v
		}
		if v, ok := r.Arg("shortName"); ok {
			k.ShortNames = marker.SplitList(v)
		}
		if v, ok := r.Arg("categories"); ok {
			k.Categories = marker.SplitList(v)
		}
		switch v, ok := r.Arg("scope"); {
		case !ok:
		case v == "Cluster":
			k.ClusterScoped = true
		case v == "Namespaced":
			k.ClusterScoped = false
		default:
			b.errorf(r.Pos, "scope %q of marker \"+kubebuilder:resource\" is neither Cluster nor Namespaced", v)
		}
	}
}

func (b *builder) column(c marker.Marker) model.Column {
	arg := func(key string) string { v, _ := c.Arg(key); return v }
	col := model.Column{
		Name: arg("name"), Type: arg("type"), Format: arg("format"), Description: arg("description"),
		JSONPath: arg("JSONPath"), Method: arg("method"), Pos: c.Pos,
	}
	if p := arg("priority"); p != "" {
		n, err := strconv.ParseInt(p, 10, 32)
		if err != nil {
			b.errorf(c.Pos, "priority %q of marker \"+%s\" is not a whole number", p, c.Name)
		}
		col.Priority = int32(n)
	}
	if col.Name == "" {
		b.errorf(c.Pos, "marker \"+%s\" needs name=", c.Name)
	}
	if c.Name == "apigen:printcolumn" && col.Method == "" {
		b.errorf(c.Pos, "marker \"+apigen:printcolumn\" needs method=, the name of a method of the kind")
	}
	if _, typed := c.Arg("type"); !typed && c.Name == "kubebuilder:printcolumn" {
		b.errorf(c.Pos, "marker \"+kubebuilder:printcolumn\" needs type=, one of %s", strings.Join(columnTypes, ", "))
	}
	if c.Name == "kubebuilder:printcolumn" && col.JSONPath == "" {
		b.errorf(c.Pos, "marker \"+kubebuilder:printcolumn\" needs JSONPath=")
	}
	return col
}

func exported(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }

// embeds tells whether a struct embeds a type of metav1 by value.
func embeds(m *model.Type, name string) bool {
	return slices.ContainsFunc(m.Fields, func(f *model.Field) bool {
		return f.Embedded && f.Type.Name == name && f.Type.Package != nil && f.Type.Package.Path == metaPath
	})
}

func hasStatus(m *model.Type) bool {
	return slices.ContainsFunc(m.Fields, func(f *model.Field) bool { return f.Name == "Status" && !f.Ignored && !f.Embedded })
}

// lists finds the list types of a package's kinds: by their items, which must be of the kind that a list is named after.
func (b *builder) lists(p *model.Package) {
	for _, t := range p.Types {
		if t.Form != model.Struct || !embeds(t, "TypeMeta") || !embeds(t, "ListMeta") {
			continue
		}
		named := p.Type(strings.TrimSuffix(t.Name, "List"))
		if named == t || named != nil && named.Kind == nil {
			named = nil
		}
		item := itemOf(t)
		if named != nil && item != named {
			b.fault(p, t.Pos, "%s is the list of kind %s by its name, but has no such items: it needs a field Items []%s `json:\"items\"`", t.Name, named.Name, named.Name)
			continue
		}
		if item == nil || item.Kind == nil || item.Package != p {
			continue
		}
		if f := itemsOf(t); f.JSON != "items" && f.Tag != "" {
			b.errorf(f.Pos, "the items of a list are called \"items\" on the wire: write `json:\"items\"`")
		}
		object := slices.ContainsFunc(t.DeepCopyInterfaces, func(r model.Ref) bool { return r.Path == runtimePath && r.Name == "Object" })
		if s := b.l.sources[p.Path]; s != nil && s.output && !object && t.Methods["DeepCopyObject"] == nil {
			b.errorf(t.Pos, "%s is the list of kind %s, and no object: mark it with +kubebuilder:object:root=true or +k8s:deepcopy-gen:interfaces=%s.Object", t.Name, item.Name, runtimePath)
		}
		t.ListOf = item
		if item.Kind.ListType == nil || t.Name == item.Name+"List" {
			item.Kind.ListType = t
		}
	}
}

// itemOf is the type of a list's items, or of what they point to; nil where there are none.
func itemOf(list *model.Type) *model.Type {
	f := itemsOf(list)
	if f == nil {
		return nil
	}
	if item := f.Type.Elem; item.Form == model.Pointer && item.Name == "" {
		return item.Elem
	}
	return f.Type.Elem
}

// itemsOf is the field of a list's items; nil where there is none.
func itemsOf(list *model.Type) *model.Field {
	for _, f := range list.Fields {
		if f.Name == "Items" && f.Type.Form == model.Slice {
			return f
		}
	}
	return nil
}
