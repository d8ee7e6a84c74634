package encryption

import (
	"encoding/base64"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

const head = "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n"

var (
	secret16 = base64.StdEncoding.EncodeToString([]byte("0123456789abcdef"))
	secret32 = base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789ABCDEF"))
	other32  = base64.StdEncoding.EncodeToString([]byte("fedcba9876543210fedcba9876543210"))
)

// rules is a configuration with one rule for widgets.
func rules(providers ...string) string {
	return head + "resources:\n- resources: [widgets.shop.example.com]\n  providers:\n  - " +
		strings.Join(providers, "\n  - ") + "\n"
}

func keys(provider string, named ...string) string {
	var list []string
	for i := 0; i < len(named); i += 2 {
		list = append(list, "{name: "+named[i]+", secret: "+named[i+1]+"}")
	}
	return provider + ": {keys: [" + strings.Join(list, ", ") + "]}"
}

func mustParse(t testing.TB, text string) *Keys {
	t.Helper()
	k, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return k
}

var widgets = schema.GroupResource{Group: "shop.example.com", Resource: "widgets"}

// An error about a configuration names the field, and has no secret.
func TestParseRefuses(t *testing.T) {
	bad := base64.StdEncoding.EncodeToString([]byte("too short"))
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", `kind: Unsupported value: ""`},
		{"no YAML", "a: [", "yaml"},
		{"a word", "junk", "no EncryptionConfiguration: the file is a string"},
		{"a list of another type", head + "resources: [1]\n",
			"no EncryptionConfiguration: resources is a number, and should be of type object"},
		{"another kind", "apiVersion: v1\nkind: Secret\nresources: []\n",
			`apiVersion: Unsupported value: "v1": supported values: "apiserver.config.k8s.io/v1"`},
		{"no rules", head, "resources: Required value"},
		{"unknown field", strings.Replace(rules("identity: {}"), "providers", "provider", 1),
			`unknown field "resources[0].provider"`},
		{"case matters", rules("aesGCM: {}"), `unknown field "resources[0].providers[0].aesGCM"`},
		{"a field twice", head + "resources: []\nresources: []\n", `key "resources" already set`},
		{"no resources", head + "resources:\n- providers: [{identity: {}}]\n",
			"resources[0].resources: Required value"},
		{"no providers", head + "resources:\n- resources: [a]\n", "resources[0].providers: Required value"},
		{"empty provider", rules("{}"), "resources[0].providers[0]: Invalid value: it names 0 providers"},
		{"two in one", rules("identity: {}\n    aesgcm: {keys: [{name: a, secret: " + secret32 + "}]}"),
			"resources[0].providers[0]: Invalid value: it names 2 providers"},
		{"kms", rules("kms: {apiVersion: v2, name: x, endpoint: unix:///x}"),
			`resources[0].providers[0]: Unsupported value: "kms"`},
		{"no keys", rules("aesgcm: {}"), "resources[0].providers[0].aesgcm.keys: Required value"},
		{"no name", rules("aesgcm: {keys: [{secret: " + secret32 + "}]}"),
			"resources[0].providers[0].aesgcm.keys[0].name: Required value"},
		{"no secret", rules("aesgcm: {keys: [{name: a}]}"),
			"resources[0].providers[0].aesgcm.keys[0].secret: Required value"},
		{"no base64", rules(keys("aescbc", "a", "'!'")),
			`resources[0].providers[0].aescbc.keys[0].secret: Invalid value: "REDACTED": it must be base64`},
		{"wrong length", rules(keys("secretbox", "a", secret32, "b", secret16)),
			"resources[0].providers[0].secretbox.keys[1].secret: Invalid value: \"REDACTED\": it has 16 bytes, not " +
				"one of [32]"},
		{"odd length", rules(keys("aesgcm", "a", bad)), "it has 9 bytes, not one of [16 24 32]"},
		{"a number for a name", rules("aesgcm: {keys: [{name: 7, secret: " + secret32 + "}]}"),
			"keys.name is a number, and should be of type string"},
		{"capitals", head + "resources:\n- resources: [Widgets]\n  providers: [{identity: {}}]\n",
			"resources[0].resources[0]: Invalid value: \"Widgets\": names of resources have no capital letters"},
		{"a star", head + "resources:\n- resources: ['*']\n  providers: [{identity: {}}]\n", `"*.*" all resources`},
		{"across groups", head + "resources:\n- resources: ['widgets.*']\n  providers: [{identity: {}}]\n",
			"across groups"},
		{"empty name", head + "resources:\n- resources: ['']\n  providers: [{identity: {}}]\n", "it names no resource"},
		{"twice", head + "resources:\n- resources: [a.b, a.b]\n  providers: [{identity: {}}]\n",
			"resources[0].resources[1]: Invalid value: \"a.b\": the list has it twice"},
		{"overlap", head + "resources:\n- resources: ['*.b', a.b]\n  providers: [{identity: {}}]\n",
			`it overlaps with "*.b"`},
		{"overlap with all", head + "resources:\n- resources: [a.b, '*.*']\n  providers: [{identity: {}}]\n",
			`it overlaps with "a.b"`},
		{"hidden", head + "resources:\n- resources: ['*.b']\n  providers: [{identity: {}}]\n- resources: [a.b]\n  " +
			"providers: [{identity: {}}]\n",
			"resources[1].resources[0]: Invalid value: \"a.b\": an earlier rule, for *.b, hides this one"},
		{"a group", head + "resources:\n- resources: ['.apps']\n  providers: [{identity: {}}]\n",
			"resources[0].resources[0]: Invalid value: \".apps\": it names a group and no resource of it"},
		{"a part of a name", head + "resources:\n- resources: ['wid*.shop']\n  providers: [{identity: {}}]\n",
			"not for a part of a name"},
		{"a part of a group", head + "resources:\n- resources: ['*.*.example.com']\n  providers: [{identity: {}}]\n",
			"not for a part of a name"},
		{"a space", head + "resources:\n- resources: ['widgets.shop ']\n  providers: [{identity: {}}]\n",
			"it has a space"},
		{"two documents", rules("identity: {}") + "---\n" + rules(keys("aesgcm", "a", secret32)),
			"several YAML documents"},
		{"comments alone", "# nothing\n---\n# and nothing\n", `kind: Unsupported value: ""`},
		{"a field of identity", rules("identity: {keys: []}"),
			`unknown field "resources[0].providers[0].identity.keys"`},
		{"null", rules("identity:"), "it names 0 providers"},
		{"a tab", head + "resources:\n\t- a", "found character that cannot start any token"},
		{"base64 of URLs", rules(keys("aesgcm", "a", "'_-_-_-_-_-_-_-_-_-_-_A=='")), "it must be base64"},
		{"base64 without its end", rules(keys("aesgcm", "a", strings.TrimRight(secret16, "="))), "it must be base64"},
		{"hidden by all", head + "resources:\n- resources: ['*.*']\n  providers: [{identity: {}}]\n- resources: " +
			"['*.']\n  providers: [{identity: {}}]\n", "an earlier rule, for *.*, hides this one"},
	} {
		t.Run(test.name, func(t *testing.T) {
			k, err := Parse([]byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("%v, want %s", err, test.want)
			}
			if k != nil {
				t.Error("keys beside an error")
			}
			for _, s := range []string{secret16, secret32, bad} {
				if strings.Contains(err.Error(), s) {
					t.Errorf("a secret stands in %v", err)
				}
			}
		})
	}
}

// The narrowest rule is a resource's; what no rule names is stored in the clear.
func TestWhichRule(t *testing.T) {
	k := mustParse(t, head+"resources:\n"+
		"- resources: [widgets.shop.example.com, pods]\n  providers: [{"+keys("aesgcm", "one", secret32)+"}]\n"+
		"- resources: ['*.shop.example.com']\n  providers: [{"+keys("aesgcm", "group", secret32)+"}]\n"+
		"- resources: ['*.']\n  providers: [{"+keys("aesgcm", "core", secret32)+"}]\n"+
		"- resources: ['*.*']\n  providers: [{"+keys("aesgcm", "all", secret32)+"}]\n")
	for resource, key := range map[string]string{
		"widgets.shop.example.com": "one", "pods": "one", "gadgets.shop.example.com": "group", "secrets": "core",
		"a.b": "all",
	} {
		stored, err := k.For(schema.ParseGroupResource(resource)).Seal("/k", []byte("{}"))
		if want := "k8s:enc:aesgcm:v1:" + key + ":"; err != nil || !strings.HasPrefix(string(stored), want) {
			t.Errorf("%s: %q %v, want %s", resource, stored, err, want)
		}
	}
	if unused := k.Unused([]schema.GroupResource{widgets}); len(unused) != 1 || unused[0] != "pods" {
		t.Errorf("unused: %v", unused)
	}
	stored, err := new(Keys).For(widgets).Seal("/k", []byte("{}"))
	if err != nil || string(stored) != "{}" {
		t.Errorf("%q %v", stored, err)
	}
}

// Documents without content are none.
func TestOneDocument(t *testing.T) {
	for _, text := range []string{
		"---\n" + rules("identity: {}"), rules("identity: {}") + "---\n",
		"# of the cluster in Kiel\n---\n" + rules("identity: {}") + "---\n# the end\n",
		"\ufeff" + rules("identity: {}"), strings.ReplaceAll(rules("identity: {}"), "\n", "\r\n"),
	} {
		if k := mustParse(t, text); len(k.chains) != 1 {
			t.Errorf("%q: %v", text, k)
		}
	}
}

// A resource of several rules has the providers of all, the first rule's first.
func TestRulesAddUp(t *testing.T) {
	k := mustParse(t,
		rules(keys("aesgcm", "a", secret32))+"- resources: [widgets.shop.example.com]\n  providers: [{identity: {}}]\n")
	if plain, stale, err := k.For(widgets).Open("/k", []byte("{}")); err != nil || !stale || string(plain) != "{}" {
		t.Errorf("%q %v %v", plain, stale, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(rules("identity: {}", keys("aesgcm", "a", secret32), keys("secretbox", "b", other32),
		keys("aescbc", "c", secret16))))
	f.Add([]byte(rules("kms: {name: x}")))
	f.Add(
		[]byte(
			`{"kind":"EncryptionConfiguration","apiVersion":"apiserver.config.k8s.io/v1",` +
				`"resources":[{"resources":["*.*"],"providers":[{"identity":{}}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := Parse(data)
		if (k == nil) == (err == nil) {
			t.Fatalf("%v and %v", k, err)
		}
		if err != nil {
			return
		}
		// An accepted chain opens the values that it sealed, for every resource.
		for gr, chain := range k.chains {
			stored, err := chain.Seal("/k", []byte("{}"))
			if err != nil {
				t.Fatalf("%s: %v", gr, err)
			}
			if plain, stale, err := chain.Open("/k", stored); err != nil || stale || string(plain) != "{}" {
				t.Fatalf("%s: %q %v %v", gr, plain, stale, err)
			}
		}
	})
}
