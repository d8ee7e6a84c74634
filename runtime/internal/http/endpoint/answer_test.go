package endpoint

import (
	"strings"
	"testing"

	"apigen.dev/runtime/internal/verb"
)

func TestObjectsLargerThanAFrame(t *testing.T) {
	a, fakes := serve(t, widgets)
	fakes[0].object = rendered(verb.Form{}, strings.Repeat("x", 3*frameSize), 7)
	w := do(a, "GET", itemPath, "")
	if want := "{" + fakes[0].object.Head + string(fakes[0].object.Payload) + "\n"; w.Body.String() != want {
		t.Errorf("%d bytes, want %d", w.Body.Len(), len(want))
	}
}

func TestReportsOfManyFaultsAreBounded(t *testing.T) {
	a, _ := serve(t, widgets)
	body := strings.Repeat("a: 1\n", 20000)
	for _, validation := range []string{"Strict", "Warn"} {
		w := do(a, "POST", collectionPath+"?fieldValidation="+validation, body, "Content-Type", "application/yaml")
		if w.Body.Len() > 2*maxErrorText || len(w.Header()["Warning"]) > 64 {
			t.Errorf("%s: %d bytes, %d warnings", validation, w.Body.Len(), len(w.Header()["Warning"]))
		}
	}
}
