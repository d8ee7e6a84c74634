package spelling_test

import (
	"testing"

	"apigen.dev/generator/internal/spelling"
)

func TestMisspelt(t *testing.T) {
	for _, c := range []struct {
		name, want string
		misspelt   bool
	}{
		{"Validate", "Validate", false},
		{"validate", "Validate", true},
		{"Validte", "Validate", true},
		{"Vaildate", "Validate", true},
		{"Validates", "Validate", true},
		{"Validatee_", "Validate", true},
		{"Valudate", "Validate", true},
		{"Valud", "Validate", false},
		{"Valuadte", "Validate", false},
		{"SetDefault_Foo", "SetDefaults_Foo", true},
		{"SetDefaultsFoo", "SetDefaults_Foo", true},
		{"Convert_a_X_to_b_X", "Convert_a_X_To_b_X", true},
		{"", "", false},
		{"", "A", true},
		{"A", "AB", true},
		{"BA", "AB", true},
	} {
		if got := spelling.Misspelt(c.name, c.want); got != c.misspelt {
			t.Errorf("Misspelt(%q, %q) is %v", c.name, c.want, got)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		word       string
		candidates []string
		want       string
	}{
		{"mni", []string{"max", "min"}, "min"},
		{"sise", []string{"rise", "size"}, "size"},
		{"SIZE", []string{"side", "size"}, "size"},
		{"colour", []string{"color", "colours"}, "color"},
		{"size", []string{"length"}, ""},
		{"ab", []string{"ac"}, ""},
		{"", []string{"a"}, ""},
		{"size", nil, ""},
	} {
		if got := spelling.Nearest(c.word, c.candidates); got != c.want {
			t.Errorf("Nearest(%q, %q) is %q, want %q", c.word, c.candidates, got, c.want)
		}
	}
}
