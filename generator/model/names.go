package model

import (
	"strings"

	"github.com/gobuffalo/flect"
)

// Plural is the resource of a kind by the rules of English that Kubernetes' generators follow: clients that client-gen
// wrote ask for that name.
func Plural(kind string) string { return strings.ToLower(PluralName(kind)) }

// KubebuilderPlural is the resource of a kind as controller-gen names it, by a dictionary of English: metadata has no plural,
// and withtriggers is one.
func KubebuilderPlural(kind string) string { return flect.Pluralize(strings.ToLower(kind)) }

// PluralName is the plural of a kind in its own spelling: FlunderTypes of FlunderType.
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
