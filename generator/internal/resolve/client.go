package resolve

import (
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"golang.org/x/mod/semver"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
)

const (
	// clientModule is what generated clients stand on, clientLeast the oldest version that has what they call.
	clientModule = "k8s.io/client-go"
	clientLeast  = "v0.37.0"
	// clientFolder is where clients go where the marker doesn't say.
	clientFolder = "client"
)

// chooseVerbs chooses the verbs of a kind's client: all, but those that markers leave out, those of a status that isn't
// there, and those that the server lacks.
func chooseVerbs(k *model.Kind, t *model.Type) diag.Errors {
	c := k.Client
	var faults diag.Errors
	for _, verb := range c.Only {
		if slices.Contains(c.Skip, verb) {
			faults.Add(c.Pos, "verb %q of %s is among +genclient:onlyVerbs and +genclient:skipVerbs: leave it out of "+
				"one", verb, t.Name)
		}
	}
	c.Verbs = slices.DeleteFunc(model.ClientVerbs(), func(verb string) bool {
		return c.Only != nil && !slices.Contains(c.Only, verb) || slices.Contains(c.Skip, verb) ||
			strings.HasSuffix(verb, "Status") && (model.FieldNamed(t, "Status") == nil || c.NoStatus) ||
			k.Verbs != nil && !serves(k.Verbs, verb)
	})
	return faults
}

// serves reports whether a server that has verbs answers a client's verb. Writes of the status are a subresource's,
// which keeps its verbs.
func serves(verbs []string, verb string) bool {
	return strings.HasSuffix(verb, "Status") || slices.Contains(verbs, serverVerb(verb))
}

// serverVerb returns the server's verb for what a client calls a verb: patch for apply, deletecollection for
// deleteCollection.
func serverVerb(verb string) string {
	if verb == "apply" {
		return "patch"
	}
	return strings.ToLower(verb)
}

type clientBuilder struct {
	*groupBuilder
	imports []string // what clients import
}

// clients returns the client packages that +apigen:clients asks for.
func (b *clientBuilder) clients(prog *model.Program) []*model.Clients {
	var out []*model.Clients
	for _, p := range prog.Packages {
		if !p.Clients || !p.Own() {
			continue
		}
		if c := b.clientsOf(prog, p); c != nil {
			out = append(out, c)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	for i := 1; i < len(out); i++ {
		if out[i].Path == out[i-1].Path {
			b.errorf(out[i].Pos, "the clients of %s and %s would go to the same folder %s: name another with "+
				"+apigen:clients=", out[i-1].Marked.Path, out[i].Marked.Path, out[i].Dir)
		}
	}
	return out
}

func (b *clientBuilder) clientsOf(prog *model.Program, p *model.Package) *model.Clients {
	c := &model.Clients{Marked: p, Pos: p.ClientFolder.Pos, External: p.ExternalClients}
	folder := p.ClientFolder.Dir
	if folder == "" || folder == "true" {
		folder = clientFolder
		if p.Dir != p.Module.Dir {
			folder = "../" + clientFolder
		}
	}
	c.Dir = filepath.Join(p.Dir, filepath.FromSlash(folder))
	rel, err := filepath.Rel(p.Module.Dir, c.Dir)
	if err != nil || !filepath.IsLocal(rel) || rel == "." || path.IsAbs(folder) {
		b.errorf(c.Pos, "clients can't go to %q: name a folder of this module, relative to that of the package: "+
			"+apigen:clients=../%s", p.ClientFolder.Dir, clientFolder)
		return nil
	}
	c.Path = path.Join(p.Module.Path, filepath.ToSlash(rel))
	c.Groups = b.clientGroups(prog, p)
	if !b.checkServed(prog, c) || !b.clientModule(c) {
		return nil
	}
	for _, g := range c.Groups {
		b.checkClientPackages(c, g)
		b.checkClientTypes(g)
	}
	c.Declared = map[string]map[string]bool{}
	for below, names := range b.u.DeclaredBelow(c.Dir) {
		c.Declared[path.Join(c.Path, below)] = names
	}
	return c
}

// checkServed tells of kinds of other modules, which +apigen:serve serves and no client is generated for: of nothing
// else, the marker of clients asks for nothing.
func (b *clientBuilder) checkServed(prog *model.Program, c *model.Clients) bool {
	var served []*model.Package
	for _, p := range prog.Packages {
		if p.Serves != nil && p.Below(c.Marked.Path) {
			served = append(served, p)
		}
	}
	const reason = "clients are generated beside types, and these are another module's: the clients that come with " +
		"it (k8s.io/client-go/kubernetes for k8s.io/api) speak to this server as they are"
	if len(c.Groups) == 0 && len(served) > 0 {
		b.errorf(c.Pos, "there is no client to generate, since all kinds below are of %s: %s", served[0].Serves.Path,
			reason)
		return false
	}
	for _, p := range served {
		b.warnf(p.Pos, "no client is generated for the kinds of %s: %s", p.Serves.Path, reason)
	}
	return true
}

// checkClientPackages reports versions with clients in several packages: the clients of a version are a package, which
// has a type, a lister and an apply configuration for each name, all of one package.
func (b *clientBuilder) checkClientPackages(c *model.Clients, g *model.Group) {
	for _, v := range g.Versions {
		var packages []*model.Package
		for _, p := range v.Packages {
			if p.Below(c.Marked.Path) && hasClients(p) {
				packages = append(packages, p)
			}
		}
		if len(packages) < 2 {
			continue
		}
		for _, p := range packages[:2] {
			b.errorf(p.Pos, "version %s of group %q has clients for kinds of two packages, %s and %s: clients are of "+
				"one, so move the types of one into the other (type X = other.X, left behind, keeps importers "+
				"compiling), or remove +genclient from the kinds of one", v.Name, g.Name, packages[0].Path,
				packages[1].Path)
		}
	}
}

// checkClientTypes looks for the types that methods of clients name.
func (b *clientBuilder) checkClientTypes(g *model.Group) {
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

func (b *clientBuilder) checkClientType(ref model.Ref) {
	if ref.Name == "" {
		return
	}
	o, err := lookup[*types.TypeName](b.u, ref.Path, ref.Name)
	if err != nil {
		b.errorf(ref.Pos, "package %s of marker \"+genclient:method\" can't be loaded: %v", ref.Path, err)
	} else if o == nil {
		b.errorf(ref.Pos, "package %s has no type %s, which marker \"+genclient:method\" names", ref.Path, ref.Name)
	}
}

// clientModule reports whether the module of the clients requires client-go, and a version that has what is called.
func (b *clientBuilder) clientModule(c *model.Clients) bool {
	for _, path := range b.imports {
		if !strings.HasPrefix(path, clientModule) {
			continue
		}
		if !b.u.Listed(path) {
			b.errorf(c.Pos, "clients need %s, of which %s can't be imported (%v): run go get %s@%s, and once clients "+
				"are generated go mod tidy", clientModule, path, b.u.Missing(path), clientModule, b.clientVersion())
			return false
		}
		info, _ := b.u.Info(path)
		if info.Version != "" && !info.Replaced && semver.Compare(info.Version, clientLeast) < 0 {
			b.errorf(c.Pos, "clients need %s %s or newer, and this module requires %s: run go get %s@%s",
				clientModule, clientLeast, info.Version, clientModule, b.clientVersion())
			return false
		}
	}
	return true
}

// clientVersion returns the version of client-go that goes with the module's apimachinery.
func (b *clientBuilder) clientVersion() string {
	const newest = "v0.37.2"
	if info, ok := b.u.Info(metaPath); ok && semver.Compare(info.Version, clientLeast) >= 0 {
		return info.Version
	}
	return newest
}

// clientGroups returns the groups that a marker of clients collects: those of the program, and, as client-gen has it,
// packages of versions without +groupName, whose group is their constant GroupName, or the folder above. Only clients
// know the latter: what is served needs the marker.
func (b *clientBuilder) clientGroups(prog *model.Program, p *model.Package) []*model.Group {
	var out []*model.Group
	for _, g := range prog.Groups {
		if below(g, p) {
			out = append(out, g)
		}
	}
	byName := map[string]*model.Group{}
	for _, v := range prog.Packages {
		if v.HasGroup || v.Version == "" || !v.Below(p.Path) || !hasClients(v) {
			continue
		}
		name := b.unmarkedGroup(v)
		if byName[name] == nil {
			byName[name] = &model.Group{Name: name, GoName: model.GroupGoName(name)}
			out = append(out, byName[name])
		}
		b.addVersion(byName[name], v, kinds(v))
	}
	for _, g := range byName {
		b.finish(g)
		g.Wiring = nil
	}
	slices.SortFunc(out, func(x, y *model.Group) int { return strings.Compare(x.Name, y.Name) })
	return out
}

func hasClients(p *model.Package) bool {
	return slices.ContainsFunc(kinds(p), func(t *model.Type) bool { return t.Kind.Client != nil })
}

func (b *clientBuilder) unmarkedGroup(p *model.Package) string {
	if name, ok := b.groupConstant(p.Path); ok {
		return name
	}
	return path.Base(path.Dir(p.Path))
}

// below reports whether a version of the group with clients lies in or below a package's folder.
func below(g *model.Group, p *model.Package) bool {
	return slices.ContainsFunc(g.Packages(), func(version *model.Package) bool {
		return version.Below(p.Path) && hasClients(version)
	})
}
