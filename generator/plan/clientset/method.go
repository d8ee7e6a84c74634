package clientset

import (
	"fmt"
	"strings"

	"apigen.dev/generator/model"
	"apigen.dev/generator/spelling"
)

// Method is an additional method of a client (+genclient:method), as files name what it takes and returns.
type Method struct {
	model.ClientMethod
	kind *Kind
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

// Doc is one line on what the method does.
func (m Method) Doc() string {
	target := m.kind.Singular
	if m.Subresource != "" {
		target = fmt.Sprintf("the %s of one %s", m.Subresource, target)
	} else if m.Verb == "list" {
		target = m.kind.Resource
	}
	does := map[string]string{"create": "creates", "update": "updates", "get": "gets", "list": "lists",
		"patch": "patches", "apply": "applies"}[m.Verb]
	return fmt.Sprintf("%s %s %s, and returns what the server has then.", m.Name, does, target)
}

// Input is the type of the object that is sent, empty where none is.
func (m Method) Input() string {
	if m.Verb != "create" && m.Verb != "update" {
		return ""
	}
	return m.kind.named(m.ClientMethod.Input, m.kind.Type.Name)
}

// Result is the type of what is returned.
func (m Method) Result() string {
	if m.Verb != "list" {
		return m.kind.named(m.ClientMethod.Result, m.kind.Type.Name)
	}
	ref := m.ClientMethod.Result
	if ref.Name == "" {
		return m.kind.named(ref, m.kind.Type.Name+"List")
	}
	ref.Name += "List"
	return m.kind.named(ref, "")
}

// Apply is the apply configuration that is sent, empty where none is.
func (m Method) Apply() string {
	if m.Verb != "apply" {
		return ""
	}
	return m.kind.applyOf(m.ClientMethod.Input)
}

// Options is the type of the method's options.
func (m Method) Options() string { return spelling.UpperFirst(m.Verb) + "Options" }

// Request is the beginning of the request.
func (m Method) Request() string {
	return map[string]string{"create": "Post()", "update": "Put()", "get": "Get()", "list": "Get()",
		"patch": "Patch(pt)"}[m.Verb]
}

// ByName is the expression for the name of what the request is about; empty where it is about a collection.
func (m Method) ByName() string {
	switch {
	case m.Subresource != "" || m.Verb == "patch":
		return "name"
	case m.Verb == "apply":
		return "*name"
	case m.Verb == "get":
		return "name"
	case m.Verb == "update":
		return "object.GetName()"
	}
	return ""
}

// TakesName tells whether the method has a parameter for the name.
func (m Method) TakesName() bool { return m.Subresource != "" || m.Verb == "get" }

// Action is the expression for what a client without a server does instead of sending a request.
func (m Method) Action() string {
	sub := fmt.Sprintf("%q", m.Subresource)
	switch m.Verb {
	case "get":
		return "testing.NewGetSubresourceActionWithOptions(c.Resource(), c.Namespace(), " + sub + ", name, opts)"
	case "create":
		if m.Subresource == "" {
			return "testing.NewCreateActionWithOptions(c.Resource(), c.Namespace(), object, opts)"
		}
		return "testing.NewCreateSubresourceActionWithOptions(c.Resource(), name, " + sub +
			", c.Namespace(), object, opts)"
	case "update":
		return "testing.NewUpdateSubresourceActionWithOptions(c.Resource(), " + sub + ", c.Namespace(), object, opts)"
	case "patch":
		return "testing.NewPatchSubresourceActionWithOptions(c.Resource(), c.Namespace(), name, pt, data, opts, " +
			"subresources...)"
	case "apply":
		name, more := "*name", ""
		if m.Subresource != "" {
			name, more = "name", ", "+sub
		}
		return "testing.NewPatchSubresourceActionWithOptions(c.Resource(), c.Namespace(), " + name +
			", apitypes.ApplyPatchType, data, opts.ToPatchOptions()" + more + ")"
	}
	return "action"
}

// named is a type that a method names, or the other one of the kind's package where it names none.
func (k *Kind) named(ref model.Ref, other string) string {
	switch {
	case ref.Name == "":
		return k.Version.API() + "." + other
	case ref.Path == k.Type.Package.Path:
		return k.Version.API() + "." + ref.Name
	}
	return foreignAlias(ref.Path) + "." + ref.Name
}

// applyOf is the apply configuration of a type that a method names; empty where there is none.
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
