package judge

import "apigen.dev/generator/internal/model"

func (r *checker) group(g *model.Group) {
	r.shortNames(g)
	for _, x := range g.Resources {
		r.in = x.Versions[0].Type.Package
		r.verbs(x)
		if x.WithoutStorage {
			r.providedVerbs(x)
		}
	}
}

// shortNames reports short names that more than one kind of a group has.
func (r *checker) shortNames(g *model.Group) {
	owner, called := map[string]*model.Resource{}, map[string]*model.Resource{}
	for _, x := range g.Resources {
		called[x.Plural], called[x.Singular] = x, x
	}
	for _, x := range g.Resources {
		t := x.Versions[0].Type
		r.in = t.Package
		for _, name := range x.ShortNames {
			if other := called[name]; other != nil && other != x {
				r.faultf(t.Pos, "the short name %q of kind %s is what kind %s of group %q is called: choose another "+
					"one", name, x.Kind, other.Kind, g.Name)
			}
			if other := owner[name]; other != nil {
				r.faultf(t.Pos, "the kinds %s and %s of group %q have the short name %q: take it from one",
					other.Kind, x.Kind, g.Name, name)
			}
			owner[name] = x
		}
	}
}

// unserved warns of kinds that clients are generated for and that no group serves.
func (r *checker) unserved(p *model.Program) {
	for _, pkg := range p.Packages {
		if !pkg.Output || p.InGroup(pkg.Path) || !pkg.Own() {
			continue
		}
		r.in = pkg
		for _, t := range pkg.Types {
			if k := t.Kind; k == nil || k.Client == nil && !k.Served && !k.StorageVersion {
				continue
			}
			switch {
			case !pkg.HasGroup:
				r.warnf(t.Pos, "kind %s is not served: package %s is of no API group: write // +groupName=<group> "+
					"above its package clause", t.Name, pkg.Path)
			case pkg.Version == "":
				r.warnf(t.Pos, "kind %s is not served: %s is no name of a version: call the package v1, or v1alpha1",
					t.Name, pkg.Name)
			}
			break
		}
	}
}

// verbs reports a set of verbs that no client could use.
func (r *checker) verbs(x *model.Resource) {
	const mark = "+apigen:verbs="
	marker := mark
	if x.Versions[0].Type.Package.ServedBy != nil {
		marker = "+apigen:kind(" + x.Kind + ")=" + mark
	}
	if len(x.ServedVerbs()) == 0 {
		r.errorf(x.VerbsPos, "kind %s is served without any verb: name some with %s", x.Kind, marker)
	}
	for _, verb := range []string{"watch", "deletecollection"} {
		if x.Verbs != nil && x.Has(verb) && !x.Has("list") {
			r.errorf(x.VerbsPos, "kind %s is served with the verb %s, which needs list: name list, too, in %s",
				x.Kind, verb, marker)
		}
	}
}

// providedVerbs reports verbs of a kind without storage that need other verbs, such as get for an update.
func (r *checker) providedVerbs(x *model.Resource) {
	for _, rule := range []struct{ verb, needs string }{
		{"update", "get"}, {"update", "patch"}, {"patch", "update"}, {"delete", "get"},
		{"deletecollection", "delete"},
	} {
		if x.Has(rule.verb) && !x.Has(rule.needs) {
			r.errorf(x.VerbsPos, "a kind without storage that has the verb %s has %s, too: name both in "+
				"+apigen:verbs= or +genclient:onlyVerbs", rule.verb, rule.needs)
		}
	}
	if x.Has("delete") && x.Has("list") && !x.Has("deletecollection") {
		r.errorf(x.VerbsPos, "a kind without storage that has the verbs delete and list has deleteCollection, too: "+
			"name all three in +apigen:verbs= or +genclient:onlyVerbs")
	}
}
