package omission

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// lamp is an object whose members have defaults: it is lit, three wide, and has two tags.
type lamp struct {
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              lampSpec            `json:"spec,omitempty"`
	Parts             []lampSpec          `json:"parts,omitempty"`
	Named             map[string]lampSpec `json:"named,omitempty"`
	Numbered          map[int]*lampSpec   `json:"numbered,omitempty"`
	Grid              []lampSpec          `json:"grid"`
}

type lampSpec struct {
	Lit   bool              `json:"lit,omitempty"`
	Width int32             `json:"width,omitempty"`
	Tags  []string          `json:"tags,omitempty"`
	Hue   string            `json:"hue,omitempty"`
	Wait  metav1.Duration   `json:"wait,omitempty"`
	Size  resource.Quantity `json:"size,omitempty"`
	Logo  logo              `json:"logo,omitempty"`
	Data  []byte            `json:"data,omitempty"`
	Marks map[string]string `json:"marks,omitempty"`
	Back  *lampSpec         `json:"back,omitempty"`
	Plain string            `json:"plain"`
	Near  *bool             `json:"near,omitempty"`
	Count int64             `json:"count,omitempty,string"`
	Extra map[string]int32  `json:"extra"`
}

type logo struct {
	Name  string   `json:"name"`
	Color string   `json:"color,omitempty"`
	Lines []string `json:"lines,omitempty"`
}

func (l *lamp) setDefaults() {
	l.Spec.setDefaults()
	for i := range l.Parts {
		l.Parts[i].setDefaults()
	}
	for name, part := range l.Named {
		part.setDefaults()
		l.Named[name] = part
	}
	for _, part := range l.Numbered {
		part.setDefaults()
	}
}

func (s *lampSpec) setDefaults() {
	s.Lit = true // as a generated function does where it is false
	if s.Width == 0 {
		s.Width = 3
	}
	if len(s.Tags) == 0 {
		s.Tags = []string{"a", "b"}
	}
	if s.Back != nil {
		s.Back.setDefaults()
	}
}

// read decodes a body as a server does.
func read(t testing.TB, f *Form, body string) *lamp {
	t.Helper()
	l := &lamp{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(body), l); err != nil {
		t.Fatal(err)
	}
	f.Complete(l, []byte(body), l.setDefaults)
	return l
}

func written(t testing.TB, f *Form, l *lamp) map[string]any {
	t.Helper()
	data, err := f.JSON(l)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	delete(out, "metadata")
	return withoutNull(out).(map[string]any)
}

// withoutNull returns decoded JSON without null, which is the value of maps that a body lacks.
func withoutNull(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if v[name] = withoutNull(member); member == nil {
				delete(v, name)
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutNull(v[i])
		}
	}
	return v
}

// TestZerosAreKept: the JSON of an object has the zero values that a client sent, and no others; a default takes the
// place of what is absent alone.
func TestZerosAreKept(t *testing.T) {
	f := FormOf(reflect.TypeFor[*lamp](), Rules{})
	for body, want := range map[string]string{
		`{"spec":{}}`: `{"spec":{"lit":true,"width":3,"tags":["a","b"]}}`,
		`{ "spec" : { "lit" : false , "width" : 0 , "tags" : [ ] } }`: `{"spec":{"lit":false,"width":0,"tags":[]}}`,
		`{"spec":{"width":0,"hue":"","wait":"0s","size":"0","data":"","marks":{},"count":"0"}}`: `{"spec":{` +
			`"lit":true,` +
			`"width":0,"tags":["a","b"],"hue":"","wait":"0s","size":"0","data":"","marks":{},"count":"0"}}`,
		`{"spec":{"width":1,"tags":["c"],"hue":null,"near":false,"logo":{}}}`: `{"spec":{"lit":true,"width":1,` +
			`"tags":["c"],"near":false,"logo":{}}}`,
		`{"spec":{"width":1,"tags":["c"],"logo":{"name":"","color":"","lines":[],"bogus":0}}}`: `{"spec":{"lit":` +
			`true,"width":1,"tags":["c"],"logo":{"name":"","color":"","lines":[]}}}`,
		`{"spec":{"width":1,"tags":["c"],"logo":{"color":"red","lines":[]}}}`: `{"spec":{"lit":true,"width":1,` +
			`"tags":["c"],"logo":{"color":"red","lines":[]}}}`,
		`{"spec":{"width":1,"tags":["c"],"back":{"lit":false,"back":{"width":0}}}}`: `{"spec":{"lit":true,"width":` +
			`1,"tags":["c"],"back":{"lit":false,"width":3,"tags":["a","b"],"back":{"lit":` +
			`true,"width":0,"tags":["a","b"]}}}}`,
		`{"parts":[{"width":1,"tags":["c"]},{"lit":false,"width":2,"tags":[]}]}`: `{"spec":{"lit":true,"width":3,` +
			`"tags":["a","b"],"plain":""},"parts":[{"lit":true,"width":1,"tags":["c"]},{"lit":false,"width":2,` +
			`"tags":[]}]}`, // spec wasn't sent either
		`{"named":{"a\u003c":{"lit":false,"width":0,"tags":["c"]}},"numbered":{"7":{"lit":false,"width":0,"tags":` +
			`["c"]}}}`: `{"spec":{"lit":true,"width":3,"tags":["a","b"],"plain":""},"named":{"a<":{"lit":false,` +
			`"width":0,"tags":["c"]}},"numbered":{"7":{"lit":false,"width":0,"tags":["c"]}}}`,
		`{"named":{"a":null,"b":{"lit":false,"marks":{"c":null,"d":""}}},"numbered":{"1":null},"spec":{"width":1,` +
			`"tags":["c"],"marks":{"a":null},"extra":{"a":null},"back":{"width":1,"tags":["c"],"extra":{"a":0}}}}`: `` +
			`{"spec":{"lit":true,"width":1,"tags":["c"],"marks":{},"extra":{},"back":{"lit":true,` +
			`"width":1,"tags":["c"],"extra":{"a":0}}},` +
			`"named":{"b":{"lit":false,"width":3,"tags":["a","b"],"marks":{"d":""}}},"numbered":{}}`,
		`{"parts":[],"named":{},"spec":{"width":1,"tags":["c"]}}`: `{"spec":{"lit":true,"width":1,"tags":["c"]},` +
			`"parts":[],"named":{}}`,
	} {
		var expected map[string]any
		if err := json.Unmarshal([]byte(want), &expected); err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		l := read(t, f, body)
		if got := written(t, f, l); !reflect.DeepEqual(got, expected) {
			t.Errorf("%s: %v, want %v", body, got, expected)
		}
		// What is stored reads back as it was, in memory and in JSON, and completing it changes nothing.
		data, err := f.JSON(l)
		if err != nil {
			t.Fatal(err)
		}
		again := read(t, f, string(data))
		f.CompleteAgain(again, again.setDefaults)
		if got, err := f.JSON(again); err != nil || string(got) != string(data) {
			t.Errorf("%s: it reads back as %s, want %s (%v)", body, got, data, err)
		}
	}
}

// TestZerosFollowTheirElements: code that sorts, inserts or removes elements, or sets what was zero, leaves zero what
// a client sent so, and what it resets gets a default.
func TestZerosFollowTheirElements(t *testing.T) {
	f := FormOf(reflect.TypeFor[*lamp](), Rules{})
	l := read(t, f, `{"spec":{"lit":false,"width":0},`+
		`"parts":[{"hue":"a","lit":false},{"hue":"b"},{"hue":"c","width":0}],`+
		`"named":{"a":{"lit":false},"b":{"width":0}}}`)
	slices.Reverse(l.Parts)
	l.Parts = append([]lampSpec{{Hue: "d"}}, l.Parts...)
	l.Spec.Width, l.Spec.Tags = 5, nil
	delete(l.Named, "a")
	f.CompleteAgain(l, l.setDefaults)
	var got []any
	for _, part := range l.Parts {
		got = append(got, part.Hue, part.Lit, part.Width)
	}
	want := []any{"d", true, int32(3), "c", true, int32(0), "b", true, int32(3), "a", false, int32(3)}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("parts %v, want %v", got, want)
	}
	if l.Spec.Lit || l.Spec.Width != 5 || len(l.Spec.Tags) != 2 || l.Named["b"].Width != 0 || len(l.Named) != 1 {
		t.Errorf("%+v %+v", l.Spec, l.Named)
	}
	out := written(t, f, l)
	if spec := out["spec"].(map[string]any); spec["lit"] != false || spec["width"] != 5.0 {
		t.Errorf("JSON has %v", spec)
	}
	parts := out["parts"].([]any)
	if a, c := parts[3].(map[string]any), parts[1].(map[string]any); a["lit"] != false || c["width"] != 0.0 {
		t.Errorf("JSON has %v", parts)
	}
}

// TestEqualElementsStay: elements that are equal in Go are told apart by their place.
func TestEqualElementsStay(t *testing.T) {
	f := FormOf(reflect.TypeFor[*lamp](), Rules{})
	const want = `"parts":[{"tags":["c"]},{"tags":["c"]},{"tags":["c"],"hue":""}]}`
	l := read(t, f, `{"parts":[{"tags":["c"]},{"tags":["c"]},{"tags":["c"],"hue":""}]}`)
	for range 2 {
		for i := range l.Parts {
			l.Parts[i].Lit, l.Parts[i].Width = false, 0
		}
		f.CompleteAgain(l, func() {})
		if data, err := f.JSON(l); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s, want %s (%v)", data, want, err)
		}
	}
}

// TestMerge: an object remembers what it was sent of its own members, and what the other one was of the named.
func TestMerge(t *testing.T) {
	f := FormOf(reflect.TypeFor[*lamp](), Rules{})
	to := read(t, f, `{"spec":{"lit":false},"parts":[{"lit":false}]}`)
	from := read(t, f, `{"spec":{"width":0},"parts":[{"width":0}]}`)
	to.Spec = from.Spec
	f.Merge(to, from, "spec")
	spec := written(t, f, to)["spec"].(map[string]any)
	if spec["width"] != 0.0 || spec["lit"] != true {
		t.Errorf("spec %v", spec)
	}
	f.Forget(to, "parts")
	if part := written(t, f, to)["parts"].([]any)[0].(map[string]any); part["lit"] != nil {
		t.Errorf("part %v", part)
	}
	to = read(t, f, `{"spec":{"back":{"lit":false},"hue":""},"parts":[{"lit":false,"hue":""},{"hue":""}]}`)
	from = read(t, f, `{"spec":{"back":{"hue":""},"width":0},"parts":[{"width":0},{"lit":false},{"hue":""}]}`)
	f.Merge(to, from, "parts[*].lit", "spec.back")
	var got SentZeros
	if err := json.Unmarshal([]byte(to.SelfLink), &got); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, path := range []string{"spec.hue", "spec.back.lit", "spec.back.hue", "spec.width", "parts.0.lit",
		"parts.0.hue", "parts.0.width", "parts.1.lit", "parts.1.hue", "parts.2.hue"} {
		at := &got
		for _, name := range strings.Split(path, ".") {
			at = at.At(name)
		}
		if at != nil {
			paths = append(paths, path)
		}
	}
	if want := "[spec.hue spec.back.hue parts.0.hue parts.1.lit parts.1.hue]"; fmt.Sprint(paths) != want {
		t.Errorf("it remembers %s, want %s", paths, want)
	}
	f.Forget(to, "spec")
	f.Forget(to, "parts")
	if to.SelfLink != "" {
		t.Errorf("it remembers %s", to.SelfLink)
	}
}

// TestForeignLinks: a selfLink of another origin is in no JSON, and means nothing. Of another type's object, an object
// has what fits.
func TestForeignLinks(t *testing.T) {
	f := FormOf(reflect.TypeFor[*lamp](), Rules{})
	for _, link := range []string{"/api/v1/lamps/a", "{}", "null", `{"below":null}`,
		`{"below":[{"name":"spec","sent":null}]}`, `{"below":[{"name":"spec"},{"name":"parts"}]}`,
		`{"below":[{"name":"spec","sent":{"below":[{"name":"lit","sent":{"zero":"false"}}]}},` +
			`{"name":"parts","sent":{"zero":"[]"}}]}`, // not in order
		`{"below":[{"name":"spec","sent":{"below":[{"name":"hue","sent":{"zero":"[]"}},{"name":"lit","sent":` +
			`{"zero":"0"}},{"name":"logo","sent":{"zero":"false"}},{"name":"other","sent":{"zero":"0"}},` +
			`{"name":"plain","sent":{"zero":"7"}}]}}]}`} {
		l := read(t, f, `{"spec":{"width":1}}`)
		l.SelfLink = link
		f.CompleteAgain(l, l.setDefaults)
		l.SelfLink = link
		spec := written(t, f, l)["spec"].(map[string]any)
		if len(spec) != 4 || spec["lit"] != true {
			t.Errorf("%s makes %v", link, spec)
		}
	}
}

// keepingForm returns the form of lamps that keep null, and some defaults.
func keepingForm() *Form {
	return FormOf(reflect.TypeFor[*lamp](), Rules{
		Nullable: []string{"spec.logo", "spec.near", "spec.plain", "named[*].back"},
		Defaults: map[string]string{
			"spec.hue": `""`, "spec.wait": `"90s"`, "spec.logo.color": `""`, "spec.width": `7`, "none": `""`,
		},
	})
}

// completed decodes a body, and completes the object with some defaults.
func completed(t *testing.T, f *Form, body string) *lamp {
	t.Helper()
	l := &lamp{}
	if err := json.Unmarshal([]byte(body), l); err != nil {
		t.Fatal(err)
	}
	f.Complete(l, []byte(body), func() {
		if l.Spec.Wait.Duration == 0 {
			l.Spec.Wait.Duration = 90 * time.Second
		}
	})
	return l
}

// TestForms: a text stays in the form in which it was sent, as long as the Go value says the same, wherever it is.
func TestForms(t *testing.T) {
	f := FormOf(reflect.TypeFor[*lamp](), Rules{})
	for body, test := range map[string]struct {
		change func(l *lamp)
		want   string
	}{
		`{"spec":{"wait":"60s","size":"1000m"}}`: {nil, `{"spec":{"wait":"60s","size":"1000m"}}`},
		`{"spec":{"wait":"0m"}}`:                 {nil, `{"spec":{"wait":"0m"}}`},
		`{"spec":{"wait":"1m0s"}}`:               {nil, `{"spec":{"wait":"1m0s"}}`},
		`{"spec":{"size":5,"wait":"60\u0073"}}`:  {nil, `{"spec":{"size":5,"wait":"60s"}}`},
		`{"spec":{"wait":"61s"}}`: {func(l *lamp) { l.Spec.Wait.Duration = time.Minute },
			`{"spec":{"wait":"1m0s"}}`},
		`{"parts":[{"size":"1000m"},{"size":"2000m"}]}`: {func(l *lamp) { slices.Reverse(l.Parts) },
			`{"parts":[{"size":"2000m"},{"size":"1000m"}]}`},
		`{"parts":[{"size":"3000m"},{"size":"4000m"}]}`: {func(l *lamp) { l.Parts = l.Parts[1:] },
			`{"parts":[{"size":"4000m"}]}`},
		`{"named":{"a":{"wait":"60s"},"b":{"wait":"60s"}}}`: {func(l *lamp) {
			b := l.Named["b"]
			b.Wait.Duration++
			l.Named["b"] = b
		}, `{"named":{"a":{"wait":"60s"},"b":{"wait":"1m0.000000001s"}}}`},
	} {
		l, want := &lamp{}, map[string]any{}
		if err := errors.Join(json.Unmarshal([]byte(body), l), json.Unmarshal([]byte(test.want), &want)); err != nil {
			t.Fatal(err)
		}
		f.Complete(l, []byte(body), func() {})
		if test.change != nil {
			test.change(l)
			f.CompleteAgain(l, func() {})
		}
		if got := written(t, f, l); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", body, got, want)
		}
	}
}

// TestWhatNobodySent isn't in JSON, nor in the view of the object, although Go writes zero values of fields without
// omitempty, until code sets them; what is reset then is zero.
func TestWhatNobodySent(t *testing.T) {
	f := FormOf(reflect.TypeFor[*gate](), Rules{Defaults: map[string]string{"width": "3"}})
	for body, test := range map[string]struct {
		change func(g *gate)
		want   string
	}{
		`{}`: {nil, `{"width":3}`},
		`{"at":null,"bars":[{}],"frame":{},"wait":"0s","name":"","width":0}`: {nil,
			`{"bars":[{}],"frame":{},"wait":"0s","name":"","width":0}`},
		`{"name":"","bars":[{"name":""},{"size":0},{}],"bar":{},"named":{"a":{},"b":{"name":""}}}`: {nil,
			`{"name":"","width":3,"bars":[{"name":""},{"size":0},{}],"bar":{},"named":{"a":{},"b":{"name":""}}}`},
		`{"bars":[{"size":0},{"name":"a"}]}`: {func(g *gate) {
			slices.Reverse(g.Bars)
			g.Frame.Size, g.Width = 5, 4
		}, `{"bars":[{"name":"a"},{"size":0}],"frame":{"name":"","size":5},"width":4}`},
	} {
		var g gate
		if err := json.Unmarshal([]byte(body), &g); err != nil {
			t.Fatal(err)
		}
		setDefault := func() { g.Width = max(g.Width, 3) }
		f.Complete(&g, []byte(body), setDefault)
		if test.change != nil {
			test.change(&g)
			f.CompleteAgain(&g, setDefault)
		}
		var got, want map[string]any
		data, err := f.JSON(&g)
		if err := errors.Join(err, json.Unmarshal(data, &got), json.Unmarshal([]byte(test.want), &want)); err != nil {
			t.Fatal(err)
		}
		want["metadata"] = map[string]any{}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s makes %s, want %s", body, data, test.want)
		}
		whole, err := value.NewValueReflect(&g)
		if err != nil {
			t.Fatal(err)
		}
		view, plain := f.Value(&g, whole), value.NewValueInterface(got)
		if !value.Equals(view, plain) || !value.Equals(plain, view) ||
			!value.Equals(value.NewValueInterface(view.Unstructured()), plain) {
			t.Errorf("%s shows %s, and its JSON is %s", body, value.ToString(view), data)
		}
	}
}

// gate has zero values that Go always writes.
type gate struct {
	metav1.ObjectMeta `json:"metadata,omitempty"`
	At                metav1.Time     `json:"at"`
	Wait              metav1.Duration `json:"wait"`
	Name              string          `json:"name"`
	Width             int32           `json:"width"`
	Frame             bar             `json:"frame"`
	Bars              []bar           `json:"bars"`
	Bar               *bar            `json:"bar,omitempty"`
	Named             map[string]bar  `json:"named,omitempty"`
}

type bar struct {
	Name string `json:"name"`
	Size int32  `json:"size"`
}

// TestNullStays in nullable fields, until something takes its place.
func TestNullStays(t *testing.T) {
	f := FormOf(reflect.TypeFor[*lamp](), Rules{
		Nullable: []string{"spec.logo", "spec.near", "spec.plain", "named[*].back"},
	})
	const body = `{"spec":{"hue":"a","logo":null,"near":null,"lit":null,"plain":null},"named":{"a":{"back":null}}}`
	l := completed(t, f, body)
	null, found := map[string]int{}, func() string {
		data, err := f.JSON(l)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for _, name := range []string{"logo", "near", "lit", "plain", "back"} {
		null[name] = strings.Count(found(), `"`+name+`":null`)
	}
	if want := map[string]int{"logo": 1, "near": 1, "lit": 0, "plain": 1, "back": 1}; !reflect.DeepEqual(null, want) {
		t.Errorf("%s has null in %v, want %v", found(), null, want)
	}
	if strings.Contains(found(), `"plain":"`) {
		t.Errorf("what Go writes in the place of null is in %s", found())
	}
	l.Spec.Logo.Name, l.Spec.Near, l.Spec.Plain = "a", new(bool), "b"
	f.CompleteAgain(l, func() {})
	for _, value := range []string{`"near":false`, `"logo":{"name":"a"}`, `"plain":"b"`} {
		if text := found(); !strings.Contains(text, value) {
			t.Errorf("code's value %s is not in %s", value, text)
		}
	}
}

// TestDefaultTexts: a default that is zero, or that Go writes in another form, is as it was written where a client
// leaves the field out, and only there.
func TestDefaultTexts(t *testing.T) {
	f := keepingForm()
	for body, want := range map[string]string{
		`{"spec":{}}`:                          `{"spec":{"hue":"","wait":"90s"}}`,
		`{"spec":{"hue":"a"}}`:                 `{"spec":{"hue":"a","wait":"90s"}}`,
		`{"spec":{"wait":"1m30s"}}`:            `{"spec":{"hue":"","wait":"1m30s"}}`,
		`{"spec":{"hue":null,"wait":"90.0s"}}`: `{"spec":{"hue":"","wait":"90.0s"}}`,
		`{"spec":{"logo":{"name":""}}}`: `{"spec":{"hue":"","wait":"90s",` +
			`"logo":{"name":"","color":""}}}`,
		`{"parts":[{"wait":"1s"},{"hue":"a"}]}`: `{"spec":{"wait":"1m30s","plain":""},` +
			`"parts":[{"wait":"1s","hue":""},{"hue":"a"}]}`,
	} {
		l, expected := completed(t, f, body), map[string]any{}
		if err := json.Unmarshal([]byte(want), &expected); err != nil {
			t.Fatal(err)
		}
		if got := written(t, f, l); !reflect.DeepEqual(got, expected) {
			t.Errorf("%s: %v, want %v", body, got, expected)
		}
	}
	l := &lamp{}
	f.Complete(l, []byte(`{"spec":{}}`), nil)
	if spec := written(t, f, l)["spec"]; !reflect.DeepEqual(spec, map[string]any{}) {
		t.Errorf("an apply's configuration has %v", spec)
	}
}

// FuzzZeros: whatever a client sends that decodes, the JSON of the object has its zero values, is what it was once it
// is read again, and has all that the JSON of its Go value has.
func FuzzZeros(f *testing.F) {
	for _, body := range []string{
		`{"spec":{"lit":false,"width":0,"tags":[],"logo":{"name":""}}}`,
		`{"parts":[{"back":{"hue":""}},{"wait":"0s"}]}`,
		`{"named":{"\"":{"marks":{}}},"numbered":{"-1":{"near":false}}}`, `{"grid":[{"lit":false},{"size":0}]}`,
		`{"spec":{"logo":{"lines":[]},"logo":{"color":""}}}`, `{"spec":{},"spec":{"lit":false}}`,
		`{"spec":{"wait":"60s","size":5,"logo":null},"parts":[{"size":"1000m"},{"wait":"0m"}]}`,
		`{"named":{"a":{"hue":null,"size":1e3},"b":null},"grid":[{"wait":"1h"},{"near":null}]}`,
		"{\"named\":{\"\xd0\":{}}}",
	} {
		f.Add(body)
	}
	form := keepingForm()
	f.Fuzz(func(t *testing.T, body string) {
		l := &lamp{}
		err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(body), l)
		if err != nil || l.SelfLink != "" || !strings.HasPrefix(strings.TrimSpace(body), "{") { // null is no object
			return
		}
		plain, err := json.Marshal(l)
		if err != nil {
			return
		}
		form.Complete(l, []byte(body), func() {})
		data, err := form.JSON(l)
		if err != nil {
			t.Fatal(err)
		}
		var again, bare lamp
		if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &again); err != nil {
			t.Fatalf("%s makes %s: %v", body, data, err)
		}
		if err := json.Unmarshal(data, &map[string]any{}); err != nil {
			t.Fatalf("%s makes %s: %v", body, data, err)
		}
		form.Complete(&again, data, func() {})
		if repeated, err := form.JSON(&again); err != nil || string(repeated) != string(data) {
			t.Errorf("%s makes %s, which makes %s (%v)", body, data, repeated, err)
		}
		bare = again
		bare.SelfLink = ""
		if without, err := json.Marshal(&bare); !strings.Contains(body, "null") && // which a map doesn't keep
			(err != nil || string(without) != string(plain)) {
			t.Errorf("%s makes %s: its Go value has %s, and had %s (%v)", body, data, without, plain, err)
		}
	})
}

// BenchmarkDeep looks for zero values in objects of one size, of which one nests a hundred times as deep.
func BenchmarkDeep(b *testing.B) {
	f := FormOf(reflect.TypeFor[*lamp](), Rules{})
	for _, depth := range []int{50, 5000} {
		body := []byte(`{"spec":` + strings.Repeat(`{"back":`, depth) + `{"tags":[` + strings.Repeat(`"",`, 100_000) +
			`""]}` + strings.Repeat("}", depth+1))
		b.Run(strconv.Itoa(depth), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.zeros.In(body, true)
				f.shape.Omit(body)
			}
		})
	}
}
