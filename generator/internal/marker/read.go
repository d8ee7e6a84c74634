package marker

import (
	"regexp"
	"strings"
)

// The packages that markers name, for the loader.

func ownValue(m Marker) []string {
	if m.Value == "true" || m.Value == "false" || strings.Contains(m.Value, "...") ||
		!importPattern.MatchString(m.Value) {
		return nil
	}
	return []string{m.Value}
}

// importPattern matches what can be an import path, and not what the go command would read otherwise.
var importPattern = regexp.MustCompile(`^[-_.~a-zA-Z0-9]([-_.~/a-zA-Z0-9]*[-_.~a-zA-Z0-9])?$`)

func packagesOfTypes(m Marker) []string {
	var out []string
	for typ := range strings.SplitSeq(m.Value, ",") {
		out = append(out, packageOf(strings.TrimSpace(typ))...)
	}
	return out
}

// packageOf returns the package of path.Name; nothing for a name alone.
func packageOf(name string) []string {
	if i := strings.LastIndexByte(name, '.'); i > 0 && i > strings.LastIndexByte(name, '/') {
		return []string{name[:i]}
	}
	return nil
}

func packageOfConstant(m Marker) []string {
	if name, ok := strings.CutPrefix(m.Value, "ref("); ok {
		return packageOf(strings.TrimSuffix(name, ")"))
	}
	return nil
}

// methodPackages returns the packages of the types that a method of a client takes and returns.
func methodPackages(m Marker) []string {
	var out []string
	for part := range strings.SplitSeq(m.Value, ",") {
		key, typ, _ := strings.Cut(strings.TrimSpace(part), "=")
		if key == "input" || key == "result" {
			out = append(out, withSlash(packageOf(typ))...)
		}
	}
	return out
}

// externalPackages returns the packages of types and of the apply configurations that exist for them.
func externalPackages(m Marker) []string {
	return withSlash(strings.Split(strings.TrimSpace(m.Value), ":"))
}

// withSlash leaves those paths that a module can have.
func withSlash(paths []string) []string {
	var out []string
	for _, p := range paths {
		if strings.Contains(p, "/") {
			out = append(out, p)
		}
	}
	return out
}
