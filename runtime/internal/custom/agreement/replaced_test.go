package agreement_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"apigen.dev/runtime/internal/custom/agreement/trial"
	"apigen.dev/runtime/internal/custom/agreement/wiring"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
)

// TestReplacedZerosAreSaid: a client that sends a zero value whose place a default takes is warned, whichever way it
// writes.
func TestReplacedZerosAreSaid(t *testing.T) {
	const (
		width  = "spec.frame.width: 0 is not kept: the default 3 takes its place"
		height = "spec.mount.pole.height: 0 is not kept: the default 4 takes its place"
		stone  = `spec.mount.pole.foot.material: "" is not kept: the default "stone" takes its place`
		phase  = `status.phase: "" is not kept: the default "dark" takes its place`
	)
	frame := `{"spec":{"frame":{"color":"red","width":0}}}`
	for name, test := range map[string]struct {
		write func(w writer) verb.Result
		want  []string
	}{
		"create": {func(w writer) verb.Result { return w.create(frame) }, []string{width}},
		"create, deeper": {func(w writer) verb.Result {
			return w.create(`{"spec":{"mount":{"pole":{"height":0,"foot":{"material":""}},"rest":{},"bolts":1}}}`)
		}, []string{stone, height}},
		"create without": {func(w writer) verb.Result { return w.create(`{"spec":{"frame":{"color":"red"}}}`) }, nil},
		"create with a value": {func(w writer) verb.Result {
			return w.create(`{"spec":{"frame":{"color":"red","width":3}}}`)
		}, nil},
		"create with null": {func(w writer) verb.Result {
			return w.create(`{"spec":{"frame":{"color":"red","width":null}}}`)
		}, nil},
		"create with a status, which it can't set": {func(w writer) verb.Result {
			return w.create(`{"status":{"phase":""}}`)
		}, nil},
		"update": {func(w writer) verb.Result {
			w.create(`{}`)
			return w.update("", frame)
		}, []string{width}},
		"update of the status": {func(w writer) verb.Result {
			w.create(`{}`)
			return w.update("status", `{"spec":{"frame":{"color":"red","width":0}},"status":{"phase":""}}`)
		}, []string{phase}},
		"patch": {func(w writer) verb.Result {
			w.create(`{"spec":{"frame":{"color":"red"}}}`)
			return w.patch(verb.MergePatch, `{"spec":{"frame":{"width":0}}}`)
		}, []string{width}},
		"patch of something else": {func(w writer) verb.Result {
			w.create(frame)
			return w.patch(verb.MergePatch, `{"spec":{"title":"ab"}}`)
		}, nil},
		"apply": {func(w writer) verb.Result { return w.patch(verb.ApplyPatch, w.whole(frame)) }, []string{width}},
	} {
		t.Run(name, func(t *testing.T) {
			all := wiring.Group().Resources
			at := slices.IndexFunc(all, func(r registry.Resource) bool { return r.Info().Names.Kind == "Sign" })
			p := trial.NewPair(t, trialOf(t, all[at]))
			if got := test.write(writer{p, p.Typed}).Warnings; !slices.Equal(got, test.want) {
				t.Errorf("warnings %q, want %q", got, test.want)
			}
			if got := test.write(writer{p, p.Custom}).Warnings; len(got) > 0 {
				t.Errorf("of the custom resource, which keeps the value: %q", got)
			}
		})
	}
}

// writer writes one object.
type writer struct {
	*trial.Pair
	to verb.Handle
}

var written = verb.WriteOptions{Form: verb.Form{Version: "v1"}, FieldManager: "test"}

func (w writer) whole(content string) string {
	w.Helper()
	data, err := json.Marshal(w.Whole("a", w.Decode(content)))
	if err != nil {
		w.Fatal(err)
	}
	return string(data)
}

func (w writer) create(content string) verb.Result {
	w.Helper()
	return w.done(w.to.Create(w.Context(), "ns", verb.Body{Version: "v1", Data: []byte(w.whole(content))}, written))
}

func (w writer) update(part, content string) verb.Result {
	w.Helper()
	found, err := w.to.Get(w.Context(), "ns", "a", "", written.Form)
	if err != nil {
		w.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(rendition.Whole(found), &object); err != nil {
		w.Fatal(err)
	}
	maps.Copy(object, w.Decode(content))
	data, err := json.Marshal(object)
	if err != nil {
		w.Fatal(err)
	}
	return w.done(w.to.Update(w.Context(), "ns", "a", part, verb.Body{Version: "v1", Data: data}, written))
}

func (w writer) patch(kind verb.PatchType, patch string) verb.Result {
	w.Helper()
	body := verb.Body{Version: "v1", Data: []byte(patch)}
	return w.done(w.to.Patch(w.Context(), "ns", "a", "", kind, body, written))
}

func (w writer) done(result verb.Result, err error) verb.Result {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
	return result
}
