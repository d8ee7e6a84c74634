package wiring

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan/hook"
	"apigen.dev/generator/plan/serving"
)

// subresources prints the subresources that are parts of the object, or nothing.
func (p *printer) subresources(r *model.Resource) jen.Code {
	var printed []jen.Code
	if status := p.plan.Serving[r].Status; status != nil {
		var metadata []string
		if r.StatusMarker != nil {
			metadata = r.StatusMarker.Metadata
		}
		printed = append(printed, p.fieldSubresource(r, "status", status, metadata))
	}
	for _, s := range r.Subresources {
		switch s.Form {
		case model.FieldSubresource:
			printed = append(printed, p.fieldSubresource(r, s.Name, s.Field, s.Metadata))
		case model.PartSubresource:
			printed = append(printed, p.partSubresource(r, s))
		}
	}
	return when(printed != nil,
		member("Subresources", gocode.Code("[]registry.Subresource[$]$", pointer(r.Hub), jen.Values(printed...))))
}

func (p *printer) fieldSubresource(r *model.Resource, name string, f *model.Field, metadata []string) jen.Code {
	hub := pointer(r.Hub)
	return literal(nil,
		textMember("Name", name),
		metadataMember(metadata),
		member("Copy", gocode.Code("func(from, to $) {\n$\n}", hub, copyPart(r.Hub, []serving.PartStep{{Field: f}}))),
		member("Reset", gocode.Code("func(obj $) {\nobj."+f.Name+" = $\n}", hub, zero(r.Hub, f))),
		p.updateHook(r, "Prepare", hook.PreparePart(f.Name)),
		p.updateHook(r, "Validate", hook.ValidatePart(f.Name)))
}

func (p *printer) partSubresource(r *model.Resource, s *model.Subresource) jen.Code {
	parts := p.plan.Serving[r].Parts[s]
	var versions []jen.Code
	for _, v := range parts.Versions {
		paths := gocode.Code(strings.TrimPrefix(fmt.Sprintf("%#v", v.Paths), "[]string"))
		versions = append(versions, gocode.Code("$: $", jen.Lit(v.Version), paths))
	}
	return literal(nil,
		textMember("Name", s.Name),
		member("Fields", gocode.Code("map[string][]string$", jen.Values(versions...))),
		metadataMember(s.Metadata),
		when(len(s.Methods) < 3, member("Verbs", texts(s.Verbs()))),
		member("Copy", gocode.Code("func(from, to $) {\n$\n}", pointer(r.Hub), copyParts(r.Hub, parts.Hub))),
		p.updateHook(r, "Prepare", hook.PreparePart(s.UpdateHook())),
		p.updateHook(r, "Validate", hook.ValidatePart(s.UpdateHook())))
}

func metadataMember(names []string) jen.Code {
	return when(len(names) > 0, member("Metadata", texts(names)))
}

// updateHook prints a function of the author's for writes of a part, or nothing.
func (p *printer) updateHook(r *model.Resource, name, function string) jen.Code {
	h := p.plan.Hook(r, function)
	if h == nil {
		return nil
	}
	return member(name, p.hookCall(*h, r.Hub))
}

// copyParts prints the statements that copy fields of a struct from one to another: first those that are no lists, then
// those of each list's items.
func copyParts(in *model.Type, parts [][]serving.PartStep) jen.Code {
	var statements []jen.Code
	for len(parts) > 0 {
		first := parts[0]
		list := slices.IndexFunc(first, func(s serving.PartStep) bool { return s.Key != nil })
		if list < 0 {
			statements, parts = append(statements, copyPart(in, first)), parts[1:]
			continue
		}
		var same [][]serving.PartStep
		parts = slices.DeleteFunc(slices.Clone(parts), func(part []serving.PartStep) bool {
			if len(part) <= list || !slices.Equal(part[:list+1], first[:list+1]) {
				return false
			}
			same = append(same, part[list+1:])
			return true
		})
		path, item := goPath(first[:list]), first[list-1].Field.Type.Elem
		statements = append(statements, gocode.Code("for from, to := range registry.Items(from"+path+", to"+path+
			", func(item $) $ { return item."+first[list].Key.Name+" }) {\n$\n}",
			pointer(item), keyType(first[list].Key.Type), copyParts(item, same)))
	}
	return jen.Custom(jen.Options{Separator: "\n"}, statements...)
}

// copyPart prints a statement that makes a deep copy of a field.
func copyPart(in *model.Type, steps []serving.PartStep) jen.Code {
	last := steps[len(steps)-1].Field
	path, parent, owner := goPath(steps), goPath(steps[:len(steps)-1]), in
	if len(steps) > 1 {
		owner = steps[len(steps)-2].Field.Type
	}
	switch t := last.Type; {
	case t.DeepCopy == model.DeepCopyGenerate || t.DeepCopy == model.DeepCopyExisting:
		return gocode.Code("from" + path + ".DeepCopyInto(&to" + path + ")")
	case t.Form == model.Pointer && t.Elem.DeepCopy != model.DeepCopyNone && t.Elem.Package != nil:
		return gocode.Code("to" + path + " = from" + path + ".DeepCopy()")
	case t.Form == model.Basic:
		return gocode.Code("to" + path + " = from" + path)
	case owner.DeepCopy != model.DeepCopyNone:
		return gocode.Code("to" + path + " = from" + parent + ".DeepCopy()." + last.Name)
	}
	return gocode.Code("to" + path + " = from.DeepCopy()" + path)
}

func keyType(t *model.Type) jen.Code {
	if t.Package == nil {
		return jen.Id(t.Basic)
	}
	return name(t)
}

func goPath(steps []serving.PartStep) (path string) {
	for _, s := range steps {
		path += "." + s.Field.Name
	}
	return path
}
