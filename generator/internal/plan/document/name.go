package document

import (
	"slices"
	"strings"
	"unicode"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/spelling"
)

// Name returns the name of a type's schema: io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta. It begins with the
// package's +k8s:openapi-model-package, or with the import path with the elements of its host reversed.
func Name(t *model.Type) string {
	prefix := t.Package.ModelPackage
	if prefix == "" {
		prefix = restful(t.Package.Path)
	}
	return prefix + "." + identifier(t.Name) + arguments(t)
}

// arguments returns the suffix of an instance of a generic type: Box_string, Box_v1_Widget.
func arguments(t *model.Type) string {
	out := ""
	for _, a := range t.TypeArgs {
		out += "_" + argument(a)
	}
	return out
}

func argument(t *model.Type) string {
	if t.Package != nil {
		return identifier(t.Package.Name) + "_" + identifier(t.Name) + arguments(t)
	}
	switch t.Form {
	case model.Basic:
		return t.Basic
	case model.Pointer:
		return "Pointer_" + argument(t.Elem)
	case model.Slice, model.Array:
		return "Slice_" + argument(t.Elem)
	case model.Map:
		return "Map_" + argument(t.Key) + "_" + argument(t.Elem)
	}
	return "struct"
}

func restful(path string) string {
	elements := strings.Split(path, "/")
	host := strings.Split(elements[0], ".")
	slices.Reverse(host)
	elements[0] = strings.Join(host, ".")
	return strings.Join(elements, ".")
}

// identifier replaces the characters of a type's name that are special in a reference: names of generic types have
// brackets.
func identifier(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '_'
	}, name)
}

// operationGroup returns the group and version for ids of operations: ShopExampleComV1 for shop.example.com/v1, AppsV1
// for apps/v1, CoreV1 for v1. It leaves out Kubernetes' own domain.
func operationGroup(group, version string) string {
	return spelling.UpperFirst(groupCamel(group)) + spelling.UpperFirst(version)
}

// tag returns the tag of a version's operations: shopExampleCom_v1.
func tag(group, version string) string { return groupCamel(group) + "_" + version }

func groupCamel(group string) string {
	if group == "" {
		return "core"
	}
	return camel(strings.FieldsFunc(strings.TrimSuffix(group, ".k8s.io"), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}))
}

func camel(words []string) string {
	for i := range words {
		if i > 0 {
			words[i] = spelling.UpperFirst(words[i])
		}
	}
	return strings.Join(words, "")
}
