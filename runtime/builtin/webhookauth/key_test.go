package webhookauth

import (
	"net/http"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/request"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestInvalidTextHasItsOwnAnswer: requests whose texts JSON writes alike, because they aren't UTF-8, share no answer.
func TestInvalidTextHasItsOwnAnswer(t *testing.T) {
	var asked int
	authorizer := newAuthorizer(t, start(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = w.Write([]byte(`{"status":{"allowed":true}}`))
	}), Config{Version: "v1", AuthorizedTTL: time.Hour})
	names := []string{"a\xff", "a\xfe", "a\ufffd", `a\xff`}
	for range 2 {
		for _, name := range names {
			info := &request.Info{IsResource: true, Verb: "get", Resource: "widgets", Name: name}
			decision, _, err := authorizer.Authorize(t.Context(), auth.Attributes{User: alice, Info: info})
			if decision != auth.Allow {
				t.Fatal(decision, err)
			}
		}
	}
	if asked != len(names) {
		t.Errorf("the webhook was asked %d times about %d requests", asked, len(names))
	}
}

// TestKeysAreInjective: questions that differ anywhere have different keys.
func TestKeysAreInjective(t *testing.T) {
	seen := map[digest]string{}
	for name, spec := range map[string]*AccessReviewSpec{
		"nothing":            {},
		"user":               {User: "a"},
		"uid":                {UID: "a"},
		"group":              {Groups: []string{"a"}},
		"two groups":         {Groups: []string{"a", "a"}},
		"another cut":        {Groups: []string{"aa"}},
		"an empty group":     {Groups: []string{""}},
		"extra":              {Extra: map[string][]string{"a": {"b", "c"}}},
		"extra of two":       {Extra: map[string][]string{"a": {"b"}, "c": nil}},
		"extra elsewhere":    {Extra: map[string][]string{"a": {"b"}, "c": {""}}},
		"no path":            {NonResourceAttributes: &NonResourceAttributes{}},
		"path":               {NonResourceAttributes: &NonResourceAttributes{Path: "get"}},
		"verb of a path":     {NonResourceAttributes: &NonResourceAttributes{Verb: "get"}},
		"no resource":        {ResourceAttributes: &ResourceAttributes{}},
		"namespace":          {ResourceAttributes: &ResourceAttributes{Namespace: "get"}},
		"verb":               {ResourceAttributes: &ResourceAttributes{Verb: "get"}},
		"name":               {ResourceAttributes: &ResourceAttributes{Name: "get"}},
		"resource":           {ResourceAttributes: &ResourceAttributes{Resource: "get"}},
		"subresource":        {ResourceAttributes: &ResourceAttributes{Subresource: "get"}},
		"group of resources": {ResourceAttributes: &ResourceAttributes{Group: "get"}},
		"version":            {ResourceAttributes: &ResourceAttributes{Version: "get"}},
		"fields":             {ResourceAttributes: fieldAttributes("In", "b")},
		"other operator":     {ResourceAttributes: fieldAttributes("NotIn", "b")},
		"other value":        {ResourceAttributes: fieldAttributes("In", "\xff")},
		"another value":      {ResourceAttributes: fieldAttributes("In", "\xfe")},
		"labels": {ResourceAttributes: &ResourceAttributes{LabelSelector: &LabelSelector{
			Requirements: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "In", Values: []string{"b"}}},
		}}},
	} {
		key := spec.key()
		if other, found := seen[key]; found {
			t.Errorf("%s and %s have one key", name, other)
		}
		if seen[key] = name; key != spec.key() {
			t.Errorf("%s: the key changes", name)
		}
	}
}

func fieldAttributes(operator, value string) *ResourceAttributes {
	return &ResourceAttributes{FieldSelector: &FieldSelector{Requirements: []metav1.FieldSelectorRequirement{
		{Key: "a", Operator: metav1.FieldSelectorOperator(operator), Values: []string{value}},
	}}}
}
