package emit

import "strings"

// Misspelt tells whether a name is nearly another and not that name: they differ in case, in underscores, or in one letter
// that is wrong, missing, too many, or has changed places with the next.
func Misspelt(name, want string) bool {
	return name != want && nearly(folded(name), folded(want))
}

func folded(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

func nearly(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	if i == len(a) || a[i+1:] == b[i+1:] {
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
