package model

// Pointee follows pointers to what they finally point at. For a type that is a pointer to itself, it returns some
// pointer.
func (t *Type) Pointee() *Type {
	for range 8 { // nobody points at more; type P *P does, forever
		if t == nil || t.Form != Pointer || t.Elem == nil {
			break
		}
		t = t.Elem
	}
	return t
}
