package flow

import (
	"testing"

	"apigen.dev/runtime/builtin/flowcontrol/preset"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
)

// TestPresets: a server begins with the objects of kube-apiserver.
func TestPresets(t *testing.T) {
	same(t, preset.MandatoryLevels(), bootstrap.MandatoryPriorityLevelConfigurations)
	same(t, preset.SuggestedLevels(), bootstrap.SuggestedPriorityLevelConfigurations)
	same(t, preset.MandatorySchemas(), bootstrap.MandatoryFlowSchemas)
	same(t, preset.SuggestedSchemas(), bootstrap.SuggestedFlowSchemas)
}

func same[T *flowcontrolv1.FlowSchema | *flowcontrolv1.PriorityLevelConfiguration](t *testing.T, ours, theirs []T) {
	t.Helper()
	if !equality.Semantic.DeepEqual(ours, theirs) {
		t.Errorf("%s", diff.Diff(theirs, ours))
	}
}
