package gocode

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/model"
)

var locals = []string{
	"in", "out", "i", "j", "k", "key", "val", "outVal", "a", "b", "c", "s", "obj", "scheme", "err", "ptrVar", "x",
	"clone", "init", "main",
}

// imports gives each imported package one name, by the custom of the API packages: k8s.io/api/core/v1 is corev1.
type imports struct {
	taken  map[string]bool
	byPath map[string]string
	// own are the paths whose name is known to be the package's own.
	own map[string]bool
}

func newImports(pkg *model.Package, more []string) *imports {
	m := &imports{taken: map[string]bool{}, byPath: map[string]string{}, own: map[string]bool{}}
	for name := range pkg.Declared {
		m.taken[name] = true
	}
	for _, t := range pkg.Types {
		m.taken[t.Name] = true
	}
	for _, name := range locals {
		m.taken[name] = true
	}
	for _, name := range more {
		m.taken[name] = true
	}
	return m
}

// name returns the name for the import, and whether it is surely the package's own, so that the import needs no alias.
// pkgName is the package's own name, or empty if it isn't known.
func (m *imports) name(path, pkgName string) (alias string, own bool) {
	alias, ok := m.byPath[path]
	if !ok {
		alias = m.free(candidates(path, pkgName))
		m.byPath[path] = alias
		m.taken[alias] = true
	}
	if alias == pkgName || pkgName == "" && customary(path) && alias == lastElement(path) {
		m.own[path] = true
	}
	return alias, m.own[path]
}

func (m *imports) free(names []string) string {
	for _, name := range names {
		if !m.taken[name] && !jen.IsReservedWord(name) {
			return name
		}
	}
	last := names[len(names)-1]
	for n := 2; ; n++ {
		if name := last + strconv.Itoa(n); !m.taken[name] {
			return name
		}
	}
}

var (
	version    = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)
	majorOnly  = regexp.MustCompile(`^v[0-9]+$`)
	notLetters = regexp.MustCompile(`[^a-z0-9]`)
)

// candidates are the names for a package in order of preference: its own, or with more and more of its path in front.
// A name that is only a version needs its parent's at once.
func candidates(path, pkgName string) []string {
	elems := strings.Split(path, "/")
	name := letters(pkgName)
	if name == "" {
		name = letters(elems[len(elems)-1])
	}
	parents := elems[:len(elems)-1]
	if majorOnly.MatchString(elems[len(elems)-1]) && pkgName != "" && !version.MatchString(pkgName) &&
		len(parents) > 0 {
		parents = parents[:len(parents)-1] // a major version's element says nothing: example.com/widget/v2 is widget
	}
	var names []string
	if !version.MatchString(name) {
		names = append(names, name)
	}
	for i := len(parents) - 1; i >= 0; i-- {
		name = letters(parents[i]) + name
		names = append(names, name)
	}
	if len(names) == 0 {
		names = append(names, name)
	}
	return names
}

func letters(s string) string {
	return strings.TrimLeft(notLetters.ReplaceAllString(strings.ToLower(s), ""), "0123456789")
}

func lastElement(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// customary tells the standard library and Kubernetes' packages, where the last element is the package's name.
func customary(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return first == "k8s.io" || !strings.Contains(first, ".")
}

// grouped puts the imports of the standard library into a group of their own, in front.
func grouped(src string) string {
	head, rest, ok := strings.Cut(src, "import (\n")
	if !ok {
		return src
	}
	block, rest, ok := strings.Cut(rest, "\n)\n")
	if !ok {
		return src
	}
	var first, second []string
	for _, line := range strings.Split(block, "\n") {
		path := strings.Trim(line[strings.LastIndexByte(line, ' ')+1:], "\t\"")
		if element, _, _ := strings.Cut(path, "/"); strings.Contains(element, ".") {
			second = append(second, line)
		} else {
			first = append(first, line)
		}
	}
	if len(first) > 0 && len(second) > 0 {
		first = append(first, "")
	}
	return head + "import (\n" + strings.Join(append(first, second...), "\n") + "\n)\n" + rest
}
