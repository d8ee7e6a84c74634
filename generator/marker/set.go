package marker

// The setters of markers whose value is a field of the model.

// flag sets that the marker is there and doesn't say false. Where several markers set a field, one is enough.
func flag[T any](field func(*T) *bool) func(*T, *Use) {
	return func(to *T, u *Use) { *field(to) = *field(to) || u.says() }
}

// set sets that the marker is there, whatever it says.
func set[T any](field func(*T) *bool) func(*T, *Use) {
	return func(to *T, _ *Use) { *field(to) = true }
}

// off sets that the marker says false.
func off[T any](field func(*T) *bool) func(*T, *Use) {
	return func(to *T, u *Use) { *field(to) = *field(to) || !u.says() }
}

// boolean is flag for a field that tells false from nothing.
func boolean[T any](field func(*T) **bool) func(*T, *Use) {
	return func(to *T, u *Use) { *field(to) = new(u.says()) }
}

// text sets the value.
func text[T any](field func(*T) *string) func(*T, *Use) {
	return func(to *T, u *Use) { *field(to) = u.Value }
}

// unquoted sets the value without its quotes.
func unquoted[T any](field func(*T) *string) func(*T, *Use) {
	return func(to *T, u *Use) { *field(to) = Unquote(u.Value) }
}

// number sets the value as a number.
func number[T any](field func(*T) **float64) func(*T, *Use) {
	return func(to *T, u *Use) { *field(to) = u.Float() }
}

// integer sets the value as a whole number.
func integer[T any](field func(*T) **int64) func(*T, *Use) {
	return func(to *T, u *Use) { *field(to) = u.Int() }
}
