package marker

import "strings"

// The packages that markers name, for the loader.

// ownValue returns the package that is the value.
func ownValue(m Marker) []string {
	if m.Value == "true" || m.Value == "false" || !importPath(m.Value) {
		return nil
	}
	return []string{m.Value}
}

// importPath tells what can be an import path from what the go command would read otherwise.
func importPath(s string) bool {
	return s != "" && s[0] != '/' && s[len(s)-1] != '/' && !strings.Contains(s, "...") &&
		!strings.ContainsFunc(s, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
				strings.ContainsRune("_.-~/", r))
		})
}

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

// packageOfConstant returns the package of the constant in ref(path.Name).
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
