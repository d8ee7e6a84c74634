package model

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/gobuffalo/flect"
)

// Plural returns the resource of a kind by the rules of English that Kubernetes' generators follow: clients that
// client-gen wrote ask for that name.
func Plural(kind string) string { return strings.ToLower(PluralName(kind)) }

// KubebuilderPlural returns the resource of a kind as controller-gen names it, by a dictionary of English: metadata has
// no plural, and withtriggers is one.
func KubebuilderPlural(kind string) string { return flect.Pluralize(strings.ToLower(kind)) }

// PluralName returns the plural of a kind in its own spelling: FlunderTypes of FlunderType.
func PluralName(kind string) string {
	name := kind
	if len(name) < 2 || strings.EqualFold(name, "endpoints") {
		return name
	}
	last, before := name[len(name)-1], name[len(name)-2]
	switch {
	case last == 's', last == 'x', last == 'z', last == 'h' && (before == 'c' || before == 's'):
		return name + "es"
	case last == 'y' && !strings.ContainsRune("aeiou", rune(before)):
		return name[:len(name)-1] + "ies"
	case last == 'f':
		return name[:len(name)-1] + "ves"
	case last == 'e' && before == 'f':
		return name[:len(name)-2] + "ves"
	}
	return name + "s"
}

var versionPattern = regexp.MustCompile(`^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$`)

// IsVersion reports whether a name looks like an API version: v1, v2beta1.
func IsVersion(name string) bool { return versionPattern.MatchString(name) }

// CompareVersions orders versions by Kubernetes' priority, highest first: v2, v1, v2beta1, v1alpha1.
func CompareVersions(a, b string) int {
	x, y := versionPattern.FindStringSubmatch(a), versionPattern.FindStringSubmatch(b)
	if x == nil || y == nil {
		return cmp.Or(cmp.Compare(len(y), len(x)), cmp.Compare(a, b))
	}
	rank := map[string]int{"": 0, "beta": 1, "alpha": 2}
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	return cmp.Or(
		cmp.Compare(rank[x[2]], rank[y[2]]),
		cmp.Compare(number(y[1]), number(x[1])),
		cmp.Compare(number(y[3]), number(x[3])),
	)
}

// GroupGoName returns the name that a group has in Go where no marker gives it one: Shop for shop.example.com.
func GroupGoName(group string) string {
	label, _, _ := strings.Cut(group, ".")
	return cmp.Or(Camel(strings.TrimLeftFunc(label, func(r rune) bool { return !letter(r) })), "Core")
}

// Camel returns the words of a name joined in Go's way, each with a capital: PortForward for port-forward.
func Camel(name string) string {
	var out strings.Builder
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return !letter(r) && (r < '0' || r > '9') }) {
		out.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return out.String()
}

// conversionPart makes a part of an identifier of a package's folder, as conversion-gen does.
var conversionPart = strings.NewReplacer("-", "_", ".", "")

// ConversionPart returns what stands for a package in the names of conversion functions: the last element of its import
// path, as far as an identifier can hold it.
func ConversionPart(importPath string) string {
	return conversionPart.Replace(importPath[strings.LastIndexByte(importPath, '/')+1:])
}

func letter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }
