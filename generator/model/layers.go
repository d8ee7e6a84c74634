package model

// Layers returns what the type is declared over, the innermost first, and the type itself: what markers say of each
// holds for its values.
func (t *Type) Layers() []*Type {
	if t.Of == nil {
		return []*Type{t}
	}
	return append(t.Of.Layers(), t)
}
