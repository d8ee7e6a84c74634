package layout

import (
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan/clientset"
)

// Qualify is a name of a package as the file says it. The package need not have been imported before.
func (f *File) Qualify(pkg *model.Package, name string) string {
	if pkg == nil || pkg.Path == f.path {
		return name
	}
	return f.alias(pkg.Path) + "." + name
}

func (f *File) alias(path string) string {
	if alias := f.byPath[path]; alias != "" {
		return alias
	}
	for _, v := range f.set.Versions() {
		if v.Package.Path == path {
			return f.keep(v.API(), path)
		}
	}
	return f.keep(customaryAlias(path), path)
}

// customaryAlias is the last element of a path, behind that of its parent if it is a version: intstr, corev1.
func customaryAlias(path string) string {
	elements := strings.Split(path, "/")
	name := clientset.Identifier(elements[len(elements)-1])
	if len(elements) > 1 && (name == "" || versionPattern.MatchString(name)) {
		return clientset.Identifier(elements[len(elements)-2]) + name
	}
	return name
}

var versionPattern = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)

var variables = []string{"", "b", "c", "entries", "err", "k", "name", "namespace", "object", "v", "value", "values"}

// keep gives a package that name, or one like it where another package has it.
func (f *File) keep(alias, path string) string {
	name := alias
	for n := 2; f.imports[name] != "" && f.imports[name] != path || slices.Contains(variables, name) ||
		token.IsKeyword(name); n++ {
		name = alias + strconv.Itoa(n)
	}
	f.Import(name, path)
	return name
}

// TypeText is a type as the file writes it.
func (f *File) TypeText(t *model.Type) string {
	if t.Name != "" {
		return f.Qualify(t.Package, t.Name) + f.arguments(t)
	}
	switch t.Form {
	case model.Basic:
		return t.Basic
	case model.Pointer:
		return "*" + f.TypeText(t.Elem)
	case model.Slice:
		return "[]" + f.elementText(t.Elem)
	case model.Array:
		return "[" + strconv.FormatInt(t.Len, 10) + "]" + f.elementText(t.Elem)
	case model.Map:
		return "map[" + f.TypeText(t.Key) + "]" + f.elementText(t.Elem)
	case model.Struct:
		return f.structText(t)
	case model.UnsafePointer:
		return "unsafe.Pointer"
	}
	return "any"
}

func (f *File) elementText(t *model.Type) string {
	if t.Name == "" && t.Form == model.Basic && t.Basic == "uint8" {
		return "byte"
	}
	return f.TypeText(t)
}

func (f *File) arguments(t *model.Type) string {
	if len(t.TypeArgs) == 0 {
		return ""
	}
	args := make([]string, len(t.TypeArgs))
	for i, a := range t.TypeArgs {
		args[i] = f.TypeText(a)
	}
	return "[" + strings.Join(args, ", ") + "]"
}

func (f *File) structText(t *model.Type) string {
	var out strings.Builder
	out.WriteString("struct {\n")
	for _, field := range t.Fields {
		if !field.Embedded {
			out.WriteString(field.Name + " ")
		}
		out.WriteString(f.TypeText(field.Type))
		if field.Tag != "" {
			out.WriteString(" " + strconv.Quote(field.Tag))
		}
		out.WriteString("\n")
	}
	out.WriteString("}")
	return out.String()
}
