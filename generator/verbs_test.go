package generator_test

import (
	"regexp"
	"strings"
	"testing"
)

// lampSkips is otherModule with markers above Lamp, and those that the user puts on it.
func lampSkips(markers, from string) string {
	archive := strings.Replace(otherModule, "// +genclient:nonNamespaced\n", "// +genclient:nonNamespaced\n"+markers, 1)
	return strings.Replace(archive, "// +apigen:kind(Lamp)=+kubebuilder:deprecatedversion\n", from, 1)
}

// TestServeVerbs: what the markers of clients leave out of another module's kind is not served, unless +apigen:verbs
// says otherwise. The version without a marker has the verbs of the one that has some.
func TestServeVerbs(t *testing.T) {
	for _, c := range []struct{ name, theirs, ours, want string }{
		{"all", "", "", ""},
		{"skipped", "// +genclient:skipVerbs=deleteCollection,updateStatus\n", "",
			`"create", "delete", "get", "list", "patch", "update", "watch"`},
		{"only", "// +genclient:onlyVerbs=get,list,apply\n", "// +apigen:serve:kinds=Lamp\n", `"get", "list", "patch"`},
		{"readonly", "// +genclient:readonly\n", "", `"get", "list", "watch"`},
		{"overridden", "// +genclient:skipVerbs=deleteCollection\n",
			"// +apigen:kind(Lamp)=+apigen:verbs=list;get;deleteCollection\n", `"deletecollection", "get", "list"`},
		{"everything", "// +genclient:skipVerbs=deleteCollection\n", "// +apigen:kind(Lamp)=+apigen:verbs=" +
			"create;delete;deleteCollection;get;list;patch;update;watch\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			archive := lampSkips(c.theirs, c.ours)
			archive = archive[:strings.Index(archive, "-- other/lamp/v1beta1")] +
				archive[strings.Index(archive, "-- apis/apis.go"):strings.Index(archive, "-- apis/lamp/v1beta1")]
			files := serve(t, archive)
			wiring := files["apis/lamp/wiring/zz_generated.wiring.go"]
			got := ""
			if m := regexp.MustCompile(`Verbs: +\[\]string\{(.*)\}`).FindStringSubmatch(wiring); m != nil {
				got = m[1]
			}
			if got != c.want {
				t.Errorf("served with %s, want %s", got, c.want)
			}
			if page := files["docs/lamp.example.com.v1.md"]; c.want != "" &&
				!strings.Contains(page, "| verbs | "+strings.ReplaceAll(c.want, `"`, "")+" |") {
				t.Errorf("the reference says:\n%s", page)
			}
			document := files["apis/lamp/wiring/zz_generated.openapi.v1.json.gz"]
			if deletes := strings.Contains(document, `"deletecollection"`); deletes !=
				(c.want == "" || strings.Contains(c.want, "deletecollection")) {
				t.Errorf("the document has deletecollection: %v", deletes)
			}
		})
	}
}

// TestServeNameRule: the word of a marker is a function in the strategy.
func TestServeNameRule(t *testing.T) {
	for word, function := range map[string]string{
		"k8s-long-name":         "validation.NameIsDNSSubdomain",
		"k8s-short-name":        "validation.NameIsDNSLabel",
		"k8s-path-segment-name": "registry.NameIsPathSegment",
		"any":                   "registry.AnyName",
		"dns1035-label":         "validation.NameIsDNS1035Label",
		"ip":                    "registry.NameIsIP",
	} {
		t.Run(word, func(t *testing.T) {
			files := serve(t, lampSkips("", "// +apigen:kind(Lamp)=+apigen:name="+word+"\n"))
			holds(t, files, "apis/lamp/wiring/zz_generated.wiring.go", "ValidateName: "+function+",")
		})
	}
}
