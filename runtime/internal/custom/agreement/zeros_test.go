package agreement_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/custom/agreement/trial"
	"apigen.dev/runtime/internal/custom/agreement/wiring"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// TestZerosStay: the zero values that clients send stay in an object of a Go type as they do in a custom resource,
// whichever way they are written, whatever is written after them, and whoever reads them. So do their managers, and the
// generation counts the same changes.
func TestZerosStay(t *testing.T) {
	const (
		narrow = `{"spec":{"frame":{"color":"red","width":0},` +
			`"parts":{"a":{"text":"","frame":{"color":"red","width":0}}}}}`
		wide = `{"spec":{"frame":{"color":"red","width":5}}}`
		pole = `{"spec":{"mount":{"pole":{"height":0,"foot":{"material":"","depth":0}},"rest":{},"bolts":1}}}`
	)
	for name, write := range map[string]func(w writer){
		"create":         func(w writer) { w.create(narrow) },
		"create, deeper": func(w writer) { w.create(pole) },
		"create in CBOR": func(w writer) { w.createIn(verb.CBOR, pole) },
		"create with a status, which it can't set": func(w writer) {
			w.create(`{"spec":{"title":"ab"},"status":{"phase":"","seen":{"name":""}}}`)
		},
		"update": func(w writer) {
			w.create(wide)
			w.update("", narrow)
		},
		"update by what was read": func(w writer) {
			w.create(narrow)
			w.update("", `{}`)
		},
		"update without": func(w writer) {
			w.create(pole)
			w.update("", `{"spec":{"mount":{"pole":{"foot":{}},"rest":{},"bolts":1}}}`)
		},
		"status": func(w writer) {
			w.create(narrow)
			w.update("status", `{"spec":{},"status":{"phase":""}}`)
		},
		"object after status": func(w writer) {
			w.create(narrow)
			w.update("status", `{"status":{"phase":"","seen":{"name":""}}}`)
			w.update("", `{"spec":{"frame":{"color":"red"}},"status":{"phase":"lit"}}`)
		},
		"status after status": func(w writer) {
			w.create(pole)
			w.update("status", `{"status":{"phase":""}}`)
			w.update("status", `{"status":{}}`)
		},
		"merge patch": func(w writer) {
			w.create(wide)
			w.patch(verb.MergePatch, narrow)
		},
		"patch of another": func(w writer) {
			w.create(pole)
			w.patch(verb.MergePatch, `{"spec":{"title":"ab"}}`)
		},
		"patch with null": func(w writer) {
			w.create(narrow)
			w.patch(verb.MergePatch, `{"spec":{"frame":{"width":null}}}`)
		},
		"patch that tests": func(w writer) {
			w.create(narrow)
			w.patch(verb.JSONPatch, tested)
		},
		"patch of metadata": func(w writer) {
			w.create(narrow)
			w.patch(verb.MergePatch, `{"metadata":{"labels":{"a":"b"}}}`)
		},
		"apply": func(w writer) { w.apply("one", narrow) },
		"apply by two": func(w writer) {
			w.apply("one", narrow)
			w.apply("two", narrow)
		},
		"apply that gives up": func(w writer) {
			w.apply("one", narrow)
			w.apply("one", `{"spec":{"frame":{"color":"red"}}}`)
		},
		"apply after create": func(w writer) {
			w.create(pole)
			w.apply("one", narrow)
		},
		"apply of the rest": func(w writer) {
			w.apply("one", pole)
			w.apply("two", `{"spec":{"title":"ab"}}`)
		},
		"deletion that waits": func(w writer) {
			w.create(narrow)
			w.patch(verb.MergePatch, `{"metadata":{"finalizers":["example.com/a"]}}`)
			w.delete()
			w.patch(verb.MergePatch, `{"metadata":{"labels":{"a":"b"}}}`)
		},
		"apply of the status": func(w writer) {
			w.apply("one", `{"spec":{"title":"ab"}}`)
			w.applyTo("status", "one", `{"status":{"phase":"","seen":{"name":""}}}`)
		},
		"apply of the status, twice": func(w writer) {
			w.apply("one", `{"spec":{"title":"ab"}}`)
			w.applyTo("status", "one", `{"status":{"phase":"lit","seen":{"name":"a"}}}`)
			w.apply("one", `{"spec":{"title":"abc"}}`)
			w.applyTo("status", "one", `{"status":{"phase":"","seen":{"name":""}}}`)
		},
		"null": func(w writer) { w.create(`{"spec":{"note":null,"back":null,"title":null}}`) },
		"null after another": func(w writer) {
			w.create(`{"spec":{"note":"a","back":{"name":"a"}}}`)
			w.update("", `{"spec":{"note":null,"back":null}}`)
		},
		"another after null": func(w writer) {
			w.create(`{"spec":{"note":null,"back":null}}`)
			w.patch(verb.MergePatch, `{"spec":{"note":"a"}}`)
		},
		"null in a JSON patch": func(w writer) {
			w.create(`{"spec":{"note":"a","back":{"name":"a"}}}`)
			w.patch(verb.JSONPatch, `[{"op":"replace","path":"/spec/note","value":null}]`)
		},
		"null, applied": func(w writer) {
			w.apply("one", `{"spec":{"note":null,"title":"ab"}}`)
			w.apply("two", `{"spec":{"note":null}}`)
			w.apply("one", `{"spec":{"title":"ab"}}`)
		},
	} {
		t.Run(name, func(t *testing.T) { agree(t, "Sign", write) })
	}
}

// TestNullIsRefused: null in what an apply makes is refused as of a custom resource, unless a marker allows it, a
// default takes its place, or it is in a part that the request doesn't write. structured-merge-diff leaves null where
// an apply removes all members of a struct or map, as it sends it empty.
func TestNullIsRefused(t *testing.T) {
	const title = `"title":"ab","light":"cold"`
	for name, test := range map[string]struct {
		kind    string
		applied []string
		refused string // the field for which the last is refused, or empty
	}{
		"emptied struct": {"Sign", []string{`{"spec":{"mount":{"bolts":1,"rest":{},"pole":{"height":3}}}}`,
			`{"spec":{"mount":{"bolts":1,"rest":{},"pole":{}}}}`}, "spec.mount.pole"},
		"emptied map": {"Meter", []string{`{"spec":{"readings":{"a":{"digits":1}},"place":"a"}}`,
			`{"spec":{"readings":{},"place":"a"}}`}, "spec.readings"},
		"text":          {"Sign", []string{`{"spec":{"title":null}}`}, "spec.title"},
		"list":          {"Sign", []string{`{"spec":{` + title + `,"lines":null}}`}, "spec.lines"},
		"pointer":       {"Meter", []string{`{"spec":{"place":"a","lens":null}}`}, "spec.lens"},
		"required":      {"Knot", []string{`{"spec":{"rope":null}}`}, "spec.rope"},
		"nullable":      {"Sign", []string{`{"spec":{` + title + `,"note":null,"back":null}}`}, ""},
		"default":       {"Meter", []string{`{"spec":{"place":"a","face":null}}`}, ""},
		"dotted":        {"Knot", []string{`{"spec":{"rope":{},"dotted.count":null}}`}, ""},
		"no schema":     {"Poster", []string{`{"spec":{"hue":"red","logo":{"name":"x"},"free":{"marks":[null]}}}`}, ""},
		"without types": {"Knot", []string{`{"spec":{"rope":{},"raw":null,"raws":{"a":null}}}`}, ""},
		"status":        {"Sign", []string{`{"spec":{` + title + `},"status":{"phase":null}}`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := pairOf(t, test.kind)
			for _, handle := range []verb.Handle{p.Typed, p.Custom} {
				var err error
				for i := range test.applied {
					if err != nil {
						t.Fatal(err)
					}
					err = p.apply(handle, "one", test.applied[i])
				}
				if test.refused == "" {
					if err != nil {
						t.Error(err)
					}
					continue
				}
				if want := test.refused + ": Invalid value: "; !apierrors.IsInvalid(err) ||
					!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "Required") {
					t.Errorf("%s is refused with %v", test.refused, err)
				}
			}
		})
	}
}

// TestTemplatesMayHaveNull: clients in Go write null for the creationTimestamp of a template, which most definitions
// don't have.
func TestTemplatesMayHaveNull(t *testing.T) {
	p := pairOf(t, "Leaflet")
	config := `{"spec":{"grade":3,"label":"ab","sizes":[1,2],"cards":[{"metadata":{"creationTimestamp":null}}]}}`
	if err := p.apply(p.Typed, "one", config); err != nil {
		t.Error(err)
	}
}

// pairOf serves a kind of the group twice.
func pairOf(t *testing.T, kind string) pair {
	t.Helper()
	all := wiring.Group().Resources
	at := slices.IndexFunc(all, func(r registry.Resource) bool { return r.Info().Names.Kind == kind })
	return pair{trial.NewPair(t, trialOf(t, all[at]))}
}

// TestTextsStay: so do the forms of durations, times and quantities that clients send.
func TestTextsStay(t *testing.T) {
	const (
		long = `{"spec":{"timeout":"60s","period":"90m","capacity":"1000m","limit":2,"pause":"0m0s",` +
			`"steps":["60s","5s"],"since":"2026-01-02T03:04:05.000Z","until":"2026-01-02T05:04:05+02:00",` +
			`"waits":[{"for":"60s","of":"a"},{"for":"1m0s","of":"b"}]}}`
		short = `{"spec":{"timeout":"1m0s","waits":[{"for":"1m","of":"b"}]}}`
	)
	for name, write := range map[string]func(w writer){
		"create":         func(w writer) { w.create(long) },
		"create in CBOR": func(w writer) { w.createIn(verb.CBOR, short) },
		"update by what was read": func(w writer) {
			w.create(long)
			w.update("", `{}`)
		},
		"update to the same in another form": func(w writer) {
			w.create(long)
			w.update("", short)
		},
		"patch of another": func(w writer) {
			w.create(long)
			w.patch(verb.MergePatch, `{"spec":{"limit":"3"}}`)
		},
		"patch to another form": func(w writer) {
			w.create(short)
			w.patch(verb.MergePatch, `{"spec":{"timeout":"60s"}}`)
		},
		"patch that tests": func(w writer) {
			w.create(long)
			w.patch(verb.JSONPatch, `[{"op":"test","path":"/spec/steps/0","value":"60s"},`+
				`{"op":"remove","path":"/spec/steps/1"}]`)
		},
		"apply": func(w writer) { w.apply("one", long) },
		"apply by two": func(w writer) {
			w.apply("one", long)
			w.apply("two", long)
		},
		"apply that gives up": func(w writer) {
			w.apply("one", long)
			w.apply("one", short)
		},
		"apply after create": func(w writer) {
			w.create(`{"spec":{"period":"90m"}}`)
			w.apply("one", short)
		},
	} {
		t.Run(name, func(t *testing.T) { agree(t, "Meter", write) })
	}
}

// TestDefaultsOfZeros: a default doesn't take the place of a zero value that a client sends, though the field has no
// omitempty, so that Go writes that zero value anyway.
func TestDefaultsOfZeros(t *testing.T) {
	const (
		zero    = `{"spec":{"place":"","readings":{"a":{"digits":0,"times":0}}}}`
		nothing = `{"spec":{"readings":{"a":{"digits":0}}}}`
		other   = `{"spec":{"place":"door","readings":{"a":{"digits":1,"times":5}}}}`
	)
	for name, write := range map[string]func(w writer){
		"create":         func(w writer) { w.create(zero) },
		"create without": func(w writer) { w.create(nothing) },
		"create in CBOR": func(w writer) { w.createIn(verb.CBOR, zero) },
		"update": func(w writer) {
			w.create(other)
			w.update("", zero)
		},
		"update without": func(w writer) {
			w.create(zero)
			w.update("", nothing)
		},
		"update by what was read": func(w writer) {
			w.create(zero)
			w.update("", `{}`)
		},
		"merge patch": func(w writer) {
			w.create(other)
			w.patch(verb.MergePatch, zero)
		},
		"patch of another": func(w writer) {
			w.create(zero)
			w.patch(verb.MergePatch, `{"spec":{"readings":{"b":{"digits":3}}}}`)
		},
		"patch with null": func(w writer) {
			w.create(zero)
			w.patch(verb.MergePatch, `{"spec":{"place":null}}`)
		},
		"apply": func(w writer) { w.apply("one", zero) },
		"apply by two": func(w writer) {
			w.apply("one", zero)
			w.apply("two", zero)
		},
		"apply that gives up": func(w writer) {
			w.apply("one", zero)
			w.apply("one", nothing)
		},
	} {
		t.Run(name, func(t *testing.T) { agree(t, "Meter", write) })
	}
}

// agree writes an object of a kind twice, as one of its Go type and as a custom resource, and compares what is read.
func agree(t *testing.T, kind string, write func(w writer)) {
	p := pairOf(t, kind).Pair
	typed, custom := writer{p, p.Typed}, writer{p, p.Custom}
	write(typed)
	write(custom)
	got, want := typed.read(), custom.read()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", text(got), text(want))
	}
	if in := typed.readCBOR(); !reflect.DeepEqual(in, got) {
		t.Errorf("CBOR has %v, JSON %v", text(in), text(got))
	}
}

const tested = `[{"op":"test","path":"/spec/frame/width","value":0},{"op":"add","path":"/spec/title","value":"ab"}]`

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// writer writes one object.
type writer struct {
	*trial.Pair
	to verb.Handle
}

func options(manager string) verb.WriteOptions {
	return verb.WriteOptions{Form: verb.Form{Version: "v1"}, FieldManager: manager}
}

func (w writer) whole(content string) []byte {
	w.Helper()
	data, err := json.Marshal(w.Whole("a", w.Decode(content)))
	if err != nil {
		w.Fatal(err)
	}
	return data
}

func (w writer) create(content string) {
	w.Helper()
	w.done(w.to.Create(w.Context(), "ns", verb.Body{Version: "v1", Data: w.whole(content)}, options("test")))
}

func (w writer) createIn(encoding verb.Encoding, content string) {
	w.Helper()
	data, err := direct.Marshal(w.Whole("a", w.Decode(content)))
	if err != nil {
		w.Fatal(err)
	}
	w.done(w.to.Create(w.Context(), "ns", verb.Body{Version: "v1", Encoding: encoding, Data: data}, options("test")))
}

func (w writer) update(part, content string) {
	w.Helper()
	object := w.get()
	maps.Copy(object, w.Decode(content))
	data, err := json.Marshal(object)
	if err != nil {
		w.Fatal(err)
	}
	w.done(w.to.Update(w.Context(), "ns", "a", part, verb.Body{Version: "v1", Data: data}, options("test")))
}

func (w writer) patch(kind verb.PatchType, patch string) {
	w.Helper()
	body := verb.Body{Version: "v1", Data: []byte(patch)}
	w.done(w.to.Patch(w.Context(), "ns", "a", "", kind, body, options("test")))
}

func (w writer) apply(manager, config string) {
	w.Helper()
	body := verb.Body{Version: "v1", Data: w.whole(config)}
	w.done(w.to.Patch(w.Context(), "ns", "a", "", verb.ApplyPatch, body, options(manager)))
}

func (w writer) applyTo(part, manager, config string) {
	w.Helper()
	body := verb.Body{Version: "v1", Data: w.whole(config)}
	w.done(w.to.Patch(w.Context(), "ns", "a", part, verb.ApplyPatch, body, options(manager)))
}

func (w writer) delete() {
	w.Helper()
	if _, err := w.to.Delete(w.Context(), "ns", "a", verb.DeleteOptions{WriteOptions: options("test")}); err != nil {
		w.Fatal(err)
	}
}

func (w writer) done(_ verb.Result, err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w writer) get() (object map[string]any) {
	w.Helper()
	found, err := w.to.Get(w.Context(), "ns", "a", "", verb.Form{Version: "v1"})
	if err != nil {
		w.Fatal(err)
	}
	if err := json.Unmarshal(rendition.Whole(found), &object); err != nil {
		w.Fatal(err)
	}
	return object
}

// read returns the object without what every object has of its own.
func (w writer) read() map[string]any {
	w.Helper()
	return w.common(w.get())
}

func (w writer) readCBOR() map[string]any {
	w.Helper()
	found, err := w.to.Get(w.Context(), "ns", "a", "", verb.Form{Version: "v1", Encoding: verb.CBOR})
	if err != nil {
		w.Fatal(err)
	}
	var object any
	if err := direct.Unmarshal(found.Payload, &object); err != nil {
		w.Fatal(err)
	}
	data, err := json.Marshal(object) // which has the numbers and lists of JSON
	if err != nil {
		w.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		w.Fatal(err)
	}
	return w.common(out)
}

func (w writer) common(object map[string]any) map[string]any {
	metadata := object["metadata"].(map[string]any)
	for _, name := range []string{"uid", "creationTimestamp", "resourceVersion", "deletionTimestamp"} {
		delete(metadata, name)
	}
	entries, _ := metadata["managedFields"].([]any)
	for _, entry := range entries {
		delete(entry.(map[string]any), "time")
	}
	// Entries stand in the order of their seconds.
	slices.SortFunc(entries, func(a, b any) int { return strings.Compare(text(a), text(b)) })
	delete(object, "kind")
	delete(object, "apiVersion")
	return object
}
