package v1_test

import (
	"strings"
	"testing"

	"apigen.dev/runtime/builtin/flowcontrol/preset"
	flowcontrol "apigen.dev/runtime/builtin/flowcontrol/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// isAlone reports whether errs is the one error that has a text, or nothing if the text is "".
func isAlone(errs field.ErrorList, text string) bool {
	if text == "" {
		return len(errs) == 0
	}
	return len(errs) == 1 && strings.Contains(errs[0].Error(), text)
}

// TestSchemas: each row changes a valid schema, and names the error that it gets.
func TestSchemas(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*flowcontrolv1.FlowSchema)
		want   string
	}{
		"as it is": {func(*flowcontrolv1.FlowSchema) {}, ""},
		"no precedence": {func(s *flowcontrolv1.FlowSchema) { s.Spec.MatchingPrecedence = -1 },
			`spec.matchingPrecedence: Invalid value: -1: must be a positive value`},
		"a high precedence": {func(s *flowcontrolv1.FlowSchema) { s.Spec.MatchingPrecedence = 10001 },
			`spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000`},
		"the exempt one's": {func(s *flowcontrolv1.FlowSchema) { s.Spec.MatchingPrecedence = 1 },
			`spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1`},
		"another method": {func(s *flowcontrolv1.FlowSchema) { s.Spec.DistinguisherMethod.Type = "x" },
			`spec.distinguisherMethod.type: Unsupported value: {"Type":"x"}: supported values: "ByNamespace", ` +
				`"ByUser"`},
		"no level": {func(s *flowcontrolv1.FlowSchema) { s.Spec.PriorityLevelConfiguration.Name = "" },
			`spec.priorityLevelConfiguration.name: Required value: must reference a priority level`},
		"no rules": {func(s *flowcontrolv1.FlowSchema) {
			s.Spec.Rules[0].ResourceRules, s.Spec.Rules[0].NonResourceRules = nil, nil
		}, `spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty`},
		"another verb": {func(s *flowcontrolv1.FlowSchema) { s.Spec.Rules[0].ResourceRules[0].Verbs = []string{"fly"} },
			`spec.rules[0].resourceRules[0].verbs: Unsupported value: ["fly"]: supported values: "create", "delete", ` +
				`"deletecollection", "get", "list", "patch", "proxy", "update", "watch"`},
		"all and another verb": {func(s *flowcontrolv1.FlowSchema) {
			s.Spec.Rules[0].ResourceRules[0].Verbs = []string{"*", "get"}
		}, `verbs: Invalid value: ["*","get"]: if '*' is present, must not specify other verbs`},
		"no namespace": {func(s *flowcontrolv1.FlowSchema) {
			s.Spec.Rules[0].ResourceRules[0].Namespaces = nil
			s.Spec.Rules[0].ResourceRules[0].ClusterScope = false
		}, `namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace`},
		"a wrong path": {func(s *flowcontrolv1.FlowSchema) {
			s.Spec.Rules[0].NonResourceRules[0].NonResourceURLs = []string{"/a*"}
		}, `nonResourceURLs[0]: Invalid value: "/a*": wildcard can only do suffix matching`},
		"two subjects in one": {func(s *flowcontrolv1.FlowSchema) {
			s.Spec.Rules[0].Subjects[0].User = &flowcontrolv1.UserSubject{Name: "ann"}
		}, `spec.rules[0].subjects[0].user: Forbidden: user is forbidden when subject kind is not 'User'`},
		"an account without a namespace": {func(s *flowcontrolv1.FlowSchema) {
			s.Spec.Rules[0].Subjects[0] = flowcontrolv1.Subject{Kind: "ServiceAccount",
				ServiceAccount: &flowcontrolv1.ServiceAccountSubject{Name: "*"}}
		}, `serviceAccount.namespace: Required value: must specify namespace for service account`},
		"no subject of its kind": {func(s *flowcontrolv1.FlowSchema) { s.Spec.Rules[0].Subjects[0].Group = nil },
			`spec.rules[0].subjects[0].group: Required value: group is required when subject kind is 'Group'`},
		"a mandatory one": {func(s *flowcontrolv1.FlowSchema) { s.Name = "catch-all" },
			`spec of 'catch-all' must equal the fixed value`},
		"two conditions": {func(s *flowcontrolv1.FlowSchema) {
			s.Status.Conditions = []flowcontrolv1.FlowSchemaCondition{{Type: "a"}, {Type: "a"}}
		}, `status.conditions[1].type: Duplicate value: "a"`},
	} {
		schema := preset.SuggestedSchemas()[8]
		schema.Name = "mine"
		row.change(schema)
		got := flowcontrol.ValidateObject_FlowSchema(t.Context(), schema)
		if !isAlone(got, row.want) {
			t.Errorf("%s: %v, want %s", name, got, row.want)
		}
	}
}

// TestLevels: each row changes a valid level, and names the error that it gets.
func TestLevels(t *testing.T) {
	minus, much := int32(-1), int32(101)
	for name, row := range map[string]struct {
		change func(*flowcontrolv1.PriorityLevelConfiguration)
		want   string
	}{
		"as it is": {func(*flowcontrolv1.PriorityLevelConfiguration) {}, ""},
		"exempt": {func(l *flowcontrolv1.PriorityLevelConfiguration) {
			l.Spec = flowcontrolv1.PriorityLevelConfigurationSpec{Type: "Exempt"}
		}, "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'"},
		"another type": {func(l *flowcontrolv1.PriorityLevelConfiguration) { l.Spec.Type = "x" },
			`spec.type: Unsupported value: "x": supported values: "Exempt", "Limited"`},
		"negative shares": {func(l *flowcontrolv1.PriorityLevelConfiguration) {
			l.Spec.Limited.NominalConcurrencyShares = &minus
		}, `spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer`},
		"all and more": {func(l *flowcontrolv1.PriorityLevelConfiguration) { l.Spec.Limited.LendablePercent = &much },
			`spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive`},
		"a negative bound": {func(l *flowcontrolv1.PriorityLevelConfiguration) {
			l.Spec.Limited.BorrowingLimitPercent = &minus
		}, `borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer`},
		"a large hand": {func(l *flowcontrolv1.PriorityLevelConfiguration) {
			l.Spec.Limited.LimitResponse.Queuing.HandSize = 129
		}, `handSize: Invalid value: 129: should not be greater than queues (128)`},
		"a hand of many bits": {func(l *flowcontrolv1.PriorityLevelConfiguration) {
			l.Spec.Limited.LimitResponse.Queuing.HandSize = 9
		}, `required entropy bits of deckSize 128 and handSize 9 should not be greater than 60`},
		"no length": {func(l *flowcontrolv1.PriorityLevelConfiguration) {
			l.Spec.Limited.LimitResponse.Queuing.QueueLengthLimit = -1
		}, `spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: -1: must be positive`},
		"many queues": {func(l *flowcontrolv1.PriorityLevelConfiguration) {
			*l.Spec.Limited.LimitResponse.Queuing = flowcontrolv1.QueuingConfiguration{Queues: 20000000, HandSize: 1,
				QueueLengthLimit: 1}
		}, `queues: Invalid value: 20000000: must not be greater than 10000000`},
		"a mandatory one": {func(l *flowcontrolv1.PriorityLevelConfiguration) { l.Name = "catch-all" },
			`spec of 'catch-all' must equal the fixed value`},
		"an old annotation": {func(l *flowcontrolv1.PriorityLevelConfiguration) {
			l.Annotations["flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"] = ""
		}, `metadata.annotations: Forbidden: annotation ` +
			`'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares' is forbidden`},
	} {
		level := preset.SuggestedLevels()[5]
		level.Name = "mine"
		row.change(level)
		got := flowcontrol.ValidateObject_PriorityLevelConfiguration(t.Context(), level)
		if !isAlone(got, row.want) {
			t.Errorf("%s: %v, want %s", name, got, row.want)
		}
	}
	exempt := preset.MandatoryLevels()[1]
	*exempt.Spec.Exempt.NominalConcurrencyShares = 7
	if errs := flowcontrol.ValidateObject_PriorityLevelConfiguration(t.Context(), exempt); len(errs) > 0 {
		t.Errorf("other seats of the exempt level: %v", errs)
	}
}

// TestPresets: what a server begins with is valid.
func TestPresets(t *testing.T) {
	for _, level := range append(preset.MandatoryLevels(), preset.SuggestedLevels()...) {
		if errs := flowcontrol.ValidateObject_PriorityLevelConfiguration(t.Context(), level); len(errs) > 0 {
			t.Errorf("%s: %v", level.Name, errs)
		}
	}
	for _, schema := range append(preset.MandatorySchemas(), preset.SuggestedSchemas()...) {
		if errs := flowcontrol.ValidateObject_FlowSchema(t.Context(), schema); len(errs) > 0 {
			t.Errorf("%s: %v", schema.Name, errs)
		}
	}
}
