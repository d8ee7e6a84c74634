package schema

import "apigen.dev/generator/model"

// Served are the resource's versions that clients may ask for, in order of priority.
func Served(r *model.Resource) []model.ResourceVersion {
	var out []model.ResourceVersion
	for _, v := range r.Versions {
		if v.Type.Kind == nil || !v.Type.Kind.Unserved {
			out = append(out, v)
		}
	}
	return out
}

// ServedVersions are the group's versions with anything to serve, in order of priority.
func ServedVersions(g *model.Group) []*model.Version {
	var out []*model.Version
	for _, v := range g.Versions {
		if servesAny(g, v) {
			out = append(out, v)
		}
	}
	return out
}

func servesAny(g *model.Group, version *model.Version) bool {
	for _, r := range g.Resources {
		for _, v := range Served(r) {
			if v.Version == version {
				return true
			}
		}
	}
	return false
}

// FileName is the base name of the OpenAPI document of a version.
func FileName(version string) string { return "zz_generated.openapi." + version + ".json" }

// Asked tells whether any package of the group is one that output was asked for.
func Asked(g *model.Group) bool {
	if g.Internal != nil && g.Internal.Output {
		return true
	}
	for _, v := range g.Versions {
		if v.Package.Output {
			return true
		}
	}
	return false
}
