package registry

import "testing"

func TestPathErrors(t *testing.T) {
	for want, got := range map[string]string{
		"spec.steps[0].name: Invalid value: missing field(s): a step has a name": PathErrors(
			[]string{"spec.steps[0].name"}, "missing field(s)", "a step has a name").ToAggregate().Error(),
		"[spec.a: Invalid value: expected exactly one, spec.b: Invalid value: expected exactly one]": PathErrors(
			[]string{"spec.a", "spec.b"}, "expected exactly one", "").ToAggregate().Error(),
		": Invalid value: no good": PathErrors(nil, "no good").ToAggregate().Error(),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
