package marker_test

import (
	"go/token"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"apigen.dev/generator/internal/marker"
)

var at = token.Position{Filename: "types.go", Line: 3, Column: 4}

// parsed is what tests compare of a marker.
type parsed struct {
	Name, Value string
	Args        []marker.Arg
	Wrapped     string
}

func TestParse(t *testing.T) {
	for text, want := range map[string]parsed{
		// Kubernetes' grammar
		"k8s:deepcopy-gen=package,register": {Name: "k8s:deepcopy-gen", Value: "package,register"},
		"k8s:deepcopy-gen=true # why":       {Name: "k8s:deepcopy-gen", Value: "true"},
		"k8s:optional":                      {Name: "k8s:optional"},
		"optional and more words":           {Name: "optional"},
		"groupName=":                        {Name: "groupName"},
		"groupName=shop.example.com":        {Name: "groupName", Value: "shop.example.com"},
		"default={\"a\": 1}":                {Name: "default", Value: `{"a": 1}`},
		"default=ref(DefaultSize)":          {Name: "default", Value: "ref(DefaultSize)"},
		"listType=map":                      {Name: "listType", Value: "map"},
		"genclient:method=UpdateScale,verb=update,subresource=scale": {
			Name: "genclient:method", Value: "UpdateScale,verb=update,subresource=scale"},
		`k8s:beta(since: "1.37")=+k8s:required`: {
			Name: "k8s:beta", Value: "+k8s:required", Args: []marker.Arg{{Key: "since", Value: "1.37"}},
			Wrapped: "k8s:required"},
		`k8s:beta(since: "1.37")=+k8s:eachVal=+k8s:maxLength=5`: {
			Name: "k8s:beta", Value: "+k8s:eachVal=+k8s:maxLength=5", Args: []marker.Arg{{Key: "since",
				Value: "1.37"}}, Wrapped: "k8s:eachVal"},
		"k8s:validation-gen-nolint because of reasons": {Name: "k8s:validation-gen-nolint"},
		// controller-gen's
		"kubebuilder:object:root=true":              {Name: "kubebuilder:object:root", Value: "true"},
		"kubebuilder:subresource:status":            {Name: "kubebuilder:subresource:status"},
		"kubebuilder:validation:Enum=A;\"b c\";{}":  {Name: "kubebuilder:validation:Enum", Value: `A;"b c";{}`},
		"kubebuilder:validation:Pattern=`^a[,;]+$`": {Name: "kubebuilder:validation:Pattern", Value: "^a[,;]+$"},
		"kubebuilder:default:={a,b}":                {Name: "kubebuilder:default", Value: "{a,b}"},
		"kubebuilder:validation:items:MaxLength=4":  {Name: "kubebuilder:validation:items:MaxLength", Value: "4"},
		"kubebuilder:validation:Optional a remark":  {Name: "kubebuilder:validation:Optional"},
		"apigen:printcolumn:name=Age,method=AgeCell": {Name: "apigen:printcolumn", Value: "name=Age,method=AgeCell",
			Args: []marker.Arg{{Key: "name", Value: "Age"}, {Key: "method", Value: "AgeCell"}}},
		"kubebuilder:resource:path=books,shortName={bk,b},scope=Cluster": {
			Name: "kubebuilder:resource", Value: "path=books,shortName={bk,b},scope=Cluster",
			Args: []marker.Arg{{Key: "path", Value: "books"}, {Key: "shortName", Value: "{bk,b}"}, {Key: "scope",
				Value: "Cluster"}}},
		"kubebuilder:printcolumn:name=\"A, B\",type=string,JSONPath=`.a[?(@.t==\"x\")].b`": {
			Name: "kubebuilder:printcolumn", Value: "name=\"A, B\",type=string,JSONPath=`.a[?(@.t==\"x\")].b`",
			Args: []marker.Arg{{Key: "name", Value: "A, B"}, {Key: "type", Value: "string"}, {Key: "JSONPath",
				Value: `.a[?(@.t=="x")].b`}}},
		`kubebuilder:validation:XValidation:rule="self == \"a\"",message='no',optionalOldSelf`: {
			Name: "kubebuilder:validation:XValidation", Value: `rule="self == \"a\"",message='no',optionalOldSelf`,
			Args: []marker.Arg{{Key: "rule", Value: `self == "a"`}, {Key: "message", Value: "no"},
				{Key: "optionalOldSelf", Value: "true", Bare: true}}},
	} {
		m, ok, err := marker.Parse(text, at)
		if !ok || err != nil {
			t.Errorf("+%s: ok %v, %v", text, ok, err)
			continue
		}
		got := parsed{Name: m.Name, Value: m.Value, Args: m.Args}
		if m.Wrapped != nil {
			got.Wrapped = m.Wrapped.Name
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("+%s:\n%s", text, d)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"k8s:deepcopy-gn": `unknown marker "+k8s:deepcopy-gn": did you mean ` +
			`"+k8s:deepcopy-gen"?`,
		"k8s:deepcopy-gen=perhaps": `marker "+k8s:deepcopy-gen": "perhaps" is not one of ` +
			`package, register, true, false`,
		"k8s:deepcopy-gen": `marker "+k8s:deepcopy-gen" needs a value: one of package, ` +
			`register, true, false`,
		"k8s:deepcopy-gen =package": `marker "+k8s:deepcopy-gen": there must be no blank ` +
			`behind the name`,
		"k8s:beta(since: \"1.37\"=+k8s:required": `marker "+k8s:beta": `,
		"k8s:beta=required": `marker "+k8s:beta": expected another marker behind the ` +
			`equals sign, such as =+k8s:required`,
		"k8s:beta=+k8s:requird": `marker "+k8s:beta": unknown marker "+k8s:requird": did ` +
			`you mean "+k8s:required"?`,
		"k8s:maxItems=many": `marker "+k8s:maxItems": "many" is not a whole number`,
		"default=text": `marker "+default": "text" is not a JSON literal or ref(Constant); ` +
			`strings need double quotes: +default="text"`,
		"listType=bag": `marker "+listType": "bag" is not one of atomic, set, map`,
		"genclient:nonNamespace": `unknown marker "+genclient:nonNamespace": did you mean ` +
			`"+genclient:nonNamespaced"?`,
		"kubebuilder:Enum=A": `unknown marker "+kubebuilder:Enum": did you mean ` +
			`"+kubebuilder:validation:Enum"?`,
		"kubebuilder:validation:OneOf=A,B": `unknown marker ` +
			`"+kubebuilder:validation:OneOf": did you mean "+kubebuilder:validation:AtMostOneOf"?`,
		"kubebuilder:oneOf": `unknown marker "+kubebuilder:oneOf": did you mean ` +
			`"+kubebuilder:validation:AtMostOneOf"?`,
		"kubebuilder:not:={required: [a]}": `unknown marker "+kubebuilder:not": see apigen markers`,
		"kubebuilder:validation:Optionals": `unknown marker ` +
			`"+kubebuilder:validation:Optionals": did you mean "+kubebuilder:validation:Optional"?`,
		"kubebuilder:object:root=yes": `marker "+kubebuilder:object:root": "yes" is not true or false`,
		"kubebuilder:printcolumn:nam=Age": `marker "+kubebuilder:printcolumn": unknown ` +
			`argument "nam": did you mean "name"?`,
		"kubebuilder:printcolumn:name=\"Age":  `marker "+kubebuilder:printcolumn": name: no closing "`,
		"kubebuilder:resource:shortName={a,b": `marker "+kubebuilder:resource": shortName: no closing bracket`,
		"apigen:nothing:of:the:sort": `unknown marker "+apigen:nothing:of:the:sort": see ` +
			`apigen markers`,
		"kubebuilder:resource=books": `marker "+kubebuilder:resource": expected a colon ` +
			`and arguments: +kubebuilder:resource:key=value`,
		"kubebuilder:validation:MaxLength=ten": `marker ` +
			`"+kubebuilder:validation:MaxLength": "ten" is not a whole number`,
		strings.Repeat("k8s:beta=+", 99) + "k8s:alpha": `marker "+k8s:beta": too many markers in one another`,
	} {
		_, ok, err := marker.Parse(text, at)
		if !ok || err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("+%s: ok %v, %v; want %s", text, ok, err, want)
		}
	}
}

// TestOthersAreLeftAlone: prose and the markers of other tools are none of our business.
func TestOthersAreLeftAlone(t *testing.T) {
	if s := marker.Doubt("Optional"); s != `"+Optional" is no marker: did you mean "+optional"?` {
		t.Error(s)
	}
	for _, text := range []string{
		"openshift:enable:FeatureGate=X", "cue-gen:AuthorizationPolicy:groupName:security", "genduck",
		"genreconciler:class=x",
		"build linux", "1 is added", "k8s", "kubebuilder", "", " ", "Optional", "genclientele", "k8s.io/api",
	} {
		if m, ok, err := marker.Parse(text, at); ok || err != nil {
			t.Errorf("+%s is taken for %q, %v", text, m.Name, err)
		}
	}
}

func TestPlaces(t *testing.T) {
	m, _, err := marker.Parse("groupName=a.b", at)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.CheckPlace(marker.Package); err != nil {
		t.Error(err)
	}
	want := `marker "+groupName" has no meaning on a field: it belongs on a package or type`
	if err := m.CheckPlace(marker.Field); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestSplitList(t *testing.T) {
	for text, want := range map[string][]string{
		"a;b":               {"a", "b"},
		`"";x`:              {"", "x"},
		"{a, b}":            {"a", "b"},
		`{"a,b",'c'}`:       {"a,b", "c"},
		"one":               {"one"},
		"":                  nil,
		";;":                nil,
		"`a;b`;" + `"c\"d"`: {"a;b", `c"d`},
	} {
		if d := cmp.Diff(want, marker.SplitList(text)); d != "" {
			t.Errorf("%s:\n%s", text, d)
		}
	}
}

// TestTable holds the table to what the reference promises.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range marker.Definitions() {
		if seen[d.Name] {
			t.Errorf("+%s is there twice", d.Name)
		}
		seen[d.Name] = true
		if d.Places == 0 {
			t.Errorf("+%s may stand nowhere", d.Name)
		}
		if d.Ignored == "" && !strings.HasSuffix(d.Doc, ".") || strings.Contains(d.Doc, "\n") {
			t.Errorf("+%s: the doc is no sentence: %q", d.Name, d.Doc)
		}
		if strings.HasSuffix(d.Ignored, ".") {
			t.Errorf("+%s: the reason ends in a full stop", d.Name)
		}
		if (d.Kind == marker.Word) != (d.Words != nil) {
			t.Errorf("+%s: words and kind don't agree", d.Name)
		}
		if m, ok, _ := marker.Parse(d.Name, at); !ok || m.Name != d.Name {
			t.Errorf("+%s is parsed as %q", d.Name, m.Name)
		}
		if !strings.Contains(marker.Reference(d.Name), "+"+d.Name) {
			t.Errorf("+%s is not in the reference", d.Name)
		}
	}
}

func FuzzKubernetes(f *testing.F) {
	for _, s := range []string{`k8s:beta(since: "1.37")=+k8s:required`, "k8s:deepcopy-gen=package", "default=\"a\"",
		"k8s:item(a: 1, b: `x`)=+k8s:immutable", "genclient:method=A,verb=b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { parse(t, "k8s:"+text); parse(t, text) })
}

func FuzzKubebuilder(f *testing.F) {
	for _, s := range []string{"printcolumn:name=\"a,b\",JSONPath=`.x`", "validation:Enum={a,\"b\"}",
		"default:={x: [1,2]}", "resource:shortName={a;b},scope=Cluster", "validation:XValidation:rule='a',x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { parse(t, "kubebuilder:"+text) })
}

// parse must not panic, and what it takes for a marker must have a name and, without an error, a definition.
func parse(t *testing.T, text string) {
	m, ok, err := marker.Parse(text, at)
	if !ok {
		return
	}
	if m.Name == "" && err == nil {
		t.Errorf("%q is a marker without a name", text)
	}
	if err == nil && m.Definition == nil {
		t.Errorf("%q is an unknown marker without an error", text)
	}
	m.Strings()
	m.True()
	_ = m.CheckPlace(marker.Field)
}

// TestFamilies: what another tool reads below a name is not a mistake, whatever it looks like.
func TestFamilies(t *testing.T) {
	for _, text := range []string{
		"k8s:validation:maxLength=64", "k8s:validation:cel[0]:rule> self.all(x, x != 'it''s')",
		"k8s:validation:cel[0]:rule=\"a",
		"k8s:validation:items:pattern=`^a,b$`", "k8s:validation:properties:field:items:maxLength=3",
	} {
		m, ok, err := marker.Parse(text, at)
		if !ok || err != nil || m.Name != "k8s:validation" || m.Definition.Ignored == "" {
			t.Errorf("%s: %v, %v, %v", text, m, ok, err)
		}
	}
	if _, _, err := marker.Parse("k8s:validations:maxLength=64", at); err == nil {
		t.Error("a name that only begins alike is known")
	}
}
