// Package marker holds the one table of every marker that apigen knows, with what each sets in the model, and the two
// grammars in which markers are written: Kubernetes' +k8s:name(args)=value and controller-gen's
// +kubebuilder:name:key=value. It knows the model and diagnostics, and nothing of go/types.
package marker

import (
	"fmt"
	"go/token"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"apigen.dev/generator/internal/model"
)

// Marker is one parsed marker.
type Marker struct {
	// Name is the definition's, without the plus sign; of an unknown marker, what stands before the value.
	Name string
	// Definition is nil if the marker is unknown.
	Definition *Definition
	// Args are the arguments: in parentheses (Kubernetes) or key=value (controller-gen). A positional one has no key.
	Args []Arg
	// Value is the text behind the equals sign, HasValue tells none from empty.
	Value    string
	HasValue bool
	// Wrapped is the marker that is the value of this one.
	Wrapped *Marker
	// Element is the name as it was written of a marker for the elements of a list, which has the name of the one for
	// values while it is put into the model.
	Element string
	// Text is the whole marker as written, without the plus sign.
	Text string
	Pos  token.Position
}

// Arg is an argument.
type Arg struct {
	Key, Value string
	// Bare: no value was given, so that it is "true".
	Bare bool
}

// Arg returns the argument of that key, and whether there is one.
func (m Marker) Arg(key string) (string, bool) {
	for _, a := range m.Args {
		if a.Key == key {
			return a.Value, true
		}
	}
	return "", false
}

// True reports whether a marker says yes, by being there: only false says no.
func (m Marker) True() bool { return m.Value != "false" }

// OfValues reports whether the marker says something of the values of the type or the field that it stands on: a rule,
// a default, how they are merged.
func (m Marker) OfValues() bool {
	d := m.Definition
	return d != nil && d.Ignored == "" && d.Places&Field != 0 &&
		(d.Set.Value != nil || d.Set.Field != nil || d.Check != "" || d.Claims != model.NoClaim || d.Wraps != Nothing)
}

// OfAPI reports whether the marker says that its package holds types of an API.
func (m Marker) OfAPI() bool {
	if m.Definition == nil {
		return ours(m.Name)
	}
	r := m.Definition.Read
	return !r.Collects && !r.AnyPackage && (ours(m.Name) || r.Detached)
}

// Strings returns the elements of a List value.
func (m Marker) Strings() []string { return SplitList(m.Value) }

// number returns the value as a finite number, of a marker of kind Int as a whole one; nil if it is none.
func (m Marker) number() *float64 {
	text := strings.TrimSpace(m.Value)
	if m.Definition.Kind == Int {
		if i, err := strconv.ParseInt(text, 0, 64); err == nil {
			return new(float64(i))
		}
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

// Markers are those of one thing, in the order of the source. The table knows all of them.
type Markers []Marker

// families are the prefixes whose names are all known: an unknown one is a mistake, not another tool's.
var families = []string{"k8s:", "kubebuilder:", "genclient", "apigen:"}

// Parse parses the text of a marker, plus sign excluded. The second result is false if the text is not a marker:
// prose, or another tool's. An error tells what is wrong with the marker; the marker is returned all the same, as far
// as it was understood.
func Parse(text string, pos token.Position) (Marker, bool, error) {
	text = strings.TrimSpace(text)
	word := nameOf(text)
	def := find(word)
	if def == nil && !ours(word) {
		if s := lookalike(word, text[len(word):]); strings.Contains(s, ":") {
			return Marker{Name: word, Text: text, Pos: pos}, true, fmt.Errorf("unknown marker \"+%s\": did you "+
				"mean \"+%s\"?", word, s)
		}
		return Marker{}, false, nil
	}
	m := Marker{Name: strings.TrimSuffix(word, ":"), Definition: def, Text: text, Pos: pos}
	if def == nil {
		return m, true, Unknown(m.Name)
	}
	m.Name = def.Name
	if def.Kind == Family {
		m.Value = strings.TrimPrefix(text[len(def.Name):], ":")
		m.HasValue = m.Value != ""
		return m, true, nil
	}
	var err error
	if strings.HasPrefix(def.Name, "kubebuilder:") || def.Kind == Arguments {
		err = parseKubebuilder(&m, text[len(def.Name):])
	} else {
		err = parseKubernetes(&m, text)
	}
	if err != nil {
		return m, true, fmt.Errorf("marker \"+%s\": %w", def.Name, err)
	}
	return m, true, m.check()
}

// ours reports whether a name that isn't in the table belongs to a family whose names are all in the table.
func ours(word string) bool {
	for _, f := range families {
		if strings.HasPrefix(word, f) {
			rest := word[len(f):]
			return strings.HasSuffix(f, ":") || rest == "" || strings.HasPrefix(rest, ":")
		}
	}
	return false
}

// Doubt says which marker text may be meant for that Parse takes for prose, since only the case of letters is wrong;
// nothing if it is for none.
func Doubt(text string) string {
	text = strings.TrimSpace(text)
	word := nameOf(text)
	if s := lookalike(word, text[len(word):]); s != "" && s != word {
		return fmt.Sprintf("\"+%s\" is no marker: did you mean \"+%s\"?", word, s)
	}
	return ""
}

// lookalike returns the marker whose name differs only in case or in separators, or an empty text. The text behind the
// name distinguishes a marker from prose.
func lookalike(word, behind string) string {
	if behind != "" && !strings.ContainsAny(behind[:1], "=(") {
		return ""
	}
	plain := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r == ':' || r == '.' || r == '-' || r == '_' {
				return -1
			}
			return unicode.ToLower(r)
		}, s)
	}
	same := plain(word)
	for i := range table {
		if d := &table[i]; d.Ignored == "" && d.Kind != Family && plain(d.Name) == same {
			return d.Name
		}
	}
	return ""
}

// namePattern matches what stands before the value, the arguments or the trailing words.
var namePattern = regexp.MustCompile(`^[-:_.0-9A-Za-z]*`)

func nameOf(text string) string { return namePattern.FindString(text) }

// find returns the definition that the name means: the name itself, or the longest one that a colon follows, for
// controller-gen's markers continue with the first argument's key.
func find(word string) *Definition {
	for name := strings.TrimSuffix(word, ":"); ; {
		if d, ok := Lookup(name); ok && (name == strings.TrimSuffix(word, ":") || d.Kind == Arguments ||
			d.Kind == Family) {
			return d
		}
		i := strings.LastIndexByte(name, ':')
		if i < 0 {
			return nil
		}
		name = name[:i]
	}
}

// Unknown returns the error for a name that the table doesn't have, with a suggestion where one is near.
func Unknown(name string) error {
	name = strings.TrimPrefix(name, "+")
	if s := Suggest(name); s != "" {
		return fmt.Errorf("unknown marker \"+%s\": did you mean \"+%s\"?", name, s)
	}
	return fmt.Errorf("unknown marker \"+%s\": see apigen markers", name)
}
