package model

// IsString reports whether values of the type are JSON strings by Go's rules.
func (t *Type) IsString() bool {
	for t != nil && t.Form == Pointer {
		t = t.Elem
	}
	return t != nil && t.Form == Basic && t.Basic == "string"
}

// IsList reports whether values of the type are JSON lists by Go's rules.
func (t *Type) IsList() bool {
	t = t.Pointee()
	return t != nil && (t.Form == Slice || t.Form == Array)
}
