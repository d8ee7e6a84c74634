package encoder

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// FuzzToYAML: whatever JSON says can be said in YAML, and says the same.
func FuzzToYAML(f *testing.F) {
	for _, s := range []string{"plain", "\x7f", "\u0080\u0085\u009f", "\ufeff\ufffe\uffff", "\U0001f600",
		"a\x00\x01\n\t\"\\", "ä\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b bytes.Buffer
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(map[string]any{"a": s, "b": []string{s, "x"}}); err != nil {
			t.Fatal(err)
		}
		// What encoding/json escapes other encoders leave as it is.
		data := b.Bytes()
		if !strings.Contains(s, `\`) {
			data = []byte(strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(b.String()))
		}
		out, err := ToYAML(data)
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		back, err := yaml.YAMLToJSON(out)
		if err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		var want, got any
		if json.Unmarshal(data, &want) != nil || json.Unmarshal(back, &got) != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s became %s", data, back)
		}
	})
}
