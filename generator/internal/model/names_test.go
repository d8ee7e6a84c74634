package model

import "testing"

func TestCompareVersions(t *testing.T) {
	order := []string{"v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2"}
	for i := range order[1:] {
		if CompareVersions(order[i], order[i+1]) >= 0 || CompareVersions(order[i+1], order[i]) <= 0 {
			t.Errorf("%s doesn't come before %s", order[i], order[i+1])
		}
	}
}
