package capi

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	upstreamv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	upstreamv1beta2 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"example.com/conformance/compare"
	"example.com/conformance/core/v1beta1"
	"example.com/conformance/core/v1beta2"
)

func schemeOf(t *testing.T, adders ...func(*runtime.Scheme) error) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range adders {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestConversions: every kind is converted as by upstream's functions, in both directions, and where those refuse, ours do.
func TestConversions(t *testing.T) {
	theirs := schemeOf(t, upstreamv1beta1.AddToScheme, upstreamv1beta2.AddToScheme)
	ours := schemeOf(t, v1beta1.AddToScheme, v1beta2.AddToScheme)
	converted := 0
	for kind := range ours.KnownTypes(v1beta1.GroupVersion) {
		if !strings.HasPrefix(reflect.TypeOf(created(t, ours, v1beta1.GroupVersion.WithKind(kind))).String(), "*v1beta1.") {
			continue // of apimachinery
		}
		for _, way := range [][2]schema.GroupVersion{
			{v1beta1.GroupVersion, v1beta2.GroupVersion}, {v1beta2.GroupVersion, v1beta1.GroupVersion},
		} {
			from, to := way[0].WithKind(kind), way[1].WithKind(kind)
			for seed := range int64(40) {
				a, b := created(t, theirs, from), created(t, ours, from)
				compare.Fill(seed, a)
				compare.Fill(seed, b)
				x, y := created(t, theirs, to), created(t, ours, to)
				wrong, err := theirs.Convert(a, x, nil), ours.Convert(b, y, nil)
				if (wrong == nil) != (err == nil) {
					t.Fatalf("%s from %s: %v, and upstream %v", kind, from.Version, err, wrong)
				}
				if err != nil {
					continue
				}
				converted++
				if d := compare.Difference(x, y); d != "" {
					t.Fatalf("%s from %s, seed %d: %s", kind, from.Version, seed, d)
				}
			}
		}
	}
	if converted < 500 {
		t.Errorf("only %d objects were converted", converted)
	}
}

func created(t *testing.T, s *runtime.Scheme, gvk schema.GroupVersionKind) runtime.Object {
	t.Helper()
	out, err := s.New(gvk)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
