package codec

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/verb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// street has lamps, which are lit and have a width of 3 unless a client says otherwise. Another version calls the width
// breadth.
type street struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Lamps             []streetLamp `json:"lamps,omitempty"`
	Note              string       `json:"note,omitempty"`
}

type streetLamp struct {
	Name  string `json:"name"`
	Lit   bool   `json:"lit,omitempty"`
	Width int    `json:"width,omitempty"`
}

func (s *street) DeepCopyObject() runtime.Object {
	out := *s
	out.Lamps = slices.Clone(s.Lamps)
	return &out
}

func (s *street) setDefaults() {
	for i := range s.Lamps {
		s.Lamps[i].Lit = true
		if s.Lamps[i].Width == 0 {
			s.Lamps[i].Width = 3
		}
	}
}

type oldStreet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Lamps             []oldLamp `json:"lamps,omitempty"`
	Note              []string  `json:"note,omitempty"`
}

type oldLamp struct {
	Name    string `json:"name"`
	Lit     bool   `json:"lit,omitempty"`
	Breadth int    `json:"breadth,omitempty"`
}

func (s *oldStreet) DeepCopyObject() runtime.Object {
	out := *s
	out.Lamps = slices.Clone(s.Lamps)
	return &out
}

func streets(t *testing.T) *Versions[*street] {
	t.Helper()
	all, err := Kind[*street]{
		Group: "g.example.com", Kind: "Street", New: func() *street { return &street{} },
		Versions: []Version[*street]{
			VersionOf(api.VersionInfo{Name: "v1"}, Conversion[*street, *street]{
				New: func() *street { return &street{} }, Default: (*street).setDefaults, Custom: true,
			}),
			VersionOf(api.VersionInfo{Name: "v1beta1"}, Conversion[*street, *oldStreet]{
				New: func() *oldStreet { return &oldStreet{} }, Custom: true,
				ToHub: func(in *oldStreet, out *street) error {
					out.ObjectMeta, out.Note = in.ObjectMeta, strings.Join(in.Note, " ")
					for _, lamp := range in.Lamps {
						out.Lamps = append(out.Lamps, streetLamp{lamp.Name, lamp.Lit, lamp.Breadth})
					}
					return nil
				},
				FromHub: func(in *street, out *oldStreet) error {
					out.ObjectMeta, out.Note = in.ObjectMeta, strings.Fields(in.Note)
					for _, lamp := range in.Lamps {
						out.Lamps = append(out.Lamps, oldLamp{lamp.Name, lamp.Lit, lamp.Width})
					}
					return nil
				},
			}),
		},
	}.Bind("v1")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestVersionsKeepZeros: a zero value that is sent in one version is in what is stored, and in the other version, where
// both have the field under one name and of one type. A field of another name gets the default. The author's code may
// sort lists in between, and nobody sees what the object remembers.
func TestVersionsKeepZeros(t *testing.T) {
	all := streets(t)
	const lamps = `"lamps":[{"name":"b","lit":false},{"name":"a"}]`
	for version, c := range map[string]struct{ body, stored, v1beta1 string }{
		"v1": {
			`{` + lamps + `,"note":""}`,
			`"lamps":[{"name":"a","lit":true,"width":3},{"name":"b","width":3,"lit":false}],"note":""}`,
			`"lamps":[{"name":"a","lit":true,"breadth":3},{"name":"b","breadth":3,"lit":false}]}`,
		},
		"v1beta1": {
			`{"lamps":[{"name":"b","lit":false,"breadth":0},{"name":"a","lit":true}],"note":[]}`,
			`"lamps":[{"name":"a","lit":true,"width":3},{"name":"b","width":3,"lit":false}]}`,
			`"lamps":[{"name":"a","lit":true,"breadth":3},{"name":"b","breadth":3,"lit":false}]}`,
		},
	} {
		v := all.ByKey(version)
		body := verb.Body{Version: version, Data: []byte(`{` + v.Head + c.body[1:])}
		obj, _, err := v.DecodeBody(all.NewHub(), body)
		if err == nil && v != all.Storage {
			obj, err = all.ToStorageVersion(obj)
		}
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(obj.Lamps, func(a, b streetLamp) int { return strings.Compare(a.Name, b.Name) })
		data, err := all.EncodeStored(obj)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(string(data), c.stored) || strings.Contains(string(data), "selfLink") {
			t.Errorf("in %s, %s is stored as %s, want %s", version, c.body, data, c.stored)
		}
		stored, err := rendition.New(data, all.Storage.Head)
		if err != nil {
			t.Fatal(err)
		}
		r, err := all.Render(stored, verb.Form{Version: "v1beta1"})
		if got := string(rendition.Whole(r)); err != nil || !strings.HasSuffix(got, c.v1beta1) ||
			strings.Contains(got, "selfLink") {
			t.Errorf("in v1beta1, %s is %s, want %s (%v)", data, got, c.v1beta1, err)
		}
	}
}

// TestKeysAreToldApart: an item without its key isn't a duplicate of one whose key is empty.
func TestKeysAreToldApart(t *testing.T) {
	var object any
	if err := json.Unmarshal([]byte(`{"all":{"a.b":[{},{"name":""},{"name":"","n":1},{"n":1},{"name":""},{}]}}`),
		&object); err != nil {
		t.Fatal(err)
	}
	for index, want := range []bool{true, true, false, false, false, false} {
		path := fmt.Sprintf("all[a.b][%d]", index)
		if got := isDistinct(object, path, map[string]any{"name": ""}); got != want {
			t.Errorf("%s is distinct: %t", path, got)
		}
	}
	for _, path := range []string{"", "all", "all[a.b]", "all[a.b][6]", "all[a.b][x]", "none[0]"} {
		if isDistinct(object, path, map[string]any{"name": ""}) {
			t.Errorf("%q is distinct", path)
		}
	}
	if !isDistinct(object, "all[a.b][2]", map[string]any{"name": "", "n": 1}) {
		t.Error("another key counts as well")
	}
}

// TestSentLinks: a selfLink that a client sends is in nothing that it gets back, and means nothing.
func TestSentLinks(t *testing.T) {
	all := streets(t)
	link, err := json.Marshal(`{"below":[{"name":"note","sent":{"zero":"\"\""}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	for version, head := range map[string]string{"v1": all.Storage.Head, "v1beta1": all.ByKey("v1beta1").Head} {
		body := verb.Body{Version: version, Data: []byte(`{` + head + `"metadata":{"selfLink":` + string(link) + `}}`)}
		obj, _, err := all.DecodeBody(body)
		if err != nil {
			t.Fatal(err)
		}
		if data, err := all.EncodeStored(obj); err != nil || strings.Contains(string(data), "note") ||
			strings.Contains(string(data), "selfLink") {
			t.Errorf("in %s: %s, %v", version, data, err)
		}
	}
}
