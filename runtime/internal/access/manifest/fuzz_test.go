package manifest_test

import (
	"strings"
	"testing"

	"apigen.dev/runtime/internal/access/manifest"
	"apigen.dev/runtime/internal/reload"
)

// FuzzRead reads manifests of any form: each object that is taken has a name of its own, with the suffix of names in
// files.
func FuzzRead(f *testing.F) {
	f.Add([]byte(head + "d.static.k8s.io}}\n---\n\n---\n" + head + "b.static.k8s.io}}"))
	f.Add([]byte(`{apiVersion: v1, kind: List, items: [` + head + `c.static.k8s.io}}, null, {kind: List}]}`))
	f.Add([]byte("apiVersion: admissionregistration.k8s.io/v1\n" +
		"kind: ValidatingWebhookConfigurationList\nitems: [null]"))
	f.Fuzz(func(t *testing.T, content []byte) {
		all := manifest.NewObjects("ValidatingWebhookConfiguration", func(*configuration) {},
			func(*configuration) error { return nil })
		if manifest.Read([]reload.File{{Path: "a.yaml", Content: content}}, all) != nil {
			return
		}
		for _, object := range all.Sorted() {
			if !strings.HasSuffix(object.Name, ".static.k8s.io") || object.ResourceVersion != "" {
				t.Errorf("the object %+v", object.ObjectMeta)
			}
		}
	})
}
