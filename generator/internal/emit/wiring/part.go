package wiring

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan/hook"
	"apigen.dev/generator/internal/plan/serving"
)

// subresources prints the subresources that are parts of the object, or nothing.
func (p *printer) subresources(r *model.Resource) jen.Code {
	var printed []jen.Code
	if status := p.plan.OfResource(r).Serving.Status; status != nil {
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
	parts := p.plan.OfResource(r).Serving.Parts[s]
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
		p.match(r, parts.Hub),
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

// match prints the function that refuses other items than those of the old object, or nothing where the parts are below
// no list.
func (p *printer) match(r *model.Resource, parts [][]serving.PartStep) jen.Code {
	statements := matchItems(r.Hub, parts, "nil")
	if len(statements) == 0 {
		return nil
	}
	statements = slices.Concat([]jen.Code{gocode.Code("var errs field.ErrorList")}, statements,
		[]jen.Code{gocode.Code("return errs")})
	return member("Match", gocode.Code("func(obj, old $) field.ErrorList {$}", pointer(r.Hub), statements))
}

// matchItems prints the statements that compare the items of lists in obj and old, and of the lists in these items.
func matchItems(in *model.Type, parts [][]serving.PartStep, path string) (statements []jen.Code) {
	for len(parts) > 0 {
		list, same, others := belowItems(parts)
		if parts = others; list == nil {
			continue
		}
		at, keyed, item := goPath(list.path), list.key, list.item
		where := wirePath(path, list.path)
		statements = append(statements, gocode.Code("errs = append(errs, subresource.SameItems("+where+", $, obj"+at+
			", old"+at+", func(item $) $ { return item."+keyed.Name+" })...)",
			jen.Lit(list.json), pointer(item), keyType(keyed.Type)))
		if inner := matchItems(item, same, "path"); len(inner) > 0 {
			statements = append(statements, gocode.Code("for i := range min(len(obj"+at+"), len(old"+at+")) {\n"+
				"obj, old, path := &obj"+at+"[i], &old"+at+"[i], "+where+".Index(i)\n$\n}",
				jen.Custom(jen.Options{Separator: "\n"}, inner...)))
		}
	}
	return statements
}

// wirePath prints the path of a field on the wire, below another path or at the root.
func wirePath(below string, steps []serving.PartStep) string {
	var names []string
	for _, s := range steps {
		if s.JSON != "" {
			names = append(names, strconv.Quote(s.JSON))
		}
	}
	text := strings.Join(names, ", ")
	if below == "nil" {
		return "field.NewPath(" + text + ")"
	}
	return below + ".Child(" + text + ")"
}

// items are a list on the way to parts of an object.
type items struct {
	path []serving.PartStep
	key  *model.Field
	// json is the name of the key on the wire.
	json string
	item *model.Type
}

// belowItems takes the first of some parts. If it is below a list, it returns the list, and what is below its items of
// all parts that are. others are the parts that are left.
func belowItems(parts [][]serving.PartStep) (list *items, below, others [][]serving.PartStep) {
	first := parts[0]
	at := slices.IndexFunc(first, func(s serving.PartStep) bool { return s.Key != nil })
	if at < 0 {
		return nil, nil, parts[1:]
	}
	for _, part := range parts {
		if len(part) <= at || !slices.Equal(part[:at+1], first[:at+1]) {
			others = append(others, part)
			continue
		}
		below = append(below, part[at+1:])
	}
	return &items{first[:at], first[at].Key, first[at].JSON, first[at-1].Field.Type.Elem}, below, others
}

// copyParts prints the statements that copy fields of a struct from one to another: first those that are no lists, then
// those of each list's items.
func copyParts(in *model.Type, parts [][]serving.PartStep) jen.Code {
	var statements []jen.Code
	for len(parts) > 0 {
		first := parts[0]
		list, same, others := belowItems(parts)
		if parts = others; list == nil {
			statements = append(statements, copyPart(in, first))
			continue
		}
		path := goPath(list.path)
		statements = append(statements, gocode.Code("for from, to := range subresource.Items(from"+path+", to"+path+
			", func(item $) $ { return item."+list.key.Name+" }) {\n$\n}",
			pointer(list.item), keyType(list.key.Type), copyParts(list.item, same)))
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
