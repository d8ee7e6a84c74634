package clientset

import (
	"go/token"
	"slices"
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/spelling"
)

// Kind is a kind with a client.
type Kind struct {
	*model.Client
	Version *Version
	Type    *model.Type
	// List is the kind's list, or nil.
	List *model.Type
	// Resource is its name on the wire: flunders. Singular is the kind's in small letters.
	Resource, Singular string
	Namespaced         bool
	// Schema is the name of the kind's schema, and SchemeName the one by which a scheme of apimachinery looks for it.
	// They are empty where clients don't apply the kind.
	Schema, SchemeName string
}

func newKind(v *Version, g *model.Group, t *model.Type, errs *diag.Errors) *Kind {
	r := g.Resources[slices.IndexFunc(g.Resources, func(r *model.Resource) bool { return r.Kind == t.Name })]
	k := &Kind{
		Client: t.Kind.Client, Version: v, Type: t, List: t.Kind.ListType,
		Resource: r.Plural, Singular: strings.ToLower(t.Name), Namespaced: !r.ClusterScoped,
	}
	if k.List == nil && (k.Has("list") || k.Has("deleteCollection")) {
		errs.Add(t.Pos, "kind %s has no type of its lists, which its client needs: declare %sList with Items []%s, "+
			"or say +genclient:skipVerbs=list,deleteCollection,watch", t.Name, t.Name, t.Name)
	}
	for _, m := range k.Methods {
		if m.Verb == "apply" && k.applyOf(m.Input) == "" {
			errs.Add(m.Pos, "method %s applies %s.%s, of which no apply configuration is written here: name the "+
				"package that has it with +apigen:clients:external=%s:... beside +apigen:clients",
				m.Name, m.Input.Path, m.Input.Name, m.Input.Path)
		}
	}
	return k
}

// Name is the kind: Flunder.
func (k *Kind) Name() string { return k.Type.Name }

// LowerName is flunder, as identifiers that aren't exported begin.
func (k *Kind) LowerName() string { return spelling.LowerFirst(k.Type.Name) }

// Plural is Flunders.
func (k *Kind) Plural() string { return model.PluralName(k.Type.Name) }

// Private is the name of the type that implements the client: flunders. Hand-written files can add methods to it.
func (k *Kind) Private() string {
	name := spelling.LowerFirst(k.Plural())
	if token.IsKeyword(name) {
		return name + "Client"
	}
	return name
}

// API is the kind's type as files name it: wardlev1alpha1.Flunder.
func (k *Kind) API() string { return k.Version.API() + "." + k.Type.Name }

// APIList is the type of the kind's list as files name it; empty if there is none.
func (k *Kind) APIList() string {
	if k.List == nil {
		return ""
	}
	return k.Version.API() + "." + k.List.Name
}

// Apply is the kind's apply configuration as files name it.
func (k *Kind) Apply() string { return k.Version.ApplyAlias() + "." + ApplyName(k.Type.Name) }

// ApplyName is the name of a type's apply configuration.
func ApplyName(name string) string { return name + "ApplyConfiguration" }

// Listed reports whether the kind has a lister.
func (k *Kind) Listed() bool { return k.List != nil && k.Has("list", "get") }

// Informed reports whether the kind has an informer.
func (k *Kind) Informed() bool { return k.Listed() && k.Has("watch") }

// Applied reports whether clients apply the kind.
func (k *Kind) Applied() bool { return k.Has("apply") || k.Has("applyStatus") }

// WithList reports whether the client deals with lists.
func (k *Kind) WithList() bool { return k.List != nil && (k.Has("list") || k.Has("deleteCollection")) }

// Generic is client-go's generic client that the kind's stands on, type arguments included.
func (k *Kind) Generic() string {
	name, args := "Client", "*"+k.API()
	switch {
	case k.WithList() && k.Applied():
		name = "ClientWithListAndApply"
	case k.WithList():
		name = "ClientWithList"
	case k.Applied():
		name = "ClientWithApply"
	}
	if k.WithList() {
		args += ", *" + k.APIList()
	}
	if k.Applied() {
		args += ", *" + k.Apply()
	}
	return name + "[" + args + "]"
}

// PointerItems tells lists of pointers from those of values.
func (k *Kind) PointerItems() bool {
	for _, f := range k.List.Fields {
		if f.Name == "Items" && f.Type.Elem != nil {
			return f.Type.Elem.Form == model.Pointer
		}
	}
	return false
}

// IfNamespaced is a text for a namespaced kind, and empty for a cluster scoped one.
func (k *Kind) IfNamespaced(s string) string {
	if k.Namespaced {
		return s
	}
	return ""
}

// Expands reports whether to declare the interface that hand-written files may fill, of that suffix, in a package: not
// where such a file does.
func (k *Kind) Expands(path, suffix string) bool {
	return !k.Version.Set.Declared[path][k.Name()+suffix]
}

// Method is an additional method of a client (+genclient:method), as files name what it takes and returns.
type Method struct {
	model.ClientMethod
	Kind *Kind
}

// Extra are the kind's additional methods: none for one without verbs.
func (k *Kind) Extra() []Method {
	if k.NoVerbs {
		return nil
	}
	var out []Method
	for _, m := range k.Methods {
		out = append(out, Method{m, k})
	}
	return out
}

// Input is the type of the object that is sent, empty if none is.
func (m Method) Input() string {
	if m.Verb != "create" && m.Verb != "update" {
		return ""
	}
	return m.Kind.named(m.ClientMethod.Input, m.Kind.Type.Name)
}

// Result is the type of what is returned.
func (m Method) Result() string {
	if m.Verb != "list" {
		return m.Kind.named(m.ClientMethod.Result, m.Kind.Type.Name)
	}
	ref := m.ClientMethod.Result
	if ref.Name == "" {
		return m.Kind.named(ref, m.Kind.Type.Name+"List")
	}
	ref.Name += "List"
	return m.Kind.named(ref, "")
}

// Apply is the apply configuration that is sent, empty if none is.
func (m Method) Apply() string {
	if m.Verb != "apply" {
		return ""
	}
	return m.Kind.applyOf(m.ClientMethod.Input)
}

// Options is the type of the method's options.
func (m Method) Options() string { return spelling.UpperFirst(m.Verb) + "Options" }

// TakesName reports whether the method has a parameter for the name.
func (m Method) TakesName() bool { return m.Subresource != "" || m.Verb == "get" }

// named is a type that a method names, or the other one of the kind's package if it names none.
func (k *Kind) named(ref model.Ref, other string) string {
	switch {
	case ref.Name == "":
		return k.Version.API() + "." + other
	case ref.Path == k.Type.Package.Path:
		return k.Version.API() + "." + ref.Name
	}
	return foreignAlias(ref.Path) + "." + ref.Name
}

// applyOf is the apply configuration of a type that a method names; empty if there is none.
func (k *Kind) applyOf(ref model.Ref) string {
	if ref.Name == "" {
		return k.Apply()
	}
	if _, alias := k.applyPackage(ref); alias != "" {
		return alias + "." + ApplyName(ref.Name)
	}
	return ""
}

// applyPackage is the package with the apply configuration of a type that a method names.
func (k *Kind) applyPackage(ref model.Ref) (path, alias string) {
	if ref.Path == k.Type.Package.Path {
		return k.Version.ApplyPath, k.Version.ApplyAlias()
	}
	for _, v := range k.Version.Set.Versions() {
		if v.Package.Path == ref.Path {
			return v.ApplyPath, v.ApplyAlias()
		}
	}
	if external := k.Version.Set.External[ref.Path]; external != "" {
		return external, "apply" + foreignAlias(ref.Path)
	}
	return "", ""
}

// Foreign are the packages that the methods' types are of, beside the kind's own, by the names under which files import
// them.
func (k *Kind) Foreign() map[string]string {
	out := map[string]string{}
	for _, m := range k.Methods {
		for _, ref := range []model.Ref{m.Input, m.Result} {
			if ref.Name == "" || ref.Path == k.Type.Package.Path {
				continue
			}
			out[foreignAlias(ref.Path)] = ref.Path
			if path, alias := k.applyPackage(ref); path != "" {
				out[alias] = path
			}
		}
	}
	return out
}

func foreignAlias(path string) string {
	elements := strings.Split(path, "/")
	name := "api"
	for _, e := range elements[max(0, len(elements)-2):] {
		name += Identifier(e)
	}
	return name
}
