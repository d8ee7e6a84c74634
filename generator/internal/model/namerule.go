package model

import "slices"

// NameRule is a rule for the names of a kind's objects: the word of +apigen:name for it, and the function that checks
// a name. The signature of the function is (name string, generated bool) []string.
type NameRule struct{ Word, Package, Function string }

const (
	validationPath = "k8s.io/apimachinery/pkg/api/validation"
	registryPath   = "apigen.dev/runtime/registry"
)

// AnyName is the word of the rule that every name follows.
const AnyName = "any"

// nameRules are all rules. Where +k8s:format has a word for a rule, the rule has it, too.
var nameRules = []NameRule{
	{"k8s-long-name", validationPath, "NameIsDNSSubdomain"},
	{"k8s-short-name", validationPath, "NameIsDNSLabel"},
	{"k8s-path-segment-name", registryPath, "NameIsPathSegment"},
	{AnyName, registryPath, "AnyName"},
	{"dns1035-label", validationPath, "NameIsDNS1035Label"},
	{"ip", registryPath, "NameIsIP"},
}

// NameRuleWords returns the words of all rules.
func NameRuleWords() []string {
	var words []string
	for _, r := range nameRules {
		words = append(words, r.Word)
	}
	return words
}

// NameRuleOf returns the rule of a word; nil if there is none.
func NameRuleOf(word string) *NameRule {
	i := slices.IndexFunc(nameRules, func(r NameRule) bool { return r.Word == word })
	if i < 0 {
		return nil
	}
	return &nameRules[i]
}
