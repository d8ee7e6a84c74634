package compat_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"apigen.dev/generator/internal/compat"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/model"
)

// sample is one state of a kind: its markers, its fields, and the rest of the package.
type sample struct {
	marks, fields, rest string
	// version is v1 if it is empty.
	version string
}

// before is the state that most cases start from.
const (
	spec   = "\tSpec WidgetSpec `json:\"spec,omitempty\"`\n"
	status = "\tStatus WidgetStatus `json:\"status,omitempty\"`\n"

	statusTypes = "type WidgetSpec struct{}\ntype WidgetStatus struct{}\n"
)

func specOf(fields string) sample {
	return sample{fields: spec, rest: "type WidgetSpec struct {\n" + fields + "\n}\n"}
}

func kindOf(marks string) sample {
	s := specOf("Color string `json:\"color,omitempty\"`")
	s.marks = marks
	return s
}

// cases are pairs of states, with the findings of the change and of its reversal.
var cases = []struct {
	name        string
	old, new    sample
	forth, back string
}{
	{"fieldGone", specOf("A string `json:\"a,omitempty\"`\nB string `json:\"b,omitempty\"`"),
		specOf("A string `json:\"a,omitempty\"`"), "FIELD_REMOVED spec.b", "FIELD_ADDED spec.b"},
	{"fieldRenamed", specOf("A string `json:\"a,omitempty\"`"), specOf("A string `json:\"aa,omitempty\"`"),
		"FIELD_RENAMED spec.a", "FIELD_RENAMED spec.aa"},
	{"requiredNew", specOf(""), specOf("// +required\nA string `json:\"a\"`"), "REQUIRED_FIELD_ADDED spec.a",
		"FIELD_REMOVED spec.a"},
	{"requiredNow", specOf("// +optional\nA *string `json:\"a,omitempty\"`"),
		specOf("// +required\nA *string `json:\"a\"`"), "FIELD_BECAME_REQUIRED spec.a", "FIELD_BECAME_OPTIONAL spec.a"},
	{"type", specOf("A string `json:\"a,omitempty\"`"), specOf("A bool `json:\"a,omitempty\"`"), "TYPE_CHANGED spec.a",
		"TYPE_CHANGED spec.a"},
	{"typeOfElement", specOf("A []string `json:\"a,omitempty\"`"), specOf("A []int32 `json:\"a,omitempty\"`"),
		"TYPE_CHANGED spec.a[]", "TYPE_CHANGED spec.a[]"},
	{"typeOfMapValue", specOf("A map[string]string `json:\"a,omitempty\"`"),
		specOf("A map[string]int32 `json:\"a,omitempty\"`"), "TYPE_CHANGED spec.a{}", "TYPE_CHANGED spec.a{}"},
	{"objectOrMap", specOf("A map[string]string `json:\"a,omitempty\"`"), specOf("A struct{} `json:\"a,omitempty\"`"),
		"TYPE_CHANGED spec.a", "TYPE_CHANGED spec.a"},
	{"bits", specOf("A int64 `json:\"a,omitempty\"`"), specOf("A int32 `json:\"a,omitempty\"`"),
		"INTEGER_NARROWED spec.a", "INTEGER_WIDENED spec.a"},
	{"format", specOf("// +kubebuilder:validation:Format=ipv4\nA string `json:\"a,omitempty\"`"),
		specOf("// +kubebuilder:validation:Format=ipv6\nA string `json:\"a,omitempty\"`"), "FORMAT_CHANGED spec.a",
		"FORMAT_CHANGED spec.a"},
	{"null", specOf("// +nullable\nA *string `json:\"a,omitempty\"`"), specOf("A *string `json:\"a,omitempty\"`"),
		"NULL_REFUSED spec.a", "NULL_ALLOWED spec.a"},
	{"default", specOf("// +default=1\nA int32 `json:\"a,omitempty\"`"),
		specOf("// +default=2\nA int32 `json:\"a,omitempty\"`"), "DEFAULT_CHANGED spec.a", "DEFAULT_CHANGED spec.a"},
	{"defaultGone", specOf("// +default=1\nA int32 `json:\"a,omitempty\"`"), specOf("A int32 `json:\"a,omitempty\"`"),
		"DEFAULT_REMOVED spec.a", "DEFAULT_ADDED spec.a"},
	{"defaultMakesOptional", specOf("// +kubebuilder:default=1\nA int32 `json:\"a\"`"),
		specOf("// +kubebuilder:default=1\n// +optional\nA int32 `json:\"a,omitempty\"`"), "", ""},
	{"enum", specOf("// +kubebuilder:validation:Enum=a;b\nA string `json:\"a,omitempty\"`"),
		specOf("// +kubebuilder:validation:Enum=a\nA string `json:\"a,omitempty\"`"), "ENUM_VALUE_REMOVED spec.a",
		"ENUM_VALUE_ADDED spec.a"},
	{"enumOfConstants", constants("Red", "Blue"), constants("Red"), "ENUM_VALUE_REMOVED spec.a",
		"ENUM_VALUE_ADDED spec.a"},
	{"enumNew", specOf("A string `json:\"a,omitempty\"`"),
		specOf("// +kubebuilder:validation:Enum=a\nA string `json:\"a,omitempty\"`"), "ENUM_INTRODUCED spec.a",
		"ENUM_LIFTED spec.a"},
	{"minimum", specOf("// +kubebuilder:validation:Minimum=1\nA int32 `json:\"a,omitempty\"`"),
		specOf("// +kubebuilder:validation:Minimum=2\nA int32 `json:\"a,omitempty\"`"), "BOUND_TIGHTENED spec.a", ""},
	{"exclusive", specOf("// +kubebuilder:validation:Minimum=1\nA int32 `json:\"a,omitempty\"`"),
		specOf("// +kubebuilder:validation:Minimum=1\n// +kubebuilder:validation:ExclusiveMinimum=true\nA int32 " +
			"`json:\"a,omitempty\"`"), "BOUND_TIGHTENED spec.a", ""},
	{"maxLength", specOf("A string `json:\"a,omitempty\"`"),
		specOf("// +kubebuilder:validation:MaxLength=9\nA string `json:\"a,omitempty\"`"), "BOUND_TIGHTENED spec.a",
		""},
	{"maxItemsOnType", specOf("A Names `json:\"a,omitempty\"`\n}\ntype Names []string\ntype filler struct {"),
		specOf("A Names `json:\"a,omitempty\"`\n}\n// +kubebuilder:validation:MaxItems=3\ntype Names []string\ntype " +
			"filler struct {"), "BOUND_TIGHTENED spec.a", ""},
	{"declarative", specOf("A int32 `json:\"a,omitempty\"`"),
		specOf("// +optional\n// +k8s:optional\n// +k8s:maximum=9\nA int32 `json:\"a,omitempty\"`"),
		"BOUND_TIGHTENED spec.a", ""},
	{"declaredOver", overDNS(""), overDNS("// +kubebuilder:validation:MaxLength=63\n"), "BOUND_TIGHTENED spec.a", ""},
	{"multipleOf", specOf("// +kubebuilder:validation:MultipleOf=2\nA int32 `json:\"a,omitempty\"`"),
		specOf("// +kubebuilder:validation:MultipleOf=3\nA int32 `json:\"a,omitempty\"`"), "BOUND_TIGHTENED spec.a",
		"BOUND_TIGHTENED spec.a"},
	{"items", specOf("A []string `json:\"a,omitempty\"`"),
		specOf("// +kubebuilder:validation:items:MaxLength=3\nA []string `json:\"a,omitempty\"`"),
		"BOUND_TIGHTENED spec.a[]", ""},
	{"pattern", specOf("// +kubebuilder:validation:Pattern=`^a`\nA string `json:\"a,omitempty\"`"),
		specOf("// +kubebuilder:validation:Pattern=`^b`\nA string `json:\"a,omitempty\"`"), "PATTERN_CHANGED spec.a",
		"PATTERN_CHANGED spec.a"},
	{"cel", specOf("A string `json:\"a,omitempty\"`"),
		specOf("// +kubebuilder:validation:XValidation:rule=\"self != 'x'\"\nA string `json:\"a,omitempty\"`"),
		"VALIDATION_ADDED spec.a", ""},
	{"celMessage",
		specOf("// +kubebuilder:validation:XValidation:rule=\"self != 'x'\"\nA string `json:\"a,omitempty\"`"),
		specOf("// +kubebuilder:validation:XValidation:rule=\"self != 'x'\",message=\"no x\"\n" +
			"A string `json:\"a,omitempty\"`"), "", ""},
	{"immutable", specOf("// +optional\n// +k8s:optional\nA string `json:\"a,omitempty\"`"),
		specOf("// +optional\n// +k8s:optional\n// +k8s:immutable\nA string `json:\"a,omitempty\"`"),
		"FIELD_BECAME_IMMUTABLE spec.a", ""},
	{"listType", specOf("// +listType=atomic\nA []string `json:\"a,omitempty\"`"),
		specOf("// +listType=set\nA []string `json:\"a,omitempty\"`"), "LIST_TYPE_CHANGED spec.a",
		"LIST_TYPE_CHANGED spec.a"},
	{"listKeys", listMap("name"), listMap("kind"), "LIST_MAP_KEYS_CHANGED spec.a", "LIST_MAP_KEYS_CHANGED spec.a"},
	{"mapType", specOf("// +mapType=atomic\nA map[string]string `json:\"a,omitempty\"`"),
		specOf("A map[string]string `json:\"a,omitempty\"`"), "MAP_TYPE_CHANGED spec.a", "MAP_TYPE_CHANGED spec.a"},
	{"patchStrategy", specOf("A []string `json:\"a,omitempty\"`"),
		specOf("A []string `json:\"a,omitempty\" patchStrategy:\"merge\"`"), "PATCH_STRATEGY_CHANGED spec.a",
		"PATCH_STRATEGY_CHANGED spec.a"},
	{"unknownFields",
		specOf("// +kubebuilder:pruning:PreserveUnknownFields\nA map[string]string `json:\"a,omitempty\"`"),
		specOf("A map[string]string `json:\"a,omitempty\"`"), "UNKNOWN_FIELDS_DROPPED spec.a", ""},

	{"plural", kindOf(""), kindOf("// +kubebuilder:resource:path=widgetz"), "RESOURCE_RENAMED", "RESOURCE_RENAMED"},
	{"scope", kindOf(""), kindOf("// +kubebuilder:resource:scope=Cluster"), "SCOPE_CHANGED", "SCOPE_CHANGED"},
	{"shortName", kindOf("// +kubebuilder:resource:shortName=wd"), kindOf(""), "SHORT_NAME_REMOVED", ""},
	{"category", kindOf("// +kubebuilder:resource:categories=all"), kindOf(""), "CATEGORY_REMOVED", ""},
	{"singular", kindOf(""), kindOf("// +kubebuilder:resource:singular=wid"), "SINGULAR_CHANGED", "SINGULAR_CHANGED"},
	{"column", kindOf("// +kubebuilder:printcolumn:name=Color,type=string,JSONPath=`.spec.color`"), kindOf(""),
		"COLUMN_REMOVED", ""},
	{"columnShows", kindOf("// +kubebuilder:printcolumn:name=Color,type=string,JSONPath=`.spec.color`"),
		kindOf("// +kubebuilder:printcolumn:name=Color,type=string,JSONPath=`.metadata.name`"), "COLUMN_CHANGED",
		"COLUMN_CHANGED"},
	{"selectable", kindOf("// +kubebuilder:selectablefield:JSONPath=`.spec.color`"), kindOf(""),
		"SELECTABLE_FIELD_REMOVED", ""},
	{"createOnUpdate", kindOf("// +apigen:createOnUpdate"), kindOf(""), "CREATE_ON_UPDATE_REMOVED", ""},
	{"needsVersion", kindOf(""), kindOf("// +apigen:requireResourceVersion"), "RESOURCE_VERSION_REQUIRED", ""},
	{"deprecated", kindOf(""), kindOf("// +kubebuilder:deprecatedversion"), "VERSION_DEPRECATED", ""},
	{"status", sample{fields: spec + status, rest: statusTypes}, sample{fields: spec + status, rest: statusTypes,
		marks: "// +kubebuilder:subresource:status"}, "SUBRESOURCE_ADDED", "SUBRESOURCE_REMOVED"},

	{"storage", kindOf(""), kindOf("// +apigen:storage=none"), "STORAGE_REMOVED", "STORAGE_ADDED"},
	{"verb", kindOf("// +apigen:storage=none\n// +genclient:onlyVerbs=get,list"),
		kindOf("// +apigen:storage=none\n// +genclient:onlyVerbs=get"), "VERB_REMOVED", "VERB_ADDED"},
	{"verbsOfAll", kindOf("// +apigen:storage=none"),
		kindOf("// +apigen:storage=none\n// +genclient:onlyVerbs=create,get,list"), "VERB_REMOVED", "VERB_ADDED"},
	{"storedVerb", kindOf(""), kindOf("// +apigen:verbs=create;delete;get;list;patch;update;watch"), "VERB_REMOVED",
		"VERB_ADDED"},
	{"nameRule", kindOf(""), kindOf("// +apigen:name=k8s-short-name"), "NAME_RULE_CHANGED", "NAME_RULE_CHANGED"},
	{"nameRuleAsBefore", kindOf(""), kindOf("// +apigen:name=k8s-long-name"), "", ""},
	{"anyName", kindOf(""), kindOf("// +apigen:name=any"), "", "NAME_RULE_CHANGED"},
	{"clientVerbs", kindOf("// +genclient:onlyVerbs=get,list"), kindOf("// +genclient:onlyVerbs=get"), "", ""},
	{"deletionAnswer", kindOf(""), kindOf("// +apigen:returnDeletedObject"), "DELETION_ANSWER_CHANGED",
		"DELETION_ANSWER_CHANGED"},
	{"scale", scaled("// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas"),
		scaled(""), "SUBRESOURCE_REMOVED", ""},
	{"partGone", parted("// +apigen:subresource:name=approval"), parted(""), "SUBRESOURCE_REMOVED",
		"SUBRESOURCE_ADDED"},
	{"partWithdrawn", specParts(".spec.a;.spec.b", "labels", ""), specParts(".spec.a", "", ""),
		"SUBRESOURCE_PART_REMOVED SUBRESOURCE_PART_REMOVED", ""},
	{"methodGone", specParts(".spec.a", "", ",methods=get;put"), specParts(".spec.a", "", ",methods=put"),
		"SUBRESOURCE_METHOD_REMOVED", ""},

	// Go changes, the wire does not.
	{"goName", specOf("A string `json:\"a,omitempty\"`"), specOf("Renamed string `json:\"a,omitempty\"`"), "", ""},
	{"embedded", specOf("A string `json:\"a,omitempty\"`"),
		specOf("Inner `json:\",inline\"`\n}\ntype Inner struct {\nA string `json:\"a,omitempty\"`"), "", ""},
	{"namedString", specOf("A string `json:\"a,omitempty\"`"),
		specOf("A Word `json:\"a,omitempty\"`\n}\ntype Word string\ntype filler struct {"), "", ""},
	{"pointer", specOf("A string `json:\"a,omitempty\"`"), specOf("A *string `json:\"a,omitempty\"`"), "", ""},
	{"recursive", specOf("A []WidgetSpec `json:\"a,omitempty\"`"),
		specOf("A []WidgetSpec `json:\"a,omitempty\"`\nB string `json:\"b,omitempty\"`"), "FIELD_ADDED spec.b",
		"FIELD_REMOVED spec.b"},
	{"recursiveMap", specOf("A Tree `json:\"a,omitempty\"`\n}\ntype Tree map[string]Tree\ntype filler struct {"),
		specOf("A Tree `json:\"a,omitempty\"`\nB string `json:\"b,omitempty\"`\n}\ntype Tree map[string]Tree\ntype " +
			"filler struct {"), "FIELD_ADDED spec.b", "FIELD_REMOVED spec.b"},
	{"bytes", specOf("A []byte `json:\"a,omitempty\"`"), specOf("A []int8 `json:\"a,omitempty\"`"),
		"TYPE_CHANGED spec.a", "TYPE_CHANGED spec.a"},
	{"time", specOf("A metav1.Time `json:\"a,omitempty\"`"), specOf("A *metav1.Time `json:\"a,omitempty\"`"), "", ""},
	{"generic", specOf("A Box `json:\"a,omitempty\"`\n}\ntype Box struct { V string `json:\"v,omitempty\"`"),
		specOf("A Box[string] `json:\"a,omitempty\"`\n}\ntype Box[T any] struct { V T `json:\"v,omitempty\"`"), "", ""},
	{"comments", specOf("A string `json:\"a,omitempty\"`"), specOf("// A is a.\nA string `json:\"a,omitempty\"`"), "",
		""},
}

func constants(names ...string) sample {
	s := specOf("A Color `json:\"a,omitempty\"`")
	s.rest += "// +enum\ntype Color string\nconst (\n"
	for _, n := range names {
		s.rest += fmt.Sprintf("\tColor%s Color = %q\n", n, n)
	}
	s.rest += ")\n"
	return s
}

// overDNS has a field of a type that is declared over another, which has the marker.
func overDNS(mark string) sample {
	s := specOf("A Host `json:\"a,omitempty\"`")
	s.rest += "type Host DNS\n\n" + mark + "type DNS string\n"
	return s
}

func listMap(key string) sample {
	s := specOf("// +listType=map\n// +listMapKey=" + key + "\nA []Item `json:\"a,omitempty\"`")
	s.rest += "type Item struct {\n\t// +required\n\tName string `json:\"name\"`\n\t// +required\n\tKind string " +
		"`json:\"kind\"`\n}\n"
	return s
}

func scaled(mark string) sample {
	return sample{marks: mark, fields: spec + status,
		rest: "type WidgetSpec struct {\n\tReplicas *int32 `json:\"replicas,omitempty\"`\n}\ntype WidgetStatus " +
			"struct {\n\tReplicas int32 `json:\"replicas,omitempty\"`\n}\n"}
}

func parted(mark string) sample {
	return sample{marks: mark, fields: spec + "\tApproval Approval `json:\"approval,omitempty\"`\n",
		rest: "type WidgetSpec struct{}\ntype Approval struct {\n\tBy string `json:\"by,omitempty\"`\n}\n"}
}

// specParts is a kind whose subresource tune changes parts of spec and members of metadata.
func specParts(parts, metadata, more string) sample {
	s := specOf("A string `json:\"a,omitempty\"`\nB string `json:\"b,omitempty\"`")
	s.marks += "// +apigen:subresource:name=tune,parts=" + parts + more
	if metadata != "" {
		s.marks += ",metadata=" + metadata
	}
	return s
}

// archive is a module with a group for each case.
func archive(of func(i int) sample) string {
	var out strings.Builder
	for i, c := range cases {
		s := of(i)
		version := s.version
		if version == "" {
			version = "v1"
		}
		fmt.Fprintf(&out, "-- %s/%s/types.go --\n// +groupName=%s.example.com\npackage %s\n\nimport metav1 "+
			"\"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\n", strings.ToLower(c.name), version, strings.ToLower(c.name),
			version)
		fmt.Fprintf(&out, "// Widget is one.\n//\n// +kubebuilder:object:root=true\n%s\ntype Widget struct "+
			"{\n\tmetav1.TypeMeta `json:\",inline\"`\n\tmetav1.ObjectMeta `json:\"metadata,omitempty\"`\n\n%s}\n\n%s\n",
			strings.TrimRight("// +genclient\n"+s.marks, "\n"), s.fields, s.rest)
	}
	return out.String()
}

// states are both states of all cases, loaded once.
func states(t *testing.T) (before, after *model.Program) {
	t.Helper()
	return loadtest.Program(t, archive(func(i int) sample { return cases[i].old })),
		loadtest.Program(t, archive(func(i int) sample { return cases[i].new }))
}

// TestCases: Compare finds each change by its rule, and nothing else.
func TestCases(t *testing.T) {
	before, after := states(t)
	forth, back := byGroup(compat.Compare(before, after)), byGroup(compat.Compare(after, before))
	for _, c := range cases {
		group := strings.ToLower(c.name) + ".example.com"
		if got := forth[group]; got != c.forth {
			t.Errorf("%s, forth: found %q, want %q", c.name, got, c.forth)
		}
		if got := back[group]; got != c.back {
			t.Errorf("%s, back: found %q, want %q", c.name, got, c.back)
		}
	}
}

func byGroup(findings []compat.Finding) map[string]string {
	out := map[string]string{}
	for _, f := range findings {
		found := strings.TrimSpace(f.Rule.ID + " " + f.Path)
		out[f.Group] = strings.TrimSpace(out[f.Group] + " " + found)
	}
	return out
}

// TestSame: a state is compatible with itself.
func TestSame(t *testing.T) {
	before, after := states(t)
	for _, p := range []*model.Program{before, after} {
		if f := compat.Compare(p, p); len(f) > 0 {
			t.Errorf("found %s of %s", f[0].Rule.ID, f[0].Subject())
		}
	}
}

// TestPositions: a finding has the position of the field; that of a removed field is the struct, with the old position.
func TestPositions(t *testing.T) {
	before, after := states(t)
	for _, f := range compat.Compare(before, after) {
		if !f.Pos.IsValid() || !f.Old.IsValid() && f.Rule.Level != compat.Info && f.Rule.ID != "REQUIRED_FIELD_ADDED" {
			t.Errorf("%s of %s has no position: %v, was %v", f.Rule.ID, f.Subject(), f.Pos, f.Old)
		}
	}
}

// TestTable: every rule has one row, in lines that people can read, and every case's rule is one of them.
func TestTable(t *testing.T) {
	var ids []string
	for _, r := range compat.Rules() {
		if slices.Contains(ids, r.ID) {
			t.Errorf("%s has two rows", r.ID)
		}
		ids = append(ids, r.ID)
		if r.Doc == "" || r.Area == "" {
			t.Errorf("%s is not explained", r.ID)
		}
		if !strings.Contains(compat.Reference(), r.ID+" ") {
			t.Errorf("%s is not in the reference", r.ID)
		}
	}
	covered := map[string]bool{}
	for _, c := range cases {
		for _, found := range []string{c.forth, c.back} {
			id, _, _ := strings.Cut(found, " ")
			covered[id] = true
			if id != "" && !slices.Contains(ids, id) {
				t.Errorf("%s: no rule %s", c.name, id)
			}
		}
	}
	for _, id := range slices.Concat(versionRules, []string{"LIST_KIND_CHANGED"}) {
		covered[id] = true
	}
	for _, id := range ids {
		if !covered[id] {
			t.Errorf("no case finds %s", id)
		}
	}
}
