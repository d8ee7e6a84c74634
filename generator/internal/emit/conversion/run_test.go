//go:build !update

// With the tag, goldens that do not compile can be written anew: go test -tags update -run Golden -update.

package conversion

import (
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"apigen.dev/generator/internal/emit/conversion/testdata/cross/app"
	appv1 "apigen.dev/generator/internal/emit/conversion/testdata/cross/app/v1"
	basehub "apigen.dev/generator/internal/emit/conversion/testdata/cross/base"
	basev1 "apigen.dev/generator/internal/emit/conversion/testdata/cross/base/v1"
	externalhub "apigen.dev/generator/internal/emit/conversion/testdata/external/hub"
	_ "apigen.dev/generator/internal/emit/conversion/testdata/external/hub/v1"
	externalv1 "apigen.dev/generator/internal/emit/conversion/testdata/external/types/v1"
	flatv1 "apigen.dev/generator/internal/emit/conversion/testdata/flat/v1"
	flatv1beta1 "apigen.dev/generator/internal/emit/conversion/testdata/flat/v1beta1"
	methodsv1 "apigen.dev/generator/internal/emit/conversion/testdata/methods/v1"
	methodsv1beta1 "apigen.dev/generator/internal/emit/conversion/testdata/methods/v1beta1"
	"apigen.dev/generator/internal/emit/conversion/testdata/shop"
	shopv1beta1 "apigen.dev/generator/internal/emit/conversion/testdata/shop/v1beta1"
)

func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{shopv1beta1.AddToScheme, flatv1beta1.SchemeBuilder.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// filler fills with what the spoke can hold.
func filler(seed int64) *randfill.Filler {
	return randfill.NewWithSeed(seed).NilChance(0.3).NumElements(0, 3).MaxDepth(8).Funcs(
		func(v *int, c randfill.Continue) { *v = int(c.Int31()) },
		func(v *int64, c randfill.Continue) { *v = int64(c.Int31()) },
		func(v *metav1.Time, c randfill.Continue) {},
		func(v *metav1.FieldsV1, c randfill.Continue) {},
		func(v *runtime.RawExtension, c randfill.Continue) {},
		func(v *labels.Selector, c randfill.Continue) { *v = labels.SelectorFromSet(labels.Set{"a": "b"}) },
		func(v *shop.BookSpec, c randfill.Continue) {
			c.FillNoCustom(v)
			v.Cached, v.Computed = "", 0
			if v.Optional == nil {
				v.Optional = new(string)
			}
			if v.MaybeCover == nil {
				v.MaybeCover = new(shop.Cover)
			}
		},
		func(v *shop.BookStatus, c randfill.Continue) { v.Sold, v.Returned = c.Int31(), c.Int31() },
	)
}

func TestRoundTrip(t *testing.T) {
	scheme := newScheme(t)
	for seed := range int64(200) {
		var before, after shop.BookList
		var spoke shopv1beta1.BookList
		filler(seed).Fill(&before)
		if err := scheme.Convert(&before, &spoke, nil); err != nil {
			t.Fatal(err)
		}
		if err := scheme.Convert(&spoke, &after, nil); err != nil {
			t.Fatal(err)
		}
		before.TypeMeta = metav1.TypeMeta{}
		for i := range before.Items {
			before.Items[i].TypeMeta = metav1.TypeMeta{}
		}
		if !reflect.DeepEqual(before, after) {
			t.Fatalf("seed %d: %s", seed, cmp.Diff(before, after))
		}
	}
}

func TestRoundTripWithoutInternalPackage(t *testing.T) {
	scheme := newScheme(t)
	before := flatv1beta1.LampList{Items: []flatv1beta1.Lamp{{
		ObjectMeta: metav1.ObjectMeta{Name: "desk"},
		Spec:       flatv1beta1.LampSpec{Watts: 40, Bulbs: []flatv1beta1.Bulb{{Socket: "E27"}}},
	}}}
	var hub flatv1.LampList
	var after flatv1beta1.LampList
	if err := scheme.Convert(&before, &hub, nil); err != nil {
		t.Fatal(err)
	}
	if got := hub.Items[0].Spec.Bulbs[0].Socket; got != "E27" {
		t.Errorf("the hub's socket is %q", got)
	}
	if err := scheme.Convert(&hub, &after, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
}

func TestTypeMetaStays(t *testing.T) {
	in := shopv1beta1.Book{TypeMeta: metav1.TypeMeta{Kind: "Book", APIVersion: "shop.example.com/v1beta1"}}
	in.Status.Sales = "0/0"
	out := shop.Book{TypeMeta: metav1.TypeMeta{Kind: "kept"}}
	if err := shopv1beta1.Convert_v1beta1_Book_To_shop_Book(&in, &out, nil); err != nil {
		t.Fatal(err)
	}
	if got, want := out.TypeMeta, (metav1.TypeMeta{Kind: "kept"}); got != want {
		t.Errorf("TypeMeta became %+v", got)
	}
}

func TestNilAndEmpty(t *testing.T) {
	in := shopv1beta1.BookSpec{Chapters: []shopv1beta1.Chapter{}, ByName: map[string]shopv1beta1.Chapter{}}
	out := shop.BookSpec{Names: []string{"before"}, First: &shop.Chapter{}, Required: "before", Count: 7,
		SureCover: shop.Cover{Color: "red"}}
	if err := shopv1beta1.Convert_v1beta1_BookSpec_To_shop_BookSpec(&in, &out, nil); err != nil {
		t.Fatal(err)
	}
	switch {
	case out.Chapters == nil || out.ByName == nil:
		t.Error("an empty slice or map became nil")
	case out.Names != nil || out.First != nil || out.Matrix != nil:
		t.Error("nil left what was there")
	case out.Required != "" || out.Count != 0 || out.SureCover.Color != "":
		t.Error("a nil pointer left the value that was there")
	case out.Optional == nil || *out.Optional != "":
		t.Error("an empty string became no pointer to one")
	}
}

func TestTooLargeForTheSpoke(t *testing.T) {
	in := shop.BookSpec{Weight: 1 << 40, Selector: labels.Everything()}
	err := shopv1beta1.Convert_shop_BookSpec_To_v1beta1_BookSpec(&in, &shopv1beta1.BookSpec{}, nil)
	if err == nil || err.Error() != "shop.BookSpec.Weight: 1099511627776 does not fit int32" {
		t.Errorf("got %v", err)
	}
}

func TestErrorOfHandwrittenFunction(t *testing.T) {
	in := shopv1beta1.BookList{Items: []shopv1beta1.Book{{}}}
	in.Items[0].Status.Sales = "many"
	err := shopv1beta1.Convert_v1beta1_BookList_To_shop_BookList(&in, &shop.BookList{}, nil)
	if err == nil || !strings.Contains(err.Error(), "integer") {
		t.Errorf("got %v", err)
	}
}

func TestFromQuery(t *testing.T) {
	in := url.Values{"name": {"n"}, "color": {"red"}, "follow": {"true"}, "limit": {"3"}, "path": {"a", "b"}}
	out := shopv1beta1.BookOptions{Since: &metav1.Time{}}
	if err := newScheme(t).Convert(&in, &out, nil); err != nil {
		t.Fatal(err)
	}
	limit := int64(3)
	want := shopv1beta1.BookOptions{Name: "n", Color: "red", Follow: true, Limit: &limit, Path: []string{"a", "b"}}
	if diff := cmp.Diff(want, out); diff != "" {
		t.Error(diff)
	}
	if err := newScheme(t).Convert(&url.Values{"limit": {"x"}}, &out, nil); err == nil {
		t.Error("a limit that is no number was taken")
	}
}

func TestFunctionsOfOtherPackages(t *testing.T) {
	in := appv1.App{
		Parts: []basev1.Part{{Name: "a", Count: 2}},
		Units: map[string]basev1.Unit{"b": {Feet: 6}},
		Notes: []basev1.Note{{Text: "c"}},
		Stock: basev1.Stock{"e": 3},
		Mark:  basev1.Mark{Text: "d"},
	}
	hub := app.App{Stock: basehub.Stock{"gone": 1}}
	if err := appv1.Convert_v1_App_To_app_App(&in, &hub, nil); err != nil {
		t.Fatal(err)
	}
	if hub.Units["b"].Meters != 2 || hub.Parts[0].Count != 2 || hub.Notes[0].Text != "c" || hub.Mark.Text != "" ||
		len(hub.Stock) != 1 {
		t.Errorf("the hub is %+v", hub)
	}
	var out appv1.App
	if err := appv1.Convert_app_App_To_v1_App(&hub, &out, nil); err != nil {
		t.Fatal(err)
	}
	in.Mark = basev1.Mark{}
	if diff := cmp.Diff(in, out); diff != "" {
		t.Error(diff)
	}
}

func TestMethodsOfControllerRuntime(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := methodsv1beta1.RegisterConversions(scheme); err != nil {
		t.Fatal(err)
	}
	in := methodsv1beta1.LampList{Items: []methodsv1beta1.Lamp{{Milliwatts: 5000}}}
	var hub methodsv1.LampList
	var out methodsv1beta1.LampList
	if err := scheme.Convert(&in, &hub, nil); err != nil {
		t.Fatal(err)
	}
	if got := hub.Items[0].Watts; got != 5 {
		t.Errorf("the hub has %d watts", got)
	}
	if err := scheme.Convert(&hub, &out, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in, out); diff != "" {
		t.Error(diff)
	}
}

func TestTypesOfAnotherPackage(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := externalv1.SchemeBuilder.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	in := externalhub.Door{Name: "front", Height: 2, Lock: externalhub.Lock{Digits: []byte("123")}}
	var spoke externalv1.Door
	var out externalhub.Door
	if err := scheme.Convert(&in, &spoke, nil); err != nil {
		t.Fatal(err)
	}
	if spoke.Height == nil || *spoke.Height != 2 || spoke.Lock.Code != "123" {
		t.Errorf("the spoke is %+v", spoke)
	}
	if err := scheme.Convert(&spoke, &out, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in, out); diff != "" {
		t.Error(diff)
	}
	var options externalv1.DoorOptions
	if err := scheme.Convert(&url.Values{"wide": {"true"}}, &options, nil); err != nil || !options.Wide {
		t.Errorf("got %+v, %v", options, err)
	}
}
