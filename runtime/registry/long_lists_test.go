package registry_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/jsondoc"
	"apigen.dev/runtime/internal/object/ownership"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/memory"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// repeated is n texts made of a format with the numbers down from n, joined by commas.
func repeated(n int, format string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, n-i)
	}
	return strings.Join(all, ",")
}

// What would take a processor minutes is refused, or done without keeping track of owners.
func TestLongListsAreQuick(t *testing.T) {
	parts := `,"spec":{"parts":[` + repeated(100_000, `"p%06d"`) + `]}`
	notes := `,"spec":{"notes":{` + repeated(100_000, `"p%06d":""`) + `}}`
	owners := `,"ownerReferences":[` + repeated(20_000, `{"apiVersion":"v1","kind":"Pod","name":"p","uid":"%d"}`) + `]`
	entries := func(n int, fields string) string {
		return `,"managedFields":[` + repeated(n, `{"manager":"m%d","operation":"Update",`+
			`"apiVersion":"shop.example.com/v1","fieldsType":"FieldsV1","fieldsV1":`+fields+`}`) + `]`
	}
	cases := map[string]struct {
		kind   verb.PatchType // "" is a PUT
		data   string
		code   int32 // 0: it is done
		owners int
	}{
		"put of a list":              {"", config(``, parts), 0, 1},
		"put of a map":               {"", config(``, notes), 0, 1},
		"put of many owners":         {"", config(owners, ``), 0, 1},
		"put of many managers":       {"", config(entries(15_000, `{"f:a":{}}`), ``), 0, 1},
		"put of a manager of much":   {"", config(entries(1, `{`+repeated(100_000, `"f:%d":{}`)+`}`), ``), 0, 1},
		"patch to a list":            {verb.MergePatch, config(``, parts), 0, 1},
		"apply of a list":            {verb.ApplyPatch, config(``, parts), 413, 1},
		"apply of a map":             {verb.ApplyPatch, config(``, notes), 413, 1},
		"strategic merge of objects": {verb.StrategicPatch, config(owners, ``), 413, 1},
		"strategic merge of values": {verb.StrategicPatch, config(`,"finalizers":[`+repeated(100_000, `"e.com/p%d"`)+
			`]`, ``), 413, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := openSchema(t)
			b.create(config(``, `,"spec":{"color":"red"}`))
			began := time.Now()
			opts := verb.WriteOptions{Form: v1, FieldManager: "w", Force: c.kind == verb.ApplyPatch}
			var err error
			if c.kind == "" {
				_, err = b.Update(b.ctx(), "ns", "a", "", body(c.data), opts)
			} else {
				_, err = b.Patch(b.ctx(), "ns", "a", "", c.kind, body(c.data), opts)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %v", took)
			}
			if c.code != 0 {
				wantStatus(t, err, c.code, metav1.StatusReasonRequestEntityTooLarge, "too long")
			} else if err != nil {
				t.Fatal(err)
			}
			if w := b.get("a"); len(w.ManagedFields) != c.owners {
				t.Errorf("%d owners", len(w.ManagedFields))
			}
		})
	}
}

// An object that the schema doesn't allow for is written all the same; who owned what before still does, and the log
// tells.
func TestWritesDoNotFailOfOwnership(t *testing.T) {
	var log bytes.Buffer
	b := openOver(t, memory.New(), registry.New(shop.Definition()),
		registry.Config{Schemas: ownership.NewSchemas("shop.example.com", unownable()),
			Log: slog.New(slog.NewTextHandler(&log, nil))})
	before := b.create(config(``, `,"spec":{"color":"red"}`))
	w, err := b.patch("a", "", `{"spec":{"color":"blue","parts":["p"]}}`)
	if err != nil || w.Spec.Color != "blue" || ownersOf(w) != ownersOf(before) {
		t.Errorf("%v %+v", err, w)
	}
	if text := log.String(); !strings.Contains(text, ".spec.parts: field not declared in schema") ||
		!strings.Contains(text, "name=a") {
		t.Errorf("the log says %q", text)
	}
}

// unownable is a schema that lacks fields which widgets have.
func unownable() map[string]api.Document {
	return map[string]api.Document{"v1": jsondoc.New([]byte(`{"components":{"schemas":{
		"Widget":{"type":"object","properties":{
		"apiVersion":{"type":"string"},"kind":{"type":"string"},"metadata":{"type":"object"},"status":{"type":"object"},
		"spec":{"type":"object","properties":{"color":{"type":"string"},"size":{"type":"integer"}}}},
		"x-kubernetes-group-version-kind":[{"group":"shop.example.com","version":"v1","kind":"Widget"}]}}}}`))}
}
