package v1_test

import (
	"slices"
	"strings"
	"testing"

	apiregistrationv1 "apigen.dev/runtime/builtin/apiregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// prioritized is an APIService with the name version.group.
func prioritized(name string, group, version int32) *apiregistrationv1.APIService {
	v, g, _ := strings.Cut(name, ".")
	return &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: apiregistrationv1.APIServiceSpec{
			Group: g, Version: v, GroupPriorityMinimum: group, VersionPriority: version,
		},
	}
}

func TestByPriority(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []*apiregistrationv1.APIService
		want []string
	}{
		{"nothing", nil, nil},
		{"the greatest priority of a group counts", []*apiregistrationv1.APIService{
			prioritized("v1.a", 10, 1), prioritized("v1.b", 20, 1), prioritized("v2.a", 30, 2),
		}, []string{"v2.a v1.a", "v1.b"}},
		{"names, where groups have one priority", []*apiregistrationv1.APIService{
			prioritized("v2.a", 10, 1), prioritized("v1.c", 10, 1), prioritized("v1.b", 10, 1),
		}, []string{"v1.b", "v1.c", "v2.a"}},
		{"versions of one priority", []*apiregistrationv1.APIService{
			prioritized("foo10.a", 1, 1), prioritized("v11alpha2.a", 1, 1), prioritized("v2.a", 1, 1),
			prioritized("v10beta3.a", 1, 1), prioritized("v10.a", 1, 1), prioritized("foo1.a", 1, 1),
			prioritized("v12alpha1.a", 1, 1), prioritized("v3beta1.a", 1, 1), prioritized("v1.a", 1, 1),
			prioritized("v11beta2.a", 1, 1),
		}, []string{"v10.a v2.a v1.a v11beta2.a v10beta3.a v3beta1.a v12alpha1.a v11alpha2.a foo1.a foo10.a"}},
		{"a priority before a version", []*apiregistrationv1.APIService{
			prioritized("v2.", 1, 1), prioritized("v1alpha1.", 1, 2),
		}, []string{"v1alpha1. v2."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := slices.Clone(c.in)
			var got []string
			for _, group := range apiregistrationv1.ByPriority(c.in) {
				var names []string
				for _, s := range group {
					names = append(names, s.Name)
				}
				got = append(got, strings.Join(names, " "))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if !slices.Equal(c.in, before) {
				t.Error("the argument was changed")
			}
		})
	}
}
