package load

import (
	"bytes"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"

	"golang.org/x/mod/semver"

	"apigen.dev/generator/marker"
	"apigen.dev/generator/model"
)

const (
	// clientModule is what generated clients stand on, clientLeast the oldest version that has what they call.
	clientModule = "k8s.io/client-go"
	clientLeast  = "v0.37.0"
	// clientFolder is where clients go where the marker doesn't say.
	clientFolder = "client"
)

var clientLine = regexp.MustCompile(`\+(?:genclient:method|apigen:clients:external)=[^\r\n]*`)

// clientPackages are the import paths that markers of clients name in a file.
func clientPackages(data []byte) []string {
	var out []string
	for _, line := range clientLine.FindAll(data, -1) {
		name, value, _ := bytes.Cut(line, []byte("="))
		if !bytes.HasSuffix(name, []byte(":method")) {
			out = append(out, strings.Split(strings.TrimSpace(string(value)), ":")...)
			continue
		}
		for _, part := range strings.Split(string(value), ",") {
			key, typ, _ := strings.Cut(strings.TrimSpace(part), "=")
			if i := strings.LastIndexByte(typ, '.'); i > strings.LastIndexByte(typ, '/') && (key == "input" || key == "result") {
				out = append(out, typ[:i])
			}
		}
	}
	return slices.DeleteFunc(out, func(p string) bool { return !strings.Contains(p, "/") })
}

// clientImports are the packages that generated clients import, where any are asked for.
func (l *loader) clientImports() []string {
	var out []string
	wanted := false
	for _, s := range l.sources {
		wanted = wanted || s.root && s.clients
		out = append(out, s.clientRefs...)
	}
	if !wanted {
		return nil
	}
	return append(out, l.ClientImports...)
}

// client reads what +genclient and its kin say of a kind.
func (b *builder) client(m *model.Type, ms marker.Markers) *model.Client {
	c := &model.Client{
		NonNamespaced: len(ms.All("genclient:nonNamespaced")) > 0,
		NoStatus:      len(ms.All("genclient:noStatus")) > 0,
		NoVerbs:       len(ms.All("genclient:noVerbs")) > 0,
		Pos:           m.Pos,
	}
	if g, ok := ms.Get("genclient"); ok {
		c.Pos = g.Pos
		if g.Value != "" {
			b.clientFault(m, g.Pos, "marker \"+genclient\" takes no value: leave it out where no client is wanted")
		}
	}
	c.Verbs = b.clientVerbs(m, c, ms)
	for _, g := range ms.All("genclient:method") {
		if method, ok := b.clientMethod(m, g); ok {
			c.Methods = append(c.Methods, method)
		}
	}
	return c
}

// clientVerbs are all verbs, but those that markers leave out and those of a status that isn't there.
func (b *builder) clientVerbs(m *model.Type, c *model.Client, ms marker.Markers) []string {
	known := model.ClientVerbs()
	named := func(name string) []string {
		var out []string
		for _, g := range ms.All(name) {
			for _, verb := range strings.Split(g.Value, ",") {
				if verb = strings.TrimSpace(verb); !slices.Contains(known, verb) {
					b.clientFault(m, g.Pos, "marker \"+%s\": %q is no verb of clients: known are %s", name, verb, strings.Join(known, ", "))
				}
				out = append(out, verb)
			}
		}
		return out
	}
	only, skip := named("genclient:onlyVerbs"), named("genclient:skipVerbs")
	if len(ms.All("genclient:readonly")) > 0 {
		only = append(only, "get", "list", "watch")
	}
	for _, verb := range only {
		if slices.Contains(skip, verb) {
			b.clientFault(m, c.Pos, "verb %q of %s is among +genclient:onlyVerbs and +genclient:skipVerbs: leave it out of one", verb, m.Name)
		}
	}
	status := slices.ContainsFunc(m.Fields, func(f *model.Field) bool { return f.Name == "Status" })
	return slices.DeleteFunc(known, func(verb string) bool {
		return only != nil && !slices.Contains(only, verb) || slices.Contains(skip, verb) ||
			strings.HasSuffix(verb, "Status") && (!status || c.NoStatus)
	})
}

// methodVerbs are those that an additional method can have, and whether its input and its result can be of other types.
var methodVerbs = map[string]struct{ input, result bool }{
	"create": {true, true}, "update": {true, true}, "apply": {true, true}, "get": {false, true}, "list": {false, true}, "patch": {false, true},
}

// clientFault reports what is wrong with a kind's client, where the user can mend it: nobody asks for clients of others'
// packages.
func (b *builder) clientFault(m *model.Type, pos model.Position, format string, args ...any) {
	if m.Package.Module != nil && m.Package.Module.Own {
		b.errorf(pos, format, args...)
	}
}

// clientMethod reads +genclient:method=Name,verb=...,subresource=...,input=...,result=...
func (b *builder) clientMethod(m *model.Type, g marker.Marker) (model.ClientMethod, bool) {
	parts := strings.Split(g.Value, ",")
	out := model.ClientMethod{Name: strings.TrimSpace(parts[0]), Pos: g.Pos}
	if !token.IsIdentifier(out.Name) || !exported(out.Name) {
		b.clientFault(m, g.Pos, "marker \"+genclient:method\": %q is no name of an exported method: write +genclient:method=UpdateScale,verb=update,subresource=scale", out.Name)
		return out, false
	}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch {
		case value == "":
			b.clientFault(m, g.Pos, "marker \"+genclient:method\": %q needs a value: %s=...", key, key)
			return out, false
		case key == "verb":
			out.Verb = value
		case key == "subresource":
			out.Subresource = value
		case key == "input":
			out.Input = b.clientType(m, g, value)
		case key == "result":
			out.Result = b.clientType(m, g, value)
		default:
			b.clientFault(m, g.Pos, "marker \"+genclient:method\": unknown argument %q: known are verb, subresource, input, result", key)
			return out, false
		}
	}
	can, ok := methodVerbs[out.Verb]
	switch {
	case !ok:
		b.clientFault(m, g.Pos, "method %s of the client has verb %q: write verb=, and one of %s", out.Name, out.Verb, strings.Join(slices.Sorted(maps.Keys(methodVerbs)), ", "))
		return out, false
	case out.Input.Name != "" && !can.input:
		b.clientFault(m, g.Pos, "method %s of the client has an input, but verb %s takes none", out.Name, out.Verb)
	}
	return out, true
}

// clientType is a type that a method names: one of the package of the kind, or of another by its path.
func (b *builder) clientType(m *model.Type, g marker.Marker, value string) model.Ref {
	ref := model.Ref{Path: m.Package.Path, Name: value, Pos: g.Pos}
	if i := strings.LastIndexByte(value, '.'); i > 0 {
		ref.Path, ref.Name = value[:i], value[i+1:]
	}
	return ref
}

// clients are the client packages that +apigen:clients asks for.
func (b *builder) clients(prog *model.Program) []*model.Clients {
	var out []*model.Clients
	for _, p := range prog.Packages {
		if !p.Clients || p.Module == nil || !p.Module.Own {
			continue
		}
		if c := b.clientsOf(prog, p); c != nil {
			out = append(out, c)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	for i := 1; i < len(out); i++ {
		if out[i].Path == out[i-1].Path {
			b.errorf(out[i].Pos, "the clients of %s and %s would go to the same folder %s: name another with +apigen:clients=", out[i-1].Marked.Path, out[i].Marked.Path, out[i].Dir)
		}
	}
	return out
}

func (b *builder) clientsOf(prog *model.Program, p *model.Package) *model.Clients {
	ms := b.notes[p.Path].pkg.markers
	m, _ := ms.Get("apigen:clients")
	c := &model.Clients{Marked: p, Pos: m.Pos, External: b.externalClients(ms)}
	folder := m.Value
	if folder == "" || folder == "true" {
		folder = clientFolder
		if p.Dir != p.Module.Dir {
			folder = "../" + clientFolder
		}
	}
	c.Dir = filepath.Join(p.Dir, filepath.FromSlash(folder))
	rel, err := filepath.Rel(p.Module.Dir, c.Dir)
	if err != nil || !filepath.IsLocal(rel) || rel == "." || path.IsAbs(folder) {
		b.errorf(m.Pos, "clients can't go to %q: name a folder of this module, relative to that of the package: +apigen:clients=../%s", m.Value, clientFolder)
		return nil
	}
	c.Path = path.Join(p.Module.Path, filepath.ToSlash(rel))
	c.Groups = b.clientGroups(prog, p)
	if !b.checkServed(prog, c) || !b.clientModule(c) {
		return nil
	}
	for _, g := range c.Groups {
		b.checkClientTypes(g)
	}
	c.Declared = b.declaredBelow(c)
	return c
}

// checkServed tells of kinds of other modules, which +apigen:serve serves and no client is generated for: of nothing else, the
// marker of clients asks for nothing.
func (b *builder) checkServed(prog *model.Program, c *model.Clients) bool {
	var served []*model.Package
	for _, p := range prog.Packages {
		if p.Serves != nil && p.Below(c.Marked.Path) {
			served = append(served, p)
		}
	}
	const reason = "clients are generated beside types, and these are another module's: the clients that come with it (k8s.io/client-go/kubernetes for k8s.io/api) speak to this server as they are"
	if len(c.Groups) == 0 && len(served) > 0 {
		b.errorf(c.Pos, "there is no client to generate, since all kinds below are of %s: %s", served[0].Serves.Path, reason)
		return false
	}
	for _, p := range served {
		b.warnings.Add(p.Pos, "no client is generated for the kinds of %s: %s", p.Serves.Path, reason)
	}
	return true
}

// checkClientTypes looks for the types that methods of clients name.
func (b *builder) checkClientTypes(g *model.Group) {
	for _, v := range g.Versions {
		for _, t := range v.Kinds {
			if t.Kind.Client == nil {
				continue
			}
			for _, m := range t.Kind.Client.Methods {
				b.checkClientType(m.Input)
				b.checkClientType(m.Result)
			}
		}
	}
}

func (b *builder) checkClientType(ref model.Ref) {
	if ref.Name == "" {
		return
	}
	p, err := b.l.load(ref.Path)
	if err != nil {
		b.errorf(ref.Pos, "package %s of marker \"+genclient:method\" can't be loaded: %v", ref.Path, err)
	} else if _, ok := p.Scope().Lookup(ref.Name).(*types.TypeName); !ok {
		b.errorf(ref.Pos, "package %s has no type %s, which marker \"+genclient:method\" names", ref.Path, ref.Name)
	}
}

func (b *builder) externalClients(ms marker.Markers) map[string]string {
	out := map[string]string{}
	for _, m := range ms.All("apigen:clients:external") {
		types, applies, ok := strings.Cut(m.Value, ":")
		if !ok || types == "" || applies == "" {
			b.errorf(m.Pos, "%q of marker \"+%s\" names no two packages: write +%s=k8s.io/api/core/v1:k8s.io/client-go/applyconfigurations/core/v1", m.Value, m.Name, m.Name)
			continue
		}
		out[types] = applies
	}
	return out
}

// clientModule tells whether the module of the clients requires client-go, and a version that has what is called.
func (b *builder) clientModule(c *model.Clients) bool {
	for _, path := range b.l.ClientImports {
		meta := b.l.metas[path]
		if !strings.HasPrefix(path, clientModule) {
			continue
		}
		if meta == nil || len(meta.GoFiles) == 0 {
			b.errorf(c.Pos, "clients need %s, of which %s can't be imported (%v): run go get %s@%s, and once clients are generated go mod tidy",
				clientModule, path, listError(meta), clientModule, b.clientVersion())
			return false
		}
		if meta.Module != nil && meta.Module.Replace == nil && semver.Compare(meta.Module.Version, clientLeast) < 0 && meta.Module.Version != "" {
			b.errorf(c.Pos, "clients need %s %s or newer, and this module requires %s: run go get %s@%s", clientModule, clientLeast, meta.Module.Version, clientModule, b.clientVersion())
			return false
		}
	}
	return true
}

// clientVersion is the version of client-go that goes with the module's apimachinery.
func (b *builder) clientVersion() string {
	const newest = "v0.37.2"
	if meta := b.l.metas[metaPath]; meta != nil && meta.Module != nil && semver.Compare(meta.Module.Version, clientLeast) >= 0 {
		return meta.Module.Version
	}
	return newest
}

// declaredBelow are the names that hand-written files in the folders of clients declare.
func (b *builder) declaredBelow(c *model.Clients) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	_ = filepath.WalkDir(c.Dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil //nolint:nilerr // a folder that isn't there holds nothing
		}
		data, err := os.ReadFile(name) //nolint:gosec // the folder is the user's own
		if err != nil || b.l.owns(d.Name()) && replaceable(data) {
			return nil //nolint:nilerr // what can't be read is found when the packages are checked
		}
		f, _ := parser.ParseFile(b.l.fset, name, data, parser.SkipObjectResolution)
		rel, err := filepath.Rel(c.Dir, filepath.Dir(name))
		if f == nil || f.Name == nil || err != nil {
			return nil //nolint:nilerr // as above
		}
		pkg := path.Join(c.Path, filepath.ToSlash(rel))
		if out[pkg] == nil {
			out[pkg] = map[string]bool{}
		}
		for id := range declaredIn(f) {
			out[pkg][id.Name] = true
		}
		return nil
	})
	return out
}
