package apiservices

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	ours "apigen.dev/runtime/builtin/apiregistration/v1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/install"
	theirs "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/validation"
	"k8s.io/kube-aggregator/pkg/registry/apiservice"
	"k8s.io/kube-aggregator/pkg/registry/apiservice/etcd"
	"sigs.k8s.io/randfill"
)

// objects is how many objects each test compares.
const objects = 20_000

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return scheme
}

// hub converts an object to the internal type of kube-aggregator.
func hub(t *testing.T, scheme *runtime.Scheme, object *theirs.APIService) *apiregistration.APIService {
	t.Helper()
	internal := &apiregistration.APIService{}
	if err := scheme.Convert(object, internal, nil); err != nil {
		t.Fatal(err)
	}
	return internal
}

// moved returns in as another type with the same JSON.
func moved[T any](t *testing.T, in any) *T {
	t.Helper()
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	out := new(T)
	if err := json.Unmarshal(data, out); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return out
}

func text(t *testing.T, in any) string {
	t.Helper()
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Nothing of an object of one type is lost or changed by the other.
func TestJSON(t *testing.T) {
	filler := randfill.NewWithSeed(1).NilChance(0.3).NumElements(0, 3)
	for range objects / 4 {
		original := &theirs.APIServiceList{}
		filler.Fill(original)
		for i := range original.Items {
			original.Items[i].ManagedFields = nil // its timestamps are tested with apimachinery's types
		}
		want := text(t, original)
		if diff := cmp.Diff(want, text(t, moved[ours.APIServiceList](t, original))); diff != "" {
			t.Fatalf("theirs, then ours:\n%s", diff)
		}
		own := &ours.APIServiceList{}
		filler.Fill(own)
		for i := range own.Items {
			own.Items[i].ManagedFields = nil
		}
		if diff := cmp.Diff(text(t, own), text(t, moved[theirs.APIServiceList](t, own))); diff != "" {
			t.Fatalf("ours, then theirs:\n%s", diff)
		}
	}
}

// dice makes APIServices with few faults each.
type dice struct{ *rand.Rand }

func oneOf[T any](d dice, values ...T) T { return values[d.IntN(len(values))] }

// rarely returns fault in one of six cases.
func rarely[T any](d dice, fault, usual T) T {
	if d.IntN(6) == 0 {
		return fault
	}
	return usual
}

func (d dice) service() *theirs.APIService {
	s := &theirs.APIService{}
	s.Spec.Version = rarely(d, oneOf(d, "", "1", "V1", "v1.2", "v1/", "."),
		oneOf(d, "v1", "v2", "v1beta1", "v10", "foo"))
	s.Spec.Group = rarely(d, oneOf(d, "A", "a_b", "-a", "a..b", "a/b", "%", ".", strings.Repeat("a", 254)),
		oneOf(d, "", "a", "b", "shop.example.com"))
	s.Name = rarely(d, oneOf(d, "v1", "a", ".", "..", "v1.a/b", "%"), s.Spec.Version+"."+s.Spec.Group)
	s.GenerateName = rarely(d, oneOf(d, "v1.", ".", "a/%", s.Name), "")
	s.Spec.GroupPriorityMinimum = rarely(d, oneOf[int32](d, -1, 0, 20001), oneOf[int32](d, 1, 2000, 20000))
	s.Spec.VersionPriority = rarely(d, oneOf[int32](d, -1, 0, 1001), oneOf[int32](d, 1, 10, 1000))
	s.Spec.InsecureSkipTLSVerify = d.IntN(4) == 0
	s.Spec.CABundle = oneOf(d, nil, nil, []byte{}, []byte("no certificate"))
	if d.IntN(3) > 0 {
		s.Spec.Service = &theirs.ServiceReference{
			Namespace: rarely(d, "", oneOf(d, "ns", "Not Valid")), Name: rarely(d, "", oneOf(d, "name", "Not Valid")),
		}
		if d.IntN(2) > 0 {
			port := rarely(d, oneOf[int32](d, -1, 0, 65536), oneOf[int32](d, 1, 443, 65535))
			s.Spec.Service.Port = &port
		}
	}
	for range d.IntN(4) {
		s.Status.Conditions = append(s.Status.Conditions, theirs.APIServiceCondition{
			Type:               oneOf(d, theirs.Available, theirs.Available, "", "Other"),
			Status:             rarely(d, oneOf[theirs.ConditionStatus](d, "", "true"), oneOf(d, statuses...)),
			LastTransitionTime: metav1.Unix(int64(d.IntN(5)), 0), Reason: oneOf(d, "", "Reason"),
			Message: oneOf(d, "", "message"),
		})
	}
	return s
}

var statuses = []theirs.ConditionStatus{theirs.ConditionTrue, theirs.ConditionFalse, theirs.ConditionUnknown}

// sorted returns errors as text, sorted: the order of causes is not part of the contract.
func sorted(errs field.ErrorList) []string {
	out := []string{}
	for _, err := range errs {
		out = append(out, fmt.Sprintf("%s: %s", err.Type, err))
	}
	slices.Sort(out)
	return out
}

// Defaults and validation give the same errors, word for word, and so does the validation of a status.
func TestValidation(t *testing.T) {
	scheme, d, valid := newScheme(), dice{rand.New(rand.NewPCG(7, 7))}, 0
	for range objects {
		original := d.service()
		own := moved[ours.APIService](t, original)
		scheme.Default(original)
		ours.SetObjectDefaults_APIService(own)
		if diff := cmp.Diff(text(t, original), text(t, own)); diff != "" {
			t.Fatalf("defaults:\n%s", diff)
		}
		internal := hub(t, scheme, original)
		want := sorted(validation.ValidateAPIService(t.Context(), internal))
		if len(want) == 0 {
			valid++
		}
		if diff := cmp.Diff(want, sorted(own.Validate(t.Context()))); diff != "" {
			t.Fatalf("%s:\n%s", text(t, original), diff)
		}
		want = sorted(validation.ValidateAPIServiceStatus(&internal.Status, field.NewPath("status")))
		if diff := cmp.Diff(want, sorted(own.ValidateStatusUpdate(t.Context(), own))); diff != "" {
			t.Fatalf("%s:\n%s", text(t, original), diff)
		}
	}
	if valid < objects/20 || valid > objects/2 {
		t.Errorf("%d of %d objects were valid", valid, objects)
	}
	t.Logf("%d of %d objects were valid", valid, objects)
}

// A new object is prepared alike, but for the time.
func TestPrepare(t *testing.T) {
	scheme, d := newScheme(), dice{rand.New(rand.NewPCG(8, 8))}
	for range objects / 10 {
		original := d.service()
		own := moved[ours.APIService](t, original)
		internal := hub(t, scheme, original)
		apiservice.NewStrategy(scheme).PrepareForCreate(t.Context(), internal)
		own.PrepareForCreate(t.Context())
		prepared := &theirs.APIService{}
		if err := scheme.Convert(internal, prepared, nil); err != nil {
			t.Fatal(err)
		}
		for i := range prepared.Status.Conditions {
			prepared.Status.Conditions[i].LastTransitionTime = metav1.Time{}
		}
		for i := range own.Status.Conditions {
			own.Status.Conditions[i].LastTransitionTime = metav1.Time{}
		}
		if diff := cmp.Diff(text(t, prepared.Status), text(t, own.Status)); diff != "" {
			t.Fatal(diff)
		}
	}
}

// The columns show the same.
func TestColumns(t *testing.T) {
	scheme, d := newScheme(), dice{rand.New(rand.NewPCG(9, 9))}
	for range objects / 10 {
		original := d.service()
		own := moved[ours.APIService](t, original)
		table, err := (&etcd.REST{}).ConvertToTable(t.Context(), hub(t, scheme, original), nil)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprint(table.Rows[0].Cells[:3]...)
		if got := fmt.Sprint(own.Name, own.ServiceColumn(), own.AvailableColumn()); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

// Setting a condition leaves the same conditions, where the caller says the time.
func TestConditions(t *testing.T) {
	d := dice{rand.New(rand.NewPCG(10, 10))}
	for range objects / 10 {
		original, other := d.service(), d.service()
		own := moved[ours.APIService](t, original)
		for _, c := range other.Status.Conditions {
			c.LastTransitionTime = metav1.Unix(int64(10+d.IntN(5)), 0)
			helper.SetAPIServiceCondition(original, c)
			ours.SetCondition(own, *moved[ours.APIServiceCondition](t, c))
		}
		if diff := cmp.Diff(text(t, original), text(t, own)); diff != "" {
			t.Fatal(diff)
		}
		if helper.IsAPIServiceConditionTrue(original, theirs.Available) != ours.IsAvailable(own) {
			t.Fatal(text(t, original))
		}
	}
}

// Groups and versions are in the same order.
func TestOrder(t *testing.T) {
	d := dice{rand.New(rand.NewPCG(11, 11))}
	for range objects / 10 {
		named := map[string]*theirs.APIService{} // names are unique
		for range d.IntN(12) {
			s := &theirs.APIService{}
			s.Spec.Group, s.Spec.Version = oneOf(d, "", "a", "b", "c"), oneOf(d, "v1", "v2", "v2beta1", "v10", "foo")
			s.Spec.GroupPriorityMinimum, s.Spec.VersionPriority = int32(1+d.IntN(3)), int32(1+d.IntN(2))
			s.Name = s.Spec.Version + "." + s.Spec.Group
			named[s.Name] = s
		}
		var originals []*theirs.APIService
		var own []*ours.APIService
		for _, s := range named {
			originals, own = append(originals, s), append(own, moved[ours.APIService](t, s))
		}
		want, got := "", ""
		for _, group := range helper.SortedByGroupAndVersion(originals) {
			for _, s := range group {
				want += " " + s.Name
			}
			want += ";"
		}
		for _, group := range ours.ByPriority(own) {
			for _, s := range group {
				got += " " + s.Name
			}
			got += ";"
		}
		if got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}
