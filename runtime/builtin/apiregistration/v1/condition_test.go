package v1_test

import (
	"testing"
	"time"

	apiregistrationv1 "apigen.dev/runtime/builtin/apiregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func condition(
	status apiregistrationv1.ConditionStatus, reason string, seconds int64,
) apiregistrationv1.APIServiceCondition {
	return apiregistrationv1.APIServiceCondition{
		Type: apiregistrationv1.Available, Status: status, Reason: reason,
		LastTransitionTime: metav1.Unix(seconds, 0),
	}
}

func TestColumns(t *testing.T) {
	for _, c := range []struct {
		conditions []apiregistrationv1.APIServiceCondition
		want       string
	}{
		{nil, "Unknown"},
		{[]apiregistrationv1.APIServiceCondition{{Type: "Other", Status: "False"}}, "Unknown"},
		{[]apiregistrationv1.APIServiceCondition{condition("True", "Passed", 1)}, "True"},
		{[]apiregistrationv1.APIServiceCondition{condition("False", "", 1)}, "False"},
		{[]apiregistrationv1.APIServiceCondition{condition("False", "Missing", 1)}, "False (Missing)"},
		{[]apiregistrationv1.APIServiceCondition{condition("Unknown", "Lost", 1)}, "Unknown (Lost)"},
	} {
		s := remote()
		s.Status.Conditions = c.conditions
		if got := s.AvailableColumn(); got != c.want {
			t.Errorf("%v: got %q, want %q", c.conditions, got, c.want)
		}
	}
	s := remote()
	if got := s.ServiceColumn(); got != "shop/api" {
		t.Errorf("got %q", got)
	}
	if s.Spec.Service = nil; s.ServiceColumn() != "Local" {
		t.Errorf("got %q", s.ServiceColumn())
	}
	s.CreationTimestamp = metav1.Unix(7, 0)
	if before, since, after := s.AgeColumn(); before != "" || since.Unix() != 7 || after != "" {
		t.Errorf("got %q %v %q", before, since, after)
	}
}

func TestSetCondition(t *testing.T) {
	s := remote()
	s.Status.Conditions = []apiregistrationv1.APIServiceCondition{{Type: "Other", Status: "True"}}
	if apiregistrationv1.ConditionOf(s, apiregistrationv1.Available) != nil || apiregistrationv1.IsAvailable(s) {
		t.Error("a condition that isn't there")
	}
	for _, step := range []struct {
		set     apiregistrationv1.APIServiceCondition
		changed bool
		want    apiregistrationv1.APIServiceCondition
	}{
		{condition("False", "A", 1), true, condition("False", "A", 1)},
		{condition("False", "B", 2), true, condition("False", "B", 1)},
		{condition("False", "B", 3), false, condition("False", "B", 1)},
		{condition("True", "C", 4), true, condition("True", "C", 4)},
	} {
		if got := apiregistrationv1.SetCondition(s, step.set); got != step.changed {
			t.Errorf("%v: changed %v", step.set, got)
		}
		if got := *apiregistrationv1.ConditionOf(s, apiregistrationv1.Available); got != step.want {
			t.Errorf("%v: got %v, want %v", step.set, got, step.want)
		}
	}
	if len(s.Status.Conditions) != 2 || !apiregistrationv1.IsAvailable(s) {
		t.Errorf("%v", s.Status.Conditions)
	}
	c := condition("Unknown", "", 0)
	c.LastTransitionTime = metav1.Time{}
	apiregistrationv1.SetCondition(s, c)
	set := apiregistrationv1.ConditionOf(s, apiregistrationv1.Available)
	if time.Since(set.LastTransitionTime.Time) > time.Minute || apiregistrationv1.IsAvailable(s) {
		t.Errorf("%v", set)
	}
}
