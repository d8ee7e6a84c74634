package api

// SelectableField is a field by which lists and watches may select.
type SelectableField[T Object] struct {
	Path  string // spec.color
	Value func(T) string
}
