package codec

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/verb"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// path has lamps, which are lit unless a client says otherwise.
type path struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Lamps             []lamp `json:"lamps,omitempty"`
}

type lamp struct {
	Name string `json:"name"`
	Lit  *bool  `json:"lit,omitempty"`
}

func (p *path) DeepCopyObject() runtime.Object {
	out := *p
	return &out
}

// TestNullInAListStands: null in a list is refused although its element has defaults by the time that rules are
// checked, and although the object had null there before. A required member that was set meanwhile isn't missed.
func TestNullInAListStands(t *testing.T) {
	all, err := Kind[*path]{
		Group: "g.example.com", Kind: "Path", New: func() *path { return &path{} },
		Versions: []Version[*path]{VersionOf(api.VersionInfo{Name: "v1"}, Conversion[*path, *path]{
			New: func() *path { return &path{} }, Custom: true,
			Sent: func() *Sent {
				return &Sent{Members: map[string]*Sent{"lamps": {Elem: &Sent{Required: []string{"name"}}}}}
			},
		})},
	}.Bind("v1")
	if err != nil {
		t.Fatal(err)
	}
	v, lit := &all.Served[0], true
	now := &path{Lamps: []lamp{{Name: "set by admission", Lit: &lit}, {Lit: &lit}}}
	const want = `[lamps[1]: Invalid value: null: lamps[1] in body must be of type object: "null"]`
	for _, old := range []**path{nil, &now} {
		faults := v.SentFaults(verb.Body{Data: []byte(`{"lamps":[{"lit":true},null]}`)})
		if len(faults) != 2 {
			t.Fatalf("the body has faults %v", faults)
		}
		if got := fmt.Sprint(v.Standing(faults, now, old)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestManyNulls: of a million nulls, few are told apart.
func TestManyNulls(t *testing.T) {
	all, err := Kind[*path]{
		Group: "g.example.com", Kind: "Path", New: func() *path { return &path{} },
		Versions: []Version[*path]{VersionOf(api.VersionInfo{Name: "v1"}, Conversion[*path, *path]{
			New: func() *path { return &path{} }, Custom: true,
		})},
	}.Bind("v1")
	if err != nil {
		t.Fatal(err)
	}
	body := `{"lamps":[` + strings.Repeat("null,", mostFaults+10) + `{}]}`
	faults := all.Served[0].SentFaults(verb.Body{Data: []byte(body)})
	const want = "lamps[10000]: Forbidden: it is null, as are 10000 before it"
	if last := len(faults) - 1; last != mostFaults || faults[last].Error() != want {
		t.Errorf("%d faults, the last %v", len(faults), faults[max(last, 0)])
	}
}

// TestMissingTextsStand: a required duration or quantity that a client leaves out is missed, although its zero value is
// written as text. One that a default or admission has set isn't.
func TestMissingTextsStand(t *testing.T) {
	all, err := Kind[*delay]{
		Group: "g.example.com", Kind: "Delay", New: func() *delay { return &delay{} },
		Versions: []Version[*delay]{VersionOf(api.VersionInfo{Name: "v1"}, Conversion[*delay, *delay]{
			New:  func() *delay { return &delay{} },
			Sent: func() *Sent { return &Sent{Required: []string{"timeout", "size"}} },
		})},
	}.Bind("v1")
	if err != nil {
		t.Fatal(err)
	}
	v := &all.Served[0]
	set := delay{Timeout: metav1.Duration{Duration: time.Second}, Size: resource.MustParse("1")}
	for want, now := range map[string]*delay{"[timeout: Required value size: Required value]": {}, "[]": &set} {
		if got := fmt.Sprint(v.Standing(v.SentFaults(verb.Body{Data: []byte(`{}`)}), now, nil)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// delay has values whose zero is text.
type delay struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Timeout           metav1.Duration   `json:"timeout"`
	Size              resource.Quantity `json:"size"`
}

func (d *delay) DeepCopyObject() runtime.Object {
	out := *d
	return &out
}

// lane has a post, which JSON leaves out where it is zero.
type lane struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Post              post   `json:"post,omitzero"`
	More              []more `json:"more,omitempty"`
	Frame             post   `json:"frame,omitzero"`
	Seal              []byte `json:"seal"`
	Hue               string `json:"hue"`
}

type post struct {
	Foot *string `json:"foot,omitempty"`
}

type more struct {
	Post post `json:"post,omitzero"`
}

func (l *lane) DeepCopyObject() runtime.Object {
	out := *l
	return &out
}

// TestWhatIsReadCanBeWritten: an update isn't refused for a required member that the object lacks already, since its Go
// type leaves out the zero value that a client sent. A creation is, and so is an object that the update adds.
func TestWhatIsReadCanBeWritten(t *testing.T) {
	all, err := Kind[*lane]{
		Group: "g.example.com", Kind: "Lane", New: func() *lane { return &lane{} },
		Versions: []Version[*lane]{VersionOf(api.VersionInfo{Name: "v1"}, Conversion[*lane, *lane]{
			New: func() *lane { return &lane{} },
			Sent: func() *Sent {
				inner := &Sent{Required: []string{"post"}}
				return &Sent{
					Required: []string{"post", "seal"},
					Refused:  map[string]Refusal{"hue": {Fault: "is dull"}, "frame": {Fault: "is bare"}},
					Members:  map[string]*Sent{"more": {Elem: inner}},
				}
			},
		})},
	}.Bind("v1")
	if err != nil {
		t.Fatal(err)
	}
	v, stored, longer := &all.Served[0], &lane{More: []more{{}}}, &lane{More: []more{{}, {}}}
	red := &lane{Hue: "red", More: []more{{}}, Frame: post{Foot: new(string)}}
	for _, c := range []struct {
		body, want string
		now        *lane
		old        **lane
	}{
		{
			`{"more":[{}],"seal":null}`,
			"[more[0].post: Required value post: Required value seal: Required value]", stored, nil,
		},
		{`{"post":{},"more":[{"post":{}}],"seal":"YQ=="}`, "[]", stored, nil},
		{`{"more":[{}],"seal":null,"hue":""}`, "[]", stored, &stored},
		{`{"more":[{}],"hue":""}`, `[hue: Invalid value: "": hue in body is dull]`, stored, &red},
		{`{"more":[{}],"frame":{}}`, "[frame: Invalid value: 0: frame in body is bare]", stored, &red},
		{`{"more":[{},{}]}`, "[more[1].post: Required value]", longer, &stored},
	} {
		if got := fmt.Sprint(v.Standing(v.SentFaults(verb.Body{Data: []byte(c.body)}), c.now, c.old)); got != c.want {
			t.Errorf("%s: %s, want %s", c.body, got, c.want)
		}
	}
}

// TestNothingIsSaidOfWhatIsAbsent: rules of the Go value see a zero value where the client sent none, or null.
func TestNothingIsSaidOfWhatIsAbsent(t *testing.T) {
	faults := field.ErrorList{
		field.Required(field.NewPath("spec", "post"), ""),
		field.TypeInvalid(field.NewPath("rows").Index(1), nil, "null"),
		field.Invalid(field.NewPath("hue"), "", "too short"), field.TypeInvalid(field.NewPath("seal"), "", "no base64"),
	}
	var errs field.ErrorList
	for _, path := range []string{
		"spec.post", "spec.post.foot", "spec.posts", "rows[1].name", "rows[10].name", "hue", "seal", "spec",
	} {
		errs = append(errs, field.Invalid(field.NewPath(path), 0, "of the value"))
	}
	var left []string
	for _, e := range AddFaults(WithFaults(t.Context(), faults), errs)[len(faults):] {
		left = append(left, e.Field)
	}
	if want := []string{"spec.posts", "rows[10].name", "hue", "seal", "spec"}; !slices.Equal(left, want) {
		t.Errorf("faults of the value at %v, want %v", left, want)
	}
}

// TestNullableMembers: null is a value of a required member that may be null, and no member isn't. The check of the Go
// value says nothing of it.
func TestNullableMembers(t *testing.T) {
	all, err := Kind[*lane]{
		Group: "g.example.com", Kind: "Lane", New: func() *lane { return &lane{} },
		Versions: []Version[*lane]{VersionOf(api.VersionInfo{Name: "v1"}, Conversion[*lane, *lane]{
			New: func() *lane { return &lane{} }, Custom: true, Nullable: []string{"seal", "more[*].post"},
			Sent: func() *Sent {
				return &Sent{Required: []string{"seal"}, Members: map[string]*Sent{
					"more": {Elem: &Sent{Required: []string{"post"}}},
				}}
			},
		})},
	}.Bind("v1")
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		`{"seal":null,"more":[{"post":null}]}`: "[]",
		`{"more":[{"post":null},{}]}`:          "[more[1].post: Required value seal: Required value]",
	} {
		ctx := WithFaults(t.Context(), all.Served[0].SentFaults(verb.Body{Data: []byte(body)}))
		checked := field.ErrorList{field.Invalid(field.NewPath("more").Index(0).Child("post"), "", "it is empty")}
		if got := fmt.Sprint(AddFaults(ctx, checked)); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

// TestAt: a value is found at the path of a fault, whether a name has dots or not.
func TestAt(t *testing.T) {
	var object any
	const text = `{"a":{"b.c":{"d":1},"b":{"e":2}},"map":{"x.y":3,"[z":4,"0":5},"list":[{"f":6}]}`
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]any{
		"a.b.c.d": 1.0, "a.b.e": 2.0, "map[x.y]": 3.0, "map[[z]": 4.0, "map[0]": 5.0, "list[0].f": 6.0,
		"a.b.f": nil, "a.c": nil, "list[1].f": nil, "list[x]": nil, "map[x].y": nil, "a.b.e.f": nil,
	} {
		if got := at(object, path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}
