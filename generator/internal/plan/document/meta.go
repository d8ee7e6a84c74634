package document

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
)

// meta holds the types of k8s.io/apimachinery as model types, which it reads by reflection from the module that apigen
// is linked with. Reflection gives the structure and the documentation (SwaggerDoc); a table below holds the list
// types, which only comments name.
type meta struct {
	types    map[reflect.Type]*model.Type
	packages map[string]*model.Package
	byName   map[string]*model.Type // path.Name
}

func newMeta() *meta {
	m := &meta{types: map[reflect.Type]*model.Type{}, packages: map[string]*model.Package{},
		byName: map[string]*model.Type{}}
	for _, v := range []any{
		metav1.TypeMeta{}, metav1.ObjectMeta{}, metav1.ListMeta{}, metav1.Status{}, metav1.WatchEvent{},
		metav1.DeleteOptions{},
		metav1.CreateOptions{}, metav1.UpdateOptions{}, metav1.PatchOptions{}, metav1.ListOptions{}, metav1.Patch{},
		metav1.APIResourceList{}, metav1.LabelSelector{}, metav1.Condition{}, metav1.Duration{}, metav1.MicroTime{},
		metav1.GroupVersionKind{}, metav1.GroupVersionResource{}, metav1.GroupResource{}, metav1.GroupKind{},
		metav1.PartialObjectMetadata{}, metav1.FieldSelectorRequirement{},
		resource.Quantity{}, intstr.IntOrString{}, runtime.RawExtension{},
	} {
		m.of(reflect.TypeOf(v))
	}
	return m
}

// named returns the type of a package of apimachinery, or nil if it isn't known.
func (m *meta) named(path, name string) *model.Type { return m.byName[path+"."+name] }

func (m *meta) root(name string) *model.Type { return m.named(schema.MetaPath, name) }

func (m *meta) of(rt reflect.Type) *model.Type {
	if t := m.types[rt]; t != nil {
		return t
	}
	t := &model.Type{}
	m.types[rt] = t
	if path := rt.PkgPath(); path != "" {
		t.Name, t.Package = rt.Name(), m.pkg(path)
		m.byName[path+"."+t.Name] = t
	}
	var docs map[string]string
	if d, ok := reflect.Zero(rt).Interface().(interface{ SwaggerDoc() map[string]string }); ok &&
		rt.Kind() == reflect.Struct {
		docs = d.SwaggerDoc()
	}
	t.Doc = docs[""]
	switch rt.Kind() {
	case reflect.Struct:
		t.Form = model.Struct
		for i := range rt.NumField() {
			t.Fields = append(t.Fields, m.field(t, rt.Field(i), docs))
		}
	case reflect.Pointer:
		t.Form, t.Elem = model.Pointer, m.of(rt.Elem())
	case reflect.Slice:
		t.Form, t.Elem = model.Slice, m.of(rt.Elem())
	case reflect.Array:
		t.Form, t.Elem, t.Len = model.Array, m.of(rt.Elem()), int64(rt.Len())
	case reflect.Map:
		t.Form, t.Key, t.Elem = model.Map, m.of(rt.Key()), m.of(rt.Elem())
	case reflect.Interface:
		t.Form = model.Interface
	default:
		t.Form, t.Basic = model.Basic, rt.Kind().String()
	}
	if t.Name == "WatchEvent" && t.Doc == "" {
		t.Doc = "WatchEvent is one event of a watch: its type is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR."
	}
	t.Schema = commented(t.Name, "")
	return t
}

func (m *meta) pkg(path string) *model.Package {
	p := m.packages[path]
	if p == nil {
		p = &model.Package{Path: path, Name: path[strings.LastIndexByte(path, '/')+1:]}
		m.packages[path] = p
	}
	return p
}

func (m *meta) field(owner *model.Type, f reflect.StructField, docs map[string]string) *model.Field {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	out := &model.Field{
		Name: f.Name, Embedded: f.Anonymous, Tag: string(f.Tag), JSON: name, Exported: f.IsExported(),
		Ignored:   name == "-" || !f.IsExported(),
		OmitEmpty: strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero"),
		Inline:    f.Anonymous && name == "",
		Doc:       docs[name],
	}
	if out.Ignored {
		out.JSON, out.Type = "", &model.Type{Form: model.Interface}
		return out
	}
	if name == "" && !out.Inline {
		out.JSON = f.Name
	}
	out.Type = m.of(f.Type)
	out.Schema = commented(owner.Name, out.JSON)
	return out
}

// commented returns the list and map types that only metav1's comments name. Field "" is the type.
func commented(typ, field string) model.Schema {
	switch typ + "." + field {
	case "LabelSelector.", "OwnerReference.":
		return model.Schema{Merging: model.Merging{MapType: "atomic"}}
	case "ObjectMeta.finalizers":
		return model.Schema{Merging: model.Merging{ListType: "set"}}
	case "ObjectMeta.ownerReferences":
		return model.Schema{Merging: model.Merging{ListType: "map", ListMapKeys: []string{"uid"}}}
	case "APIResource.shortNames", "APIResource.categories", "APIResourceList.resources", "DeleteOptions.dryRun",
		"FieldSelectorRequirement.values", "LabelSelector.matchExpressions", "LabelSelectorRequirement.values",
		"ObjectMeta.managedFields", "StatusDetails.causes":
		return model.Schema{Merging: model.Merging{ListType: "atomic"}}
	}
	return model.Schema{}
}
