package wardle

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	theirs "k8s.io/sample-apiserver/pkg/apis/wardle"
	theirsinstall "k8s.io/sample-apiserver/pkg/apis/wardle/install"
	theirsv1alpha1 "k8s.io/sample-apiserver/pkg/apis/wardle/v1alpha1"
	theirsv1beta1 "k8s.io/sample-apiserver/pkg/apis/wardle/v1beta1"
	"sigs.k8s.io/randfill"

	"example.com/conformance/compare"
	ours "example.com/conformance/pkg/apis/wardle"
	oursinstall "example.com/conformance/pkg/apis/wardle/install"
	oursv1alpha1 "example.com/conformance/pkg/apis/wardle/v1alpha1"
	oursv1beta1 "example.com/conformance/pkg/apis/wardle/v1beta1"
)

const rounds = 300

// kinds of references, some of which hand-written functions know.
var references = []string{"Flunder", "Fischer", "Other", ""}

func reference[T ~string](v *T, c randfill.Continue) { *v = T(references[c.Intn(len(references))]) }

func fill(seed int64, object any) {
	compare.Fill(seed, object,
		reference[ours.ReferenceType], reference[oursv1alpha1.ReferenceType], reference[oursv1beta1.ReferenceType],
		reference[theirs.ReferenceType], reference[theirsv1alpha1.ReferenceType], reference[theirsv1beta1.ReferenceType])
}

func schemes() (mine, upstream *runtime.Scheme) {
	mine, upstream = runtime.NewScheme(), runtime.NewScheme()
	oursinstall.Install(mine)
	theirsinstall.Install(upstream)
	return mine, upstream
}

func TestSameKinds(t *testing.T) {
	mine, upstream := schemes()
	if len(mine.AllKnownTypes()) != len(upstream.AllKnownTypes()) {
		t.Errorf("%d and %d kinds", len(mine.AllKnownTypes()), len(upstream.AllKnownTypes()))
	}
	for gvk := range upstream.AllKnownTypes() {
		if !mine.Recognizes(gvk) {
			t.Errorf("%s is not registered", gvk)
		}
	}
}

// eachKind calls the function with fuzzed objects of all kinds.
func eachKind(t *testing.T, check func(t *testing.T, mine, upstream runtime.Object)) {
	mine, upstream := schemes()
	for gvk, typ := range upstream.AllKnownTypes() {
		if !strings.HasPrefix(typ.PkgPath(), "k8s.io/sample-apiserver/") {
			continue // of apimachinery: the same in both
		}
		t.Run(gvk.Version+"."+gvk.Kind, func(t *testing.T) {
			for seed := range int64(rounds) {
				a, err := mine.New(gvk)
				if err != nil {
					t.Fatal(err)
				}
				b, err := upstream.New(gvk)
				if err != nil {
					t.Fatal(err)
				}
				fill(seed, a)
				fill(seed, b)
				if d := compare.Difference(a, b); d != "" {
					t.Fatalf("the input differs: %s", d)
				}
				check(t, a, b)
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}

func TestCopies(t *testing.T) {
	eachKind(t, func(t *testing.T, mine, upstream runtime.Object) {
		a, b := mine.DeepCopyObject(), upstream.DeepCopyObject()
		if d := compare.Difference(a, b); d != "" {
			t.Errorf("copies differ: %s", d)
		}
		if d := compare.Difference(a, mine); d != "" {
			t.Errorf("the copy differs from the original: %s", d)
		}
		if s := compare.Shared(mine, a); s != "" {
			t.Errorf("shared: %s", s)
		}
	})
}

func TestDefaults(t *testing.T) {
	mine, upstream := schemes()
	eachKind(t, func(t *testing.T, a, b runtime.Object) {
		mine.Default(a)
		upstream.Default(b)
		if d := compare.Difference(a, b); d != "" {
			t.Errorf("defaults differ: %s", d)
		}
		again := a.DeepCopyObject()
		mine.Default(again)
		if d := compare.Difference(a, again); d != "" {
			t.Errorf("what is defaulted twice changes: %s", d)
		}
	})
}

func TestDefaultsAreSet(t *testing.T) {
	in := oursv1alpha1.FlunderList{Items: []oursv1alpha1.Flunder{{Spec: oursv1alpha1.FlunderSpec{Reference: "x"}}}}
	oursv1alpha1.SetObjectDefaults_FlunderList(&in)
	if got := in.Items[0].Spec.ReferenceType; got == nil || *got != oursv1alpha1.FlunderReferenceType {
		t.Errorf("the reference's type is %v", got)
	}
	var _, _ func(*runtime.Scheme) error = oursv1alpha1.RegisterDefaults, oursv1beta1.RegisterDefaults
}

// conversions are the functions of both, by the package of the spoke.
var conversions = []struct{ mine, upstream any }{
	{oursv1alpha1.Convert_v1alpha1_Fischer_To_wardle_Fischer, theirsv1alpha1.Convert_v1alpha1_Fischer_To_wardle_Fischer},
	{oursv1alpha1.Convert_wardle_Fischer_To_v1alpha1_Fischer, theirsv1alpha1.Convert_wardle_Fischer_To_v1alpha1_Fischer},
	{oursv1alpha1.Convert_v1alpha1_FischerList_To_wardle_FischerList, theirsv1alpha1.Convert_v1alpha1_FischerList_To_wardle_FischerList},
	{oursv1alpha1.Convert_wardle_FischerList_To_v1alpha1_FischerList, theirsv1alpha1.Convert_wardle_FischerList_To_v1alpha1_FischerList},
	{oursv1alpha1.Convert_v1alpha1_Flunder_To_wardle_Flunder, theirsv1alpha1.Convert_v1alpha1_Flunder_To_wardle_Flunder},
	{oursv1alpha1.Convert_wardle_Flunder_To_v1alpha1_Flunder, theirsv1alpha1.Convert_wardle_Flunder_To_v1alpha1_Flunder},
	{oursv1alpha1.Convert_v1alpha1_FlunderList_To_wardle_FlunderList, theirsv1alpha1.Convert_v1alpha1_FlunderList_To_wardle_FlunderList},
	{oursv1alpha1.Convert_wardle_FlunderList_To_v1alpha1_FlunderList, theirsv1alpha1.Convert_wardle_FlunderList_To_v1alpha1_FlunderList},
	{oursv1alpha1.Convert_v1alpha1_FlunderSpec_To_wardle_FlunderSpec, theirsv1alpha1.Convert_v1alpha1_FlunderSpec_To_wardle_FlunderSpec},
	{oursv1alpha1.Convert_wardle_FlunderSpec_To_v1alpha1_FlunderSpec, theirsv1alpha1.Convert_wardle_FlunderSpec_To_v1alpha1_FlunderSpec},
	{oursv1alpha1.Convert_v1alpha1_FlunderStatus_To_wardle_FlunderStatus, theirsv1alpha1.Convert_v1alpha1_FlunderStatus_To_wardle_FlunderStatus},
	{oursv1alpha1.Convert_wardle_FlunderStatus_To_v1alpha1_FlunderStatus, theirsv1alpha1.Convert_wardle_FlunderStatus_To_v1alpha1_FlunderStatus},
	{oursv1beta1.Convert_v1beta1_Flunder_To_wardle_Flunder, theirsv1beta1.Convert_v1beta1_Flunder_To_wardle_Flunder},
	{oursv1beta1.Convert_wardle_Flunder_To_v1beta1_Flunder, theirsv1beta1.Convert_wardle_Flunder_To_v1beta1_Flunder},
	{oursv1beta1.Convert_v1beta1_FlunderList_To_wardle_FlunderList, theirsv1beta1.Convert_v1beta1_FlunderList_To_wardle_FlunderList},
	{oursv1beta1.Convert_wardle_FlunderList_To_v1beta1_FlunderList, theirsv1beta1.Convert_wardle_FlunderList_To_v1beta1_FlunderList},
	{oursv1beta1.Convert_v1beta1_FlunderSpec_To_wardle_FlunderSpec, theirsv1beta1.Convert_v1beta1_FlunderSpec_To_wardle_FlunderSpec},
	{oursv1beta1.Convert_wardle_FlunderSpec_To_v1beta1_FlunderSpec, theirsv1beta1.Convert_wardle_FlunderSpec_To_v1beta1_FlunderSpec},
	{oursv1beta1.Convert_v1beta1_FlunderStatus_To_wardle_FlunderStatus, theirsv1beta1.Convert_v1beta1_FlunderStatus_To_wardle_FlunderStatus},
	{oursv1beta1.Convert_wardle_FlunderStatus_To_v1beta1_FlunderStatus, theirsv1beta1.Convert_wardle_FlunderStatus_To_v1beta1_FlunderStatus},
}

// TestConversions calls each function on the same input and the same garbage where the output goes.
func TestConversions(t *testing.T) {
	for _, c := range conversions {
		mine, upstream := reflect.ValueOf(c.mine), reflect.ValueOf(c.upstream)
		t.Run(mine.Type().In(0).String()+" to "+mine.Type().In(1).String(), func(t *testing.T) {
			for seed := range int64(rounds) {
				a, b := convert(t, mine, seed), convert(t, upstream, seed)
				if d := compare.Difference(a, b); d != "" {
					t.Fatalf("seed %d: %s", seed, d)
				}
			}
		})
	}
}

func convert(t *testing.T, fn reflect.Value, seed int64) any {
	in, out := reflect.New(fn.Type().In(0).Elem()), reflect.New(fn.Type().In(1).Elem())
	fill(seed, in.Interface())
	fill(-1-seed, out.Interface())
	scope := reflect.Zero(reflect.TypeFor[conversion.Scope]())
	if err := fn.Call([]reflect.Value{in, out, scope})[0]; !err.IsNil() {
		t.Fatal(err)
	}
	return out.Interface()
}

// TestConversionsOfScheme converts each kind of a version to the hub and back, as a server does.
func TestConversionsOfScheme(t *testing.T) {
	mine, upstream := schemes()
	eachKind(t, func(t *testing.T, a, b runtime.Object) {
		for _, version := range []string{"__internal", "v1alpha1", "v1beta1"} {
			ma, errA := mine.UnsafeConvertToVersion(a.DeepCopyObject(), groupVersion(version))
			mb, errB := upstream.UnsafeConvertToVersion(b.DeepCopyObject(), groupVersion(version))
			if (errA == nil) != (errB == nil) {
				t.Fatalf("to %s: %v and %v", version, errA, errB)
			}
			if errA != nil {
				continue
			}
			if d := compare.Difference(ma, mb); d != "" {
				t.Errorf("to %s: %s", version, d)
			}
		}
	})
}
