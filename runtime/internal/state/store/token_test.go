package store

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func FuzzToken(f *testing.F) {
	const prefix = "/registry/shop.example.com/widgets/ns/"
	for _, start := range []string{"a\x00", "../x", "a/../../b", "./a", "//a", "", "a//b", "..", "x/"} {
		f.Add(base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"v":"meta.k8s.io/v1","rv":5,"start":%q}`, start)))
	}
	for _, key := range []string{"/x\x00", "../x\x00", "\xff\xfe\x00"} {
		parameter, err := EncodeToken(prefix, prefix+key, 5)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(parameter)
	}
	f.Add("!!!")
	f.Add("eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ")
	f.Fuzz(func(t *testing.T, parameter string) {
		from, revision, err := DecodeToken(parameter, prefix)
		if err != nil {
			return
		}
		if !strings.HasPrefix(from, prefix) || from == prefix || revision == 0 || revision < -1 {
			t.Fatalf("%q leads to %q at %d", parameter, from, revision)
		}
		data, _ := base64.RawURLEncoding.DecodeString(parameter)
		var sent token
		if err := json.Unmarshal(data, &sent); err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(strings.TrimPrefix(from, prefix), "/") {
			if sent.Raw == nil && (part == "" || part == "." || part == "..") {
				t.Fatalf("%q leads to %q", parameter, from)
			}
		}
		again, err := EncodeToken(prefix, from, revision)
		if err != nil {
			t.Fatal(err)
		}
		if from2, revision2, err := DecodeToken(again, prefix); err != nil || from2 != from || revision2 != revision {
			t.Fatalf("%q became %q at %d, %v", from, from2, revision2, err)
		}
	})
}

func TestTokenIsAsKubernetes(t *testing.T) {
	got, err := EncodeToken("/registry/pods/ns/", "/registry/pods/ns/a\x00", 7)
	if want := "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6Nywic3RhcnQiOiJhXHUwMDAwIn0"; err != nil || got != want {
		t.Errorf("%s %v", got, err)
	}
}
