package omission

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/object/fault"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

type nullable struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Texts    []string               `json:"texts,omitempty"`
	Numbers  []int64                `json:"numbers,omitempty"`
	Shares   []float64              `json:"shares,omitempty"`
	Flags    []bool                 `json:"flags,omitempty"`
	Bytes    [][]byte               `json:"bytes,omitempty"`
	Rows     [][]string             `json:"rows,omitempty"`
	Parts    []nullablePart         `json:"parts,omitempty"`
	Pointers []*nullablePart        `json:"pointers,omitempty"`
	Maps     []map[string][]string  `json:"maps,omitempty"`
	Times    []metav1.Time          `json:"times,omitempty"`
	Waits    []metav1.Duration      `json:"waits,omitempty"`
	Raw      []runtime.RawExtension `json:"raw,omitempty"`
	// Any value, a number or a text: null is one, too.
	Ports  []intstr.IntOrString   `json:"ports,omitempty"`
	Sizes  []resource.Quantity    `json:"sizes,omitempty"`
	Values []apiextensionsv1.JSON `json:"values,omitempty"`
	// Allowed are what markers let be null.
	Allowed []string       `json:"allowed,omitempty"`
	Inner   []nullablePart `json:"inner,omitempty"`
	One     *string        `json:"one,omitempty"`

	Own      metav1.FieldsV1            `json:"own,omitzero"`
	Raws     map[string]json.RawMessage `json:"raws,omitempty"`
	Template metav1.ObjectMeta          `json:"template,omitempty"`
}

type nullablePart struct {
	Texts []string `json:"texts,omitempty"`
}

// TestNullItems: null in a list is found, with its path and the type that its schema wants, wherever it stands, but
// not where it is a value or allowed, and not in objects and maps.
func TestNullItems(t *testing.T) {
	form := FormOf(reflect.TypeFor[nullable](), Rules{Nullable: []string{"allowed[*]", "inner[*]", "one"}})
	for body, want := range map[string]string{
		`{"texts":["a",null]}`:                                       "texts[1] string",
		`{"texts":[null,null],"other":[null]}`:                       "texts[0] string, texts[1] string",
		` { "numbers" : [ null ] , "texts" : [ "a" ] }`:              "numbers[0] integer",
		`{"shares":[null]}`:                                          "shares[0] number",
		`{"flags":[null]}`:                                           "flags[0] boolean",
		`{"bytes":[null]}`:                                           "bytes[0] string",
		`{"rows":[null,["a",null]]}`:                                 "rows[0] array, rows[1][1] string",
		`{"parts":[null,{"texts":[null]}]}`:                          "parts[0] object, parts[1].texts[0] string",
		`{"pointers":[null]}`:                                        "pointers[0] object",
		`{"maps":[null,{"a":null,"b":[null]}]}`:                      "maps[0] object, maps[1][b][0] string",
		`{"times":[null]}`:                                           "times[0] string",
		`{"waits":[null]}`:                                           "waits[0] string",
		`{"raw":[null,{"a":[null]}]}`:                                "raw[0] object",
		`{"ports":[null],"values":[null,[null]]}`:                    "ports[0] integer,string",
		`{"sizes":[null]}`:                                           "sizes[0] integer,string",
		`{"allowed":[null],"inner":[null,{"texts":[null]}]}`:         "inner[1].texts[0] string",
		`{"metadata":{"finalizers":[null]},"one":null,"texts":null}`: "",
		`{"texts":["null"],"null":null}`:                             "",
		`{"unknown":{"texts":[null]}}`:                               "",
		`{"texts":[null`:                                             "texts[0] string",
		`null`:                                                       "",
		`[null]`:                                                     "",
		``:                                                           "",
	} {
		var found []string
		form.Nulls([]byte(body), func(at *fault.Place, of string, isItem bool) bool {
			if isItem {
				found = append(found, fmt.Sprint(at.Path(""), " ", of))
			}
			return true
		})
		if got := strings.Join(found, ", "); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
	n := 0
	form.Nulls([]byte(`{"texts":[null,null,null]}`), func(*fault.Place, string, bool) bool {
		n++
		return n < 2
	})
	if n != 2 {
		t.Errorf("the search went on after its end: %d", n)
	}
}

// TestNulls: null in objects and maps is found as well, but not where it is allowed, or where there is no schema.
func TestNulls(t *testing.T) {
	form := FormOf(reflect.TypeFor[nullable](), Rules{
		Nullable: []string{"one", "allowed[*]"}, Schemaless: []string{"inner", "parts[*]"}})
	for body, want := range map[string]string{
		`{"texts":null,"one":null}`:                           "texts array",
		`{"maps":[{"a":null,"b":["x"]}]}`:                     "maps[0][a] array",
		`{"pointers":[{"texts":null}]}`:                       "pointers[0].texts array",
		`{"times":null,"values":null,"allowed":[null]}`:       "times array, values array",
		`{"inner":null}`:                                      "",
		`{"inner":[{"texts":null}]}`:                          "",
		`{"parts":null}`:                                      "parts array",
		`{"parts":[{"texts":[null]},null]}`:                   "",
		`{"own":null,"raws":{"a":null},"template":null}`:      "own object, template object",
		`{"template":{"creationTimestamp":null}}`:             "",
		`{"template":{"labels":null,"ownerReferences":null}}`: "template.labels object",
		`{"metadata":{"labels":null}}`:                        "",
	} {
		var found []string
		form.Nulls([]byte(body), func(at *fault.Place, of string, _ bool) bool {
			found = append(found, fmt.Sprint(at.Path(""), " ", of))
			return true
		})
		if got := strings.Join(found, ", "); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

type waiting struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Wait  metav1.Duration            `json:"wait,omitempty"`
	Later *metav1.Duration           `json:"later,omitempty"`
	Since metav1.Time                `json:"since,omitempty"`
	Size  resource.Quantity          `json:"size,omitempty"`
	Named map[string]metav1.Duration `json:"named,omitempty"`
	Parts []waitingPart              `json:"parts,omitempty"`
	Text  string                     `json:"text,omitempty"`
}

type waitingPart struct {
	Wait metav1.Duration `json:"wait"`
}

// TestDecodable: null in a field of a type that doesn't decode it is no value, and other null stays as it is.
func TestDecodable(t *testing.T) {
	form := FormOf(reflect.TypeFor[waiting](), Rules{})
	for body, want := range map[string]string{
		`{"wait":null,"text":null}`:                 `{"wait":"0s","text":null}`,
		` { "wait" : null , "later" : null } `:      ` { "wait" : "0s" , "later" : null } `,
		`{"since":null,"text":"null"}`:              `{"since":null,"text":"null"}`,
		`{"named":{"a":null,"b":"1s"}}`:             `{"named":{"a":"0s","b":"1s"}}`,
		`{"parts":[{"wait":null},null,{}],"no":[]}`: `{"parts":[{"wait":"0s"},null,{}],"no":[]}`,
		`{"wait":"1s"}`:                             `{"wait":"1s"}`, `null`: `null`, `{"wait":null`: `{"wait":null`,
		`{"metadata":{"creationTimestamp":null}}`: `{"metadata":{"creationTimestamp":null}}`,
	} {
		got := string(form.Decodable([]byte(body)))
		if got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
		if body[0] == '{' && body[len(body)-1] == '}' {
			if err := json.Unmarshal([]byte(got), &waiting{}); err != nil {
				t.Errorf("%s: %v", body, err)
			}
		}
	}
}

// TestFillLists: lists that must be in JSON are empty where they are nil, in all that an object holds.
func TestFillLists(t *testing.T) {
	form := FormOf(reflect.TypeFor[filled](), Rules{Nullable: []string{"null"}})
	in := filled{Parts: []filledPart{{}}, Named: map[string]filledPart{"a": {}}, Other: &filledPart{}}
	form.FillLists(&in)
	data, err := json.Marshal(&in)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"metadata":{},"parts":[{"texts":[]}],"named":{"a":{"texts":[]}},"other":{"texts":[]},"data":null,` +
		`"null":null}`
	if string(data) != want {
		t.Errorf("%s, want %s", data, want)
	}
}

// TestNullInBrokenJSON: what begins as JSON is no reason to panic, wherever it ends.
func TestNullInBrokenJSON(t *testing.T) {
	lists := FormOf(reflect.TypeFor[nullable](), Rules{})
	waits := FormOf(reflect.TypeFor[waiting](), Rules{})
	for _, body := range []string{
		` { "texts" : [ null , "a" ] , "rows" : [ null , [ null ] ] , "parts" : [ null , { "texts" : [ null ] } ] } `,
		`{"maps":[null,{"a":null,"b":[null]}],"texts":null,"text\u0073":[null]}`,
		` { "wait" : null , "named" : { "a" : null } , "parts" : [ null , { "wait" : null } ] } `,
	} {
		for end := range len(body) {
			whole := body[:end]
			for _, begin := range []string{whole, whole + "null", whole + "[", `{"one":null,` + whole} {
				lists.Nulls([]byte(begin), func(*fault.Place, string, bool) bool { return true })
				lists.Decodable([]byte(begin))
				waits.Decodable([]byte(begin))
			}
		}
	}
}

type filled struct {
	metav1.ObjectMeta `json:"metadata"`

	Parts []filledPart          `json:"parts"`
	Named map[string]filledPart `json:"named"`
	Other *filledPart           `json:"other"`
	None  *filledPart           `json:"none,omitempty"`
	Data  []byte                `json:"data"`
	Null  []string              `json:"null"`
	Rest  []string              `json:"rest,omitempty"`
}

type filledPart struct {
	Texts []string `json:"texts"`
}
