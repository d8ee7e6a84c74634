package scaffold

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"apigen.dev/generator/internal/model"
)

// source is a package as text: its hand-written files, cut into declarations.
type source struct {
	files []*sourceFile
	// declared are the declarations by the names that they declare, methods aside.
	declared map[string]*declaration
}

type sourceFile struct {
	base string
	// head is the text up to the package clause.
	head    string
	imports []imported
	parts   []*declaration
}

// imported is an import; apart tells that an empty line or a comment stands above it.
type imported struct {
	spec  *ast.ImportSpec
	apart bool
}

// declaration is one of a file, with the comments above it, also detached ones.
type declaration struct {
	text  string
	node  ast.Decl
	names []string
	// receiver is the type of a method; empty for others.
	receiver string
}

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// readSource reads the hand-written files of a folder; an absent folder has none.
func readSource(dir string) (*source, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	s := &source{declared: map[string]*declaration{}}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(name, "_test.go") || generated.Match(content) {
			continue
		}
		f, err := cut(name, content)
		if err != nil {
			return nil, err
		}
		s.files = append(s.files, f)
		for _, d := range f.parts {
			for _, declared := range d.names {
				s.declared[declared] = d
			}
		}
	}
	return s, nil
}

// cut cuts a file into its declarations. Each begins where the one before it ends.
func cut(name string, content []byte) (*sourceFile, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, name, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	at := func(pos token.Pos) int { return set.Position(pos).Offset }
	f := &sourceFile{base: filepath.Base(name), head: string(content[:at(parsed.Package)])}
	last := 0
	for _, spec := range parsed.Imports {
		line := set.Position(spec.Pos()).Line
		f.imports, last = append(f.imports, imported{spec, last > 0 && line > last+1}), line
	}
	from := at(parsed.Name.End())
	for _, node := range parsed.Decls {
		to := at(node.End())
		if end := bytes.IndexByte(content[to:], '\n'); end >= 0 {
			to += end // a comment behind the declaration
		}
		d := &declaration{text: strings.TrimSpace(string(content[from:to])), node: node}
		from = to
		if g, ok := node.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			continue
		}
		d.name()
		f.parts = append(f.parts, d)
	}
	return f, nil
}

func (d *declaration) name() {
	switch node := d.node.(type) {
	case *ast.FuncDecl:
		if node.Recv == nil {
			d.names = []string{node.Name.Name}
		} else if t := baseName(node.Recv.List[0].Type); t != "" {
			d.receiver = t
		}
	case *ast.GenDecl:
		for _, spec := range node.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				d.names = append(d.names, spec.Name.Name)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					d.names = append(d.names, name.Name)
				}
			}
		}
	}
}

// baseName is the name of a type, or of what a pointer points at.
func baseName(t ast.Expr) string {
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if name, ok := t.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

var constantReference = regexp.MustCompile(`\bref\((\w+)\)`)

// uses returns the names that a declaration refers to, of its own package or of imports.
func (d *declaration) uses() []string {
	var out []string
	ast.Inspect(d.node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				out = append(out, x.Name)
				return false
			}
		case *ast.Field:
			ast.Inspect(n.Type, func(n ast.Node) bool { return inspected(n, &out) })
			return false
		case *ast.Ident:
			out = append(out, n.Name)
		}
		return true
	})
	for _, m := range constantReference.FindAllStringSubmatch(d.text, -1) {
		out = append(out, m[1])
	}
	return out
}

// inspected collects the names in the type of a field, without the names of fields and what selectors select.
func inspected(n ast.Node, out *[]string) bool {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		if x, ok := n.X.(*ast.Ident); ok {
			*out = append(*out, x.Name)
		}
		return false
	case *ast.Field:
		ast.Inspect(n.Type, func(n ast.Node) bool { return inspected(n, out) })
		return false
	case *ast.Ident:
		*out = append(*out, n.Name)
	}
	return true
}

// valueType returns the type of the constants of a declaration; empty if it declares none, or untyped ones.
func (d *declaration) valueType() string {
	if g, ok := d.node.(*ast.GenDecl); ok && g.Tok == token.CONST {
		for _, spec := range g.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && v.Type != nil {
				return baseName(v.Type)
			}
		}
	}
	return ""
}

// importNames are the names that a file may know an import by: the last element of its path, and the one before it
// where the last one is a version, which is a major version of a module or a version of an API.
func importNames(spec *ast.ImportSpec) []string {
	if spec.Name != nil {
		return []string{spec.Name.Name}
	}
	importPath, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return nil
	}
	elements := strings.Split(importPath, "/")
	last := len(elements) - 1
	names := []string{elements[last]}
	if last > 0 && majorVersion.MatchString(elements[last]) {
		names = append(names, elements[last-1])
	}
	if at := strings.LastIndexAny(elements[last], ".-"); at >= 0 {
		names = append(names, elements[last][at+1:], elements[last][:at])
	}
	return names
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// reach returns the declarations that belong to a kind, as they stand in the files: those of its types, and what these
// refer to; their constants, methods and defaults. Methods of the kind itself are logic and stay with the hub, but for
// those that its markers name. The kinds that its subresources take and answer belong to it.
func (s *source) reach(kind string, extra func(*declaration, map[string]bool) bool) map[*declaration]bool {
	names, taken := map[string]bool{kind: true, kind + "List": true}, map[*declaration]bool{}
	for _, payload := range s.payloads(kind) {
		names[payload] = true
	}
	for grown := true; grown; {
		grown = false
		for _, f := range s.files {
			for _, d := range f.parts {
				if taken[d] || !s.wanted(d, kind, names) && !extra(d, names) {
					continue
				}
				taken[d], grown = true, true
				for _, name := range slices.Concat(d.names, d.uses()) {
					if s.declared[name] != nil {
						names[name] = true
					}
				}
			}
		}
	}
	return taken
}

func (s *source) wanted(d *declaration, kind string, names map[string]bool) bool {
	if d.receiver != "" {
		method := d.node.(*ast.FuncDecl).Name.Name
		return names[d.receiver] && (d.receiver != kind ||
			strings.Contains(s.declared[kind].text, "method="+method))
	}
	for _, name := range d.names {
		defaulted, ok := strings.CutPrefix(name, "SetDefaults_")
		if names[name] || ok && names[defaulted] {
			return true
		}
	}
	return names[d.valueType()] && d.valueType() != ""
}

var subresourceMarker = regexp.MustCompile(`(?m)^//\s*\+apigen:subresource:(?:\S*,)?name="?([\w-]+)`)

// payloads returns the kinds of the package that methods of a kind take and answer, where a marker of the kind makes
// them subresources.
func (s *source) payloads(kind string) (payloads []string) {
	methods := map[string]bool{}
	for _, m := range subresourceMarker.FindAllStringSubmatch(s.declared[kind].text, -1) {
		methods[model.Camel(m[1])] = true
	}
	for _, f := range s.files {
		for _, d := range f.parts {
			if d.receiver != kind || !methods[d.node.(*ast.FuncDecl).Name.Name] {
				continue
			}
			for name := range d.pointedTo() {
				if s.isObject(name) {
					payloads = append(payloads, name)
				}
			}
		}
	}
	return payloads
}

// pointedTo returns the types of the package that the parameters and results of a function point to.
func (d *declaration) pointedTo() iter.Seq[string] {
	return func(yield func(string) bool) {
		signature := d.node.(*ast.FuncDecl).Type
		for _, list := range []*ast.FieldList{signature.Params, signature.Results} {
			if list == nil {
				continue
			}
			for _, field := range list.List {
				star, ok := field.Type.(*ast.StarExpr)
				if ok && baseName(star.X) != "" && !yield(baseName(star.X)) {
					return
				}
			}
		}
	}
}

// isObject reports whether a type of the package is a struct that embeds ObjectMeta.
func (s *source) isObject(name string) bool {
	d := s.declared[name]
	if d == nil {
		return false
	}
	found := false
	ast.Inspect(d.node, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if fields, ok := spec.Type.(*ast.StructType); ok && spec.Name.Name == name {
			found = slices.ContainsFunc(fields.Fields.List, embedsObjectMeta)
		}
		return false
	})
	return found
}

func embedsObjectMeta(f *ast.Field) bool {
	imported, ok := f.Type.(*ast.SelectorExpr)
	return ok && len(f.Names) == 0 && imported.Sel.Name == "ObjectMeta"
}
