package endpoint

import "testing"

// TestAppliedJSONIsYAML: what is applied is YAML, also if it looks like JSON.
func TestAppliedJSONIsYAML(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		code int
	}{
		"ASCII":                    {"plain \t\\n\\u0041\\\\u", 200}, // a tab in text is YAML and no JSON
		"escapes":                  {`\n\\u00e9 \u0041 \\ud800`, 200},
		"other letters":            {"\u00e9 \u4e16 \U0001f600 \ufffd", 200},
		"a surrogate pair":         {`\ud83d\ude00`, 200},
		"a next line":              {"a\u0085b", 200},
		"invalid UTF-8":            {"a\xffb", 400},
		"half a character":         {"a\xe4\xb8", 400},
		"a surrogate in UTF-8":     {"\xed\xa0\x80", 400},
		"a high surrogate alone":   {`\ud800`, 400},
		"a low surrogate alone":    {`\udc00x`, 400},
		"two high surrogates":      {`\ud800\ud800`, 400},
		"a surrogate and a letter": {`\ud800\u0041`, 400},
		"DEL":                      {"a\x7fb", 400},
		"a C1 control character":   {"a\u0090b", 400},
		"no character":             {"\ufffe", 400},
	} {
		t.Run(name, func(t *testing.T) {
			for _, key := range []bool{true, false} {
				body := `{"apiVersion":"v1","x":"` + c.text + `"}`
				if key {
					body = `{"apiVersion":"v1","` + c.text + `":"x"}`
				}
				a, _ := serve(t, widgets)
				w := do(a, "PATCH", itemPath+"?fieldManager=m", body, "Content-Type", "application/apply-patch+yaml")
				if w.Code != c.code {
					t.Errorf("%q: %d %s", body, w.Code, w.Body)
				}
			}
		})
	}
}
