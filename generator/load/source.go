package load

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// source is a package that is read from source.
type source struct {
	meta  *packages.Package
	files []*ast.File
	// generated are those of files that other tools wrote.
	generated map[*ast.File]bool
	// unread is the text of those files of which only the imports were parsed so far.
	unread map[*ast.File][]byte
	// blanked are the paths of generated files of ours, which are not read.
	blanked []string
	// relevant: there are markers. shallow: none but those that gather what lies below, so that types don't matter.
	relevant, shallow bool
	// groups: there is a marker that gathers what lies below, as +apigen:groups.
	groups bool
	// clients: there is +apigen:clients. clientRefs are the packages that clients need beyond those of their types.
	clients    bool
	clientRefs []string
	// rules: there are rules in CEL.
	rules bool
	// root: read for its own sake, not for lack of export data. output: files may be written for it.
	root, output bool
	// inGroups are the groups that the files name above their package clauses.
	inGroups []string
	// named are the packages that markers name; refs are those of names of theirs.
	named, refs []string

	// broken: a file doesn't parse. wrong: a declaration doesn't compile.
	broken, wrong bool

	types *types.Package
	errs  []types.Error
	busy  bool
}

// read reads and parses a root. Syntax errors are added to the loader's.
func (l *loader) read(p *packages.Package) *source {
	s := &source{meta: p, generated: map[*ast.File]bool{}}
	only := true // none but those that gather was seen
	for _, name := range p.GoFiles {
		data, err := os.ReadFile(name)
		if err != nil {
			l.errs.Add(token.Position{Filename: name}, "can't be read: %v", err)
			s.broken = true
			continue
		}
		if l.owns(filepath.Base(name)) && replaceable(data) {
			s.blanked = append(s.blanked, name)
			continue
		}
		s.scan(data, &only)
		l.parse(s, name, data)
	}
	s.shallow = s.relevant && only
	sort.Strings(s.named)
	return s
}

var (
	generatedPattern = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.\r?$`)
	clausePattern    = regexp.MustCompile(`(?m)^package\s`)
	refPattern       = regexp.MustCompile(`\+(?:k8s:deepcopy-gen:interfaces=|k8s:conversion-gen:explicit-from=|default=ref\()([^\s)]+)`)
	namedPattern     = regexp.MustCompile(`\+(?:k8s:conversion-gen|k8s:conversion-gen-external-types|k8s:defaulter-gen-input|apigen:serve)=([A-Za-z0-9_.\-]+(?:/[A-Za-z0-9_.\-~]+)*)`)
)

// generatedHeader tells whether a file says before its package clause that it is generated.
func generatedHeader(data []byte) bool {
	loc := generatedPattern.FindIndex(data)
	if loc == nil {
		return false
	}
	clause := clausePattern.FindIndex(data)
	return clause == nil || loc[0] < clause[0]
}

// replaceable tells whether a file under one of our names holds nothing of the user's: it is generated, or empty, as a
// disk that lost power leaves files.
func replaceable(data []byte) bool { return generatedHeader(data) || len(bytes.TrimSpace(data)) == 0 }

// isGenerated tells whether a file on the disk is a generated one of ours.
func (l *loader) isGenerated(name string) bool {
	if !l.owns(filepath.Base(name)) {
		return false
	}
	data, err := os.ReadFile(name)
	return err == nil && replaceable(data)
}

// scan looks for markers in the bytes of a file, before it is parsed.
func (s *source) scan(data []byte, only *bool) {
	if collects(data) > 0 {
		s.relevant, s.groups = true, true
	}
	s.clients = s.clients || bytes.Contains(data, []byte("+apigen:clients"))
	s.clientRefs = append(s.clientRefs, clientPackages(data)...)
	s.rules = s.rules || bytes.Contains(data, []byte(":XValidation:"))
	s.inGroups = append(s.inGroups, groupsOf(data)...)
	if controls(data) {
		s.relevant, *only = true, false
	}
	for _, m := range namedPattern.FindAllSubmatch(data, -1) {
		if v := string(m[1]); v != "false" && v != "true" {
			s.named = append(s.named, v)
		}
	}
	for _, m := range refPattern.FindAllSubmatch(data, -1) {
		for _, ref := range strings.Split(string(m[1]), ",") {
			if i := strings.LastIndexByte(ref, '.'); i > 0 && i > strings.LastIndexByte(ref, '/') {
				s.refs = append(s.refs, ref[:i])
			}
		}
	}
}

// collects counts the markers of a package that gathers what lies below it.
func collects(data []byte) int {
	n := 0
	for _, name := range []string{"groups", "clients", "reference", "crds"} {
		n += bytes.Count(data, []byte("+apigen:"+name))
	}
	return n
}

// controls tells whether a file holds markers that packages of API types have.
func controls(data []byte) bool {
	for _, prefix := range []string{"+k8s:", "+groupName", "+genclient"} {
		if bytes.Contains(data, []byte(prefix)) {
			return true
		}
	}
	if bytes.Count(data, []byte("+apigen:")) > collects(data) {
		return true
	}
	others := 0
	for _, name := range []string{"rbac", "webhook", "scaffold"} {
		others += bytes.Count(data, []byte("+kubebuilder:"+name))
	}
	return bytes.Count(data, []byte("+kubebuilder:")) > others
}

func (l *loader) parse(s *source, name string, data []byte) {
	f, err := parser.ParseFile(l.fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
	var list scanner.ErrorList
	if errors.As(err, &list) {
		if generatedHeader(data) {
			l.warnings.Add(list[0].Pos, "in a file that another tool generated: %s", list[0].Msg)
			list = nil
		}
		for _, e := range list {
			l.errs.Add(e.Pos, "%s", e.Msg)
			s.broken = true
		}
	}
	if f == nil || f.Name == nil {
		return
	}
	s.files = append(s.files, f)
	if s.generated[f] = generatedHeader(data); s.generated[f] {
		dropBodies(f)
	}
}

// imports are the import paths of the files, sorted.
func (s *source) imports() []string {
	seen := map[string]bool{}
	for _, f := range s.files {
		for _, i := range f.Imports {
			if path, err := strconv.Unquote(i.Path.Value); err == nil && path != "" {
				seen[path] = true
			}
		}
	}
	out := make([]string, 0, len(seen))
	for path := range seen {
		out = append(out, path)
	}
	sort.Strings(out)
	return out
}

// parsePosition parses the file:line:col of the go command.
func parsePosition(s string) token.Position {
	var p token.Position
	if s == "" || s == "-" {
		return p
	}
	parts := strings.Split(s, ":")
	numbers := []int{}
	for len(parts) > 1 && len(numbers) < 2 {
		n, err := strconv.Atoi(parts[len(parts)-1])
		if err != nil {
			break
		}
		numbers, parts = append(numbers, n), parts[:len(parts)-1]
	}
	p.Filename = strings.Join(parts, ":")
	switch len(numbers) {
	case 1:
		p.Line = numbers[0]
	case 2:
		p.Line, p.Column = numbers[1], numbers[0]
	}
	return p
}
