//go:build peer

package encryption

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/host/encryption"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/server/options/encryptionconfig"
	"k8s.io/apiserver/pkg/storage/value"
)

const head = "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n"

var (
	widgets  = schema.GroupResource{Group: "shop.example.com", Resource: "widgets"}
	secret16 = encode("0123456789abcdef")
	secret24 = encode("0123456789abcdef01234567")
	secret32 = encode("0123456789abcdef0123456789abcdef")
	another  = encode("fedcba9876543210fedcba9876543210")
)

func encode(secret string) string { return base64.StdEncoding.EncodeToString([]byte(secret)) }

// rule is a configuration for widgets; a provider is "identity", or name, key and secret.
func rule(providers ...[]string) string {
	text := head + "- resources: [widgets.shop.example.com]\n  providers:\n"
	for _, p := range providers {
		text += "  - " + p[0] + ": {"
		if len(p) == 3 {
			text += "keys: [{name: '" + p[1] + "', secret: " + p[2] + "}]"
		}
		text += "}\n"
	}
	return text
}

// both reads a configuration with our code and with theirs.
func both(
	t *testing.T, text string,
) (ours *encryption.Source, theirs encryptionconfig.StaticTransformers, ourErr, theirErr error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "encryption.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ours, ourErr = encryption.Load(path)
	loaded, theirErr := encryptionconfig.LoadEncryptionConfig(t.Context(), path, false, "")
	if theirErr == nil {
		theirs = loaded.Transformers
	}
	return ours, theirs, ourErr, theirErr
}

// What one side writes, the other one reads, with the same prefix and the same opinion on what is stale; also under
// configurations that have moved on since.
func TestSameBytes(t *testing.T) {
	const key = "/registry/shop.example.com/widgets/ns/a"
	identity := []string{"identity"}
	gcm, gcmNew := []string{"aesgcm", "one", secret32}, []string{"aesgcm", "two", another}
	configurations := []string{
		rule(identity, gcm, gcmNew),
		rule(gcm, identity), rule(gcmNew, gcm, identity), rule(gcm, gcmNew),
		rule([]string{"aesgcm", "short", secret16}), rule([]string{"aesgcm", "a:b", secret24}),
		rule([]string{"aesgcm", "one", another}), // the same name, another secret
		rule([]string{"aesgcm", "one", another}, gcm),
		rule([]string{"secretbox", "box", secret32}, identity),
		rule([]string{"secretbox", "new", another}, []string{"secretbox", "box", secret32}),
		rule([]string{"aescbc", "old", secret32}, identity), rule(gcm, []string{"aescbc", "old", secret32}),
		head + "- resources: ['*.shop.example.com']\n  providers: [{aesgcm: {keys: [{name: one, secret: " +
			secret32 + "}]}}]\n",
		head + "- resources: ['*.*']\n  providers: [{aesgcm: {keys: [{name: two, secret: " + another +
			"}, {name: one, secret: " + secret32 + "}]}}]\n",
		head + "- resources: [others]\n  providers: [{aesgcm: {keys: [{name: one, secret: " + secret32 + "}]}}]\n",
	}
	type side struct {
		name string
		open func(stored []byte) ([]byte, bool, error)
	}
	var sides []side
	stored := map[string][]byte{}
	plain := map[string][]byte{}
	for i, text := range configurations {
		ours, theirs, ourErr, theirErr := both(t, text)
		if ourErr != nil || theirErr != nil {
			t.Fatalf("%v, %v of\n%s", ourErr, theirErr, text)
		}
		mine, other := ours.For(widgets), theirs.TransformerForResource(widgets)
		for _, data := range []string{
			"{}", `{"kind":"Widget","spec":{"color":"red"}}` + "\n", strings.Repeat("x", 16), strings.Repeat("y", 1000),
		} {
			name := string(rune('A'+i)) + "/" + data[:2]
			a, err := mine.Seal(key, []byte(data))
			if err != nil {
				t.Fatal(err)
			}
			b, err := other.TransformToStorage(t.Context(), []byte(data), value.DefaultContext(key))
			if err != nil {
				t.Fatal(err)
			}
			if len(a) != len(b) || !bytes.Equal(prefix(a), prefix(b)) {
				t.Errorf("%s: %q and %q", name, a, b)
			}
			stored[name+" ours"], stored[name+" theirs"] = a, b
			plain[name+" ours"], plain[name+" theirs"] = []byte(data), []byte(data)
		}
		sides = append(sides,
			side{"ours", func(s []byte) ([]byte, bool, error) { return mine.Open(key, s) }},
			side{"theirs", func(s []byte) ([]byte, bool, error) {
				return other.TransformFromStorage(t.Context(), s, value.DefaultContext(key))
			}})
	}
	for i := 0; i < len(sides); i += 2 {
		opened := 0
		for name, value := range stored {
			a, aStale, aErr := sides[i].open(value)
			b, bStale, bErr := sides[i+1].open(value)
			if !bytes.Equal(a, b) || aStale != bStale || (aErr == nil) != (bErr == nil) {
				t.Errorf("%s under\n%s\nours: %q %v %v\ntheirs: %q %v %v", name, configurations[i/2], a, aStale, aErr,
					b, bStale, bErr)
			}
			if aErr == nil && bytes.Equal(a, plain[name]) {
				opened++
			}
		}
		if opened < 8 {
			t.Errorf("%d values were opened under\n%s", opened, configurations[i/2])
		}
	}
}

// prefix is what stands before the bytes that are random.
func prefix(stored []byte) []byte {
	if !bytes.HasPrefix(stored, []byte("k8s:enc:")) {
		return stored
	}
	parts := bytes.SplitAfterN(stored, []byte(":"), 6)
	return bytes.Join(parts[:5], nil)
}

// A value is bound to its key by both sides alike.
func TestSameBinding(t *testing.T) {
	ours, theirs, _, _ := both(t, rule([]string{"aesgcm", "one", secret32}))
	stored, err := ours.For(widgets).Seal("/registry/a", []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := theirs.TransformerForResource(widgets).TransformFromStorage(t.Context(), stored,
		value.DefaultContext("/registry/b")); err == nil {
		t.Error("theirs opened it elsewhere")
	}
	if _, _, err := ours.For(widgets).Open("/registry/b", stored); err == nil {
		t.Error("ours opened it elsewhere")
	}
}

// What they refuse, we refuse; what they take, we take, but for kms, and for what would encrypt nothing without a word.
func TestSameConfigurations(t *testing.T) {
	identity := "  providers: [{identity: {}}]\n"
	for name, text := range map[string]string{
		"empty":    "",
		"no rules": head + "[]\n",
		"another kind": strings.Replace(rule([]string{"identity"}), "EncryptionConfiguration",
			"EncryptionConfig", 1),
		"another version": strings.Replace(rule([]string{"identity"}), "/v1", "/v2", 1),
		"unknown field":   rule([]string{"identity"}) + "extra: 1\n",
		"other case":      strings.Replace(rule([]string{"identity"}), "providers", "Providers", 1),
		"two providers": head + "- resources: [a]\n  providers: [{identity: {}, aesgcm: {keys: [{name: a, secret: " +
			secret32 + "}]}}]\n",
		"no provider":      head + "- resources: [a]\n  providers: [{}]\n",
		"null provider":    head + "- resources: [a]\n  providers: [{identity: null}]\n",
		"no providers":     head + "- resources: [a]\n  providers: []\n",
		"no resources":     head + "- resources: []\n" + identity,
		"no keys":          rule([]string{"aesgcm"}),
		"short":            rule([]string{"aesgcm", "a", encode("short")}),
		"secretbox of 16":  rule([]string{"secretbox", "a", secret16}),
		"no base64":        rule([]string{"aesgcm", "a", "'!!'"}),
		"no name":          rule([]string{"aesgcm", "", secret32}),
		"colon in a name":  rule([]string{"aesgcm", "a:b", secret32}),
		"one name twice":   rule([]string{"aesgcm", "a", secret32}, []string{"aesgcm", "a", another}),
		"capitals":         head + "- resources: [Widgets]\n" + identity,
		"star":             head + "- resources: ['*']\n" + identity,
		"across groups":    head + "- resources: ['widgets.*']\n" + identity,
		"twice":            head + "- resources: [a, a]\n" + identity,
		"overlap":          head + "- resources: [a.b, '*.b']\n" + identity,
		"overlap with all": head + "- resources: ['*.*', a]\n" + identity,
		"masked":           head + "- resources: ['*.b']\n" + identity + "- resources: [a.b]\n" + identity,
		"masked by itself": head + "- resources: ['*.b']\n" + identity + "- resources: ['*.b']\n" + identity,
		"masked by all":    head + "- resources: ['*.*']\n" + identity + "- resources: ['*.b']\n" + identity,
		"in order": head + "- resources: [a.b]\n" + identity + "- resources: ['*.b']\n" + identity +
			"- resources: ['*.*']\n" + identity,
		"added up": head + "- resources: [a.b]\n" + identity + "- resources: [a.b]\n" + identity,
		"core":     head + "- resources: [secrets, '*.b']\n" + identity + "- resources: ['*.']\n" + identity,
		"as JSON": `{"apiVersion":"apiserver.config.k8s.io/v1","kind":"EncryptionConfiguration",` +
			`"resources":[{"resources":["a"],"providers":[{"identity":{}}]}]}`,
	} {
		_, _, ourErr, theirErr := both(t, text)
		if (ourErr == nil) != (theirErr == nil) {
			t.Errorf("%s: ours says %v, theirs %v", name, ourErr, theirErr)
		}
	}
}
