package schema

import (
	"slices"

	"apigen.dev/generator/internal/model"
)

// Presence holds the differences of a dialect from the one definition of a required field: a marker requires it, or no
// marker makes it optional and its tag has no omitempty.
type Presence struct {
	// ControllerGen: +kubebuilder:validation:Required counts even beside a marker for optional fields, and only the
	// field's own markers count, not its package's.
	ControllerGen bool
	// Default says whether a field with a default may be omitted.
	Default Omission
	// ZeroStructs: clients may omit a struct that is not a pointer unless a marker requires it, for its zero value
	// replaces it.
	ZeroStructs bool
}

// Omission says when clients may omit a field with a default.
type Omission uint8

// The answers: never, only where no marker requires the field, always.
const (
	NoOmission Omission = iota
	MayOmitUnmarked
	MayOmit
)

func (p Presence) requires(f *model.Field) bool {
	s := &f.Schema
	marked := s.Required
	if p.ControllerGen {
		if slices.ContainsFunc(s.Rules,
			func(r model.Rule) bool { return r.Marker == "kubebuilder:validation:Required" }) {
			return true
		}
		marked = s.Rule(model.Required) != nil
	}
	if s.Optional || !marked && f.OmitEmpty {
		return false
	}
	if DefaultOf(f) != nil && (p.Default == MayOmit || p.Default == MayOmitUnmarked && !marked) {
		return false
	}
	return marked || !p.ZeroStructs || f.Type.Form != model.Struct
}

// Checked reports whether a server checks that the field is present, and whether Kubernetes' declarative markers ask
// for it: they treat a zero value as absent.
func Checked(f *model.Field) (required, declarative bool) {
	if o := f.Schema.Rule(model.Optional); o != nil && alwaysDefaulted(f) {
		return true, true // the server sets it
	}
	for i := range f.Schema.Rules {
		if r := &f.Schema.Rules[i]; r.Check == model.Required {
			if r.Declarative {
				return true, true
			}
			required = !f.Schema.Optional
		}
	}
	return required, false
}

// alwaysDefaulted reports whether the field's default guarantees a value that doesn't count as absent.
func alwaysDefaulted(f *model.Field) bool {
	if f.Default == nil {
		return false
	}
	switch f.Type.Form {
	case model.Pointer, model.Slice, model.Map:
		return true
	case model.Basic:
		return f.Default.Ref != nil || f.Default.JSON != `""` && f.Default.JSON != "0" && f.Default.JSON != "false"
	}
	return false
}

// NeedsMembers reports whether an object has required fields without defaults.
func (t *Type) NeedsMembers() bool {
	return slices.ContainsFunc(t.Fields, func(f *Field) bool {
		if f.Go.Inline {
			return f.Type.Go.Form == model.Struct && f.Type.NeedsMembers()
		}
		return f.Required && f.Default == nil
	})
}
