package resolve

import (
	"slices"

	"apigen.dev/generator/model"
)

// resolveScale resolves the paths of a kind's scale.
func (f *faults) resolveScale(t *model.Type) {
	s := t.Kind.Scale
	if s == nil {
		return
	}
	resolve := func(path, want string, fits func(*model.Type) bool) []model.Step {
		if path == "" {
			return nil
		}
		steps := f.path(t, path, s.Pos, true)
		if steps == nil {
			return nil
		}
		end := t
		for _, step := range steps {
			if end = settable(end, step); end == nil {
				f.fault(t.Package, s.Pos, "path %s of marker \"+kubebuilder:subresource:scale\": only fields and "+
					"keys of maps lead to a number that can be set", path)
				return nil
			}
		}
		if end = end.Pointee(); !fits(end) {
			f.fault(t.Package, s.Pos, "path %s of marker \"+kubebuilder:subresource:scale\" leads to %s, which is "+
				"no %s", path, end.Describe(), want)
			return nil
		}
		return steps
	}
	s.SpecSteps = resolve(s.SpecPath, "int32 or int64", isReplicas)
	s.StatusSteps = resolve(s.StatusPath, "int32 or int64", isReplicas)
	s.SelectorSteps = resolve(s.SelectorPath, "string or *metav1.LabelSelector", func(t *model.Type) bool {
		return t.IsString() || t.Is(metaPath, "LabelSelector")
	})
	if s.SpecSteps == nil {
		t.Kind.Scale = nil
	}
}

// settable returns the type of what a step leads to, where that can be set: a field, or a value of a map by its text.
// Else nil. A write creates absent structs on the way, which therefore need a name.
func settable(from *model.Type, step model.Step) *model.Type {
	nameless := func(t *model.Type) bool { return t.Pointee().Form == model.Struct && t.Pointee().Package == nil }
	if from.Form == model.Pointer && nameless(from) {
		return nil
	}
	switch from = from.Pointee(); {
	case step.Field != nil:
		return step.Field.Type
	case from.Form == model.Map && from.Key.IsString() && !nameless(from.Elem) && !step.IsIndex && step.Filter == nil:
		return from.Elem
	}
	return nil
}

// isReplicas tells the types of numbers of replicas. Those of a Scale are of 32 bits; greater ones are shown as the
// greatest.
func isReplicas(t *model.Type) bool {
	return t.Form == model.Basic && slices.Contains([]string{"int32", "rune", "int64", "int"}, t.Basic)
}
