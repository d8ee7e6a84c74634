package model

import "strings"

// Plural is the resource of a kind, by the rule of the Kubernetes generators: lower-cased, with s, es or ies.
func Plural(kind string) string {
	name := strings.ToLower(kind)
	ends := func(suffixes ...string) bool {
		for _, suffix := range suffixes {
			if strings.HasSuffix(name, suffix) {
				return true
			}
		}
		return false
	}
	switch {
	case name == "":
		return ""
	case name == "endpoints":
		return name
	case ends("s", "x", "z", "ch", "sh"):
		return name + "es"
	case ends("y") && len(name) > 1 && !strings.ContainsRune("aeiou", rune(name[len(name)-2])):
		return name[:len(name)-1] + "ies"
	}
	return name + "s"
}
