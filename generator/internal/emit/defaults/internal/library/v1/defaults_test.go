package v1

import (
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	"apigen.dev/generator/internal/emit/defaults/internal/library"
	"apigen.dev/generator/internal/emit/defaults/internal/library/shared"
)

func pointer[T any](value T) *T { return &value }

func TestValues(t *testing.T) {
	book := &Book{}
	SetObjectDefaults_Book(book)
	want := Values{String: "plain", Quoted: "quoted \"`\" text", Int: -3, Byte: 250, Float: .5, Bool: true,
		Color: "red", Kube: "kube", Seven: 7}
	if book.Spec.Values != want {
		t.Errorf("got %+v", book.Spec.Values)
	}
	if got := book.Spec.Refs; got.Color != Blue || *got.ColorPtr != Blue || got.Converted != "blue" ||
		got.Shelf != shared.DefaultShelf {
		t.Errorf("got %+v", got)
	}
}

func TestPointersTellUnsetFromZero(t *testing.T) {
	book := &Book{}
	SetObjectDefaults_Book(book)
	p := book.Spec.Pointers
	if *p.String != "plain" || *p.Bool || *p.Zero != 0 || *p.Int != 2 ||
		*p.Color != "green" || *p.Blue != "blue" ||
		*p.Link != "https://example.com" {
		t.Errorf("got %+v", p)
	}
	zero := Pointers{String: pointer(""), Bool: pointer(true), Zero: pointer(int64(1)), Int: pointer(0),
		Color: pointer(Color("")), Blue: pointer(Color("")), Link: pointer("")}
	book = &Book{Spec: BookSpec{Pointers: zero}}
	SetObjectDefaults_Book(book)
	if !reflect.DeepEqual(book.Spec.Pointers, zero) {
		t.Errorf("what was set is lost: %+v", book.Spec.Pointers)
	}
}

func TestJSON(t *testing.T) {
	book := &Book{}
	SetObjectDefaults_Book(book)
	want := JSON{
		List: []string{"a", "b"}, EmptyList: []string{}, EmptyMap: map[string]string{},
		Map:      map[string]Author{"a": {Name: "Ada", Country: "unknown"}},
		Quantity: resource.MustParse("1Gi"), Duration: metav1.Duration{Duration: 5 * time.Minute},
		DurationPtr: &metav1.Duration{Duration: 5 * time.Minute}, IntOrString: intstr.FromString("80%"),
		Port: pointer(intstr.FromInt32(80)), Struct: Optional{Title: "struct", Tags: []string{"x"}},
		EmptyStruct: Optional{Title: "untitled"}, Bytes: []byte("hello"),
		Authors: []Author{{Name: "Ada", Country: "unknown"}, {Name: "anonymous", Calls: 1, Country: "unknown"}},
	}
	if got := book.Spec.JSON; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// An empty default of a pointer brings the defaults inside it; what a function set first is kept.
func TestEmptyObjectAppliesInnerDefaults(t *testing.T) {
	book := &Book{}
	SetObjectDefaults_Book(book)
	if book.Spec.Optional == nil || book.Spec.Optional.Title != "untitled" || book.Spec.Given.Title != "given" {
		t.Errorf("got %+v, %+v", book.Spec.Optional, book.Spec.Given)
	}
	book = &Book{ObjectMeta: metav1.ObjectMeta{Name: "sparse"}}
	SetObjectDefaults_Book(book)
	if book.Spec.Optional.Title != "by function" {
		t.Errorf("got %+v", book.Spec.Optional)
	}
}

func TestFunctionsAtEveryDepth(t *testing.T) {
	book := &Book{ObjectMeta: metav1.ObjectMeta{Name: "title"}, Spec: BookSpec{
		Authors: make([]Author, 2), AuthorPtr: &Author{}, AuthorPtrs: []*Author{nil, {}},
		ByName: map[string]Author{"a": {}}, ByNamePtr: map[string]*Author{"a": {}, "nil": nil},
		ByNames: map[string][]Author{"a": {{}}}, Matrix: [][]Author{{{}}}, Nested: []map[int]Author{{1: {}}},
	}}
	SetObjectDefaults_Book(book)
	want := Author{Name: "anonymous", Calls: 1, Country: "unknown"}
	s := book.Spec
	for where, got := range map[string]Author{
		"slice": s.Authors[1], "pointer": *s.AuthorPtr, "slice of pointers": *s.AuthorPtrs[1], "map": s.ByName["a"],
		"map of pointers": *s.ByNamePtr["a"], "map of slices": s.ByNames["a"][0], "slice of slices": s.Matrix[0][0],
		"slice of maps": s.Nested[0][1], "anonymous struct": s.Anonymous.Author,
		"unexported": s.private,
	} {
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v", where, got)
		}
	}
	if s.Author.Name != "title" || s.Author.Calls != 0 {
		t.Errorf("the parent's function did not run first: %+v", s.Author)
	}
	if s.Place.Room != "hall" || s.Limits["pages"] != 100 {
		t.Errorf("got %+v, %+v", s.Place, s.Limits)
	}
	if !reflect.DeepEqual(s.Covered, Covered{Text: "covered"}) {
		t.Errorf("what a function covers was defaulted: %+v", s.Covered)
	}
}

func TestElements(t *testing.T) {
	book := &Book{Spec: BookSpec{
		Colors: []*Color{nil, pointer(Blue)}, Levels: []Level{0, 1}, Marks: map[int]Level{1: 0, 2: 2},
	}}
	SetObjectDefaults_Book(book)
	s := book.Spec
	if *s.Colors[0] != "green" || *s.Colors[1] != Blue || !reflect.DeepEqual(s.Levels, []Level{3, 1}) ||
		!reflect.DeepEqual(s.Marks, map[int]Level{1: 3, 2: 2}) {
		t.Errorf("got %v %v %v", s.Colors, s.Levels, s.Marks)
	}
}

func TestRecursion(t *testing.T) {
	book := &Book{Spec: BookSpec{Chapters: []Chapter{{Chapters: []Chapter{{
		Notes: map[string]Chapter{"a": {Index: &Index{Chapters: []*Chapter{nil, {}}}}},
	}}}}}}
	SetObjectDefaults_Book(book)
	deep := book.Spec.Chapters[0].Chapters[0].Notes["a"]
	if deep.Title != "chapter" || deep.Index.Page != 1 || deep.Index.Chapters[1].Title != "chapter" {
		t.Errorf("got %+v, %+v", deep, deep.Index)
	}
}

// A type's functions run in the order base, qualified by name; its markers come after them.
func TestOrder(t *testing.T) {
	book := &Book{Status: &Status{}}
	SetObjectDefaults_Book(book)
	if want := []string{"base", "", "early", "later"}; !reflect.DeepEqual(book.Status.Order, want) ||
		book.Status.Phase != "Pending" {
		t.Errorf("got %q, %q", book.Status.Order, book.Status.Phase)
	}
}

func TestTwiceIsOnce(t *testing.T) {
	filler := randfill.NewWithSeed(1).NilChance(.4).NumElements(0, 3).MaxDepth(8).Funcs(
		func(q *resource.Quantity, c randfill.Continue) {
			if c.Bool() {
				*q = resource.MustParse("3")
			}
		},
		func(s *string, c randfill.Continue) {
			if c.Bool() {
				*s = c.String(3)
			}
		})
	for range 200 {
		once := &Book{}
		filler.Fill(once)
		SetObjectDefaults_Book(once)
		twice := once.DeepCopy()
		SetObjectDefaults_Book(twice)
		if !reflect.DeepEqual(once, twice) {
			t.Fatalf("defaulted twice it differs:\n%+v\n%+v", once, twice)
		}
	}
}

func TestScheme(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if err := library.Install(scheme); err != nil {
		t.Fatal(err)
	}
	list := &BookList{Items: []Book{{}, {}}}
	scheme.Default(list)
	if list.Items[1].Spec.Values.String != "plain" {
		t.Error("the scheme does not default lists")
	}
	draft := &Draft{}
	scheme.Default(draft)
	if draft.Author.Name != "" {
		t.Error("a type that wants no defaults got some")
	}
	loose := &Loose{}
	SetObjectDefaults_Loose(loose)
	if loose.Author.Name != "anonymous" {
		t.Error("a type that is asked for has no defaults")
	}
	for _, kind := range []string{"Book", "BookList", "Catalog", "Draft", "ListOptions", "WatchEvent"} {
		if !scheme.Recognizes(SchemeGroupVersion.WithKind(kind)) {
			t.Errorf("the scheme does not know %s", kind)
		}
	}
	if !scheme.Recognizes(library.SchemeGroupVersion.WithKind("Book")) ||
		library.SchemeGroupVersion.Version != runtime.APIVersionInternal {
		t.Error("the scheme does not know the internal version")
	}
	if got := Resource("books").String() + " " + Kind("Book").String(); got !=
		"books.library.example.com Book.library.example.com" {
		t.Errorf("got %s", got)
	}
	if GroupVersion.String() != "library.example.com/v1" || GroupName != "library.example.com" {
		t.Errorf("got %s, %s", GroupVersion, GroupName)
	}
}
