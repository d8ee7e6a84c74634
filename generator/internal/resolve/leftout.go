package resolve

import (
	"slices"

	"apigen.dev/generator/internal/model"
)

// leaveOut leaves kinds of a version out of what is served: those that a marker keeps out, and those that look like
// kinds and aren't meant to be resources, unless a marker asks for them.
func (b *groupBuilder) leaveOut(p *model.Package, kinds []*model.Type) {
	if !b.runtime || p.ServedBy != nil {
		return
	}
	registered := b.rootOf(p).Registered()
	if !slices.ContainsFunc(kinds, func(t *model.Type) bool { return registered[t.Name] }) {
		registered = nil
	}
	for _, t := range kinds {
		k := t.Kind
		if k.Asked != nil {
			k.LeftOut = !*k.Asked
			continue
		}
		if reason := unasked(p, t, registered); reason != "" {
			k.LeftOut = true
			b.warnf(t.Pos, "kind %s is not served in version %s: %s; write +apigen:served=true above it to serve it, "+
				"=false to say that you know", t.Name, p.Version, reason)
		}
	}
}

// unasked says why nothing asks for a kind to be served; it is empty where something does. Registered are the types
// that the package's own code adds to a scheme; nil if it adds none of the kinds.
func unasked(p *model.Package, t *model.Type, registered map[string]bool) string {
	k := t.Kind
	switch {
	case p.Skip:
		return "its package is marked +kubebuilder:skip"
	case k.Manifest.Skip:
		return "it is marked +kubebuilder:skipversion"
	case registered != nil && !registered[t.Name] && k.Client == nil && !k.KindNames.Served:
		return "the package adds kinds to its scheme, and not this one"
	}
	return ""
}
