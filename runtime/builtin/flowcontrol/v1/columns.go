package v1

import (
	"strconv"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// none is what a column shows in place of a field that isn't there.
const none = "<none>"

// PrecedenceColumn_FlowSchema returns the precedence of a schema.
func PrecedenceColumn_FlowSchema(schema *flowcontrolv1.FlowSchema) int32 {
	return schema.Spec.MatchingPrecedence
}

// DistinguisherColumn_FlowSchema returns what makes the requests of a schema different flows.
func DistinguisherColumn_FlowSchema(schema *flowcontrolv1.FlowSchema) string {
	if schema.Spec.DistinguisherMethod == nil {
		return none
	}
	return string(schema.Spec.DistinguisherMethod.Type)
}

// MissingColumn_FlowSchema reports whether the priority level of a schema is missing; ? if nobody has said so yet.
func MissingColumn_FlowSchema(schema *flowcontrolv1.FlowSchema) string {
	for _, condition := range schema.Status.Conditions {
		if condition.Type == flowcontrolv1.FlowSchemaConditionDangling {
			return string(condition.Status)
		}
	}
	return "?"
}

// AgeColumn_FlowSchema returns when a schema was created.
func AgeColumn_FlowSchema(schema *flowcontrolv1.FlowSchema) (before string, since *metav1.Time, after string) {
	return "", &schema.CreationTimestamp, ""
}

// SharesColumn_PriorityLevelConfiguration returns the shares of a level.
func SharesColumn_PriorityLevelConfiguration(level *flowcontrolv1.PriorityLevelConfiguration) string {
	if limited := level.Spec.Limited; limited != nil && limited.NominalConcurrencyShares != nil {
		return strconv.Itoa(int(*limited.NominalConcurrencyShares))
	}
	return none
}

// QueuesColumn_PriorityLevelConfiguration returns the number of queues of a level.
func QueuesColumn_PriorityLevelConfiguration(level *flowcontrolv1.PriorityLevelConfiguration) string {
	return ofQueuing(level, func(q *flowcontrolv1.QueuingConfiguration) int32 { return q.Queues })
}

// HandColumn_PriorityLevelConfiguration returns among how many queues a flow of a level has the choice.
func HandColumn_PriorityLevelConfiguration(level *flowcontrolv1.PriorityLevelConfiguration) string {
	return ofQueuing(level, func(q *flowcontrolv1.QueuingConfiguration) int32 { return q.HandSize })
}

// LengthColumn_PriorityLevelConfiguration returns the length of the queues of a level.
func LengthColumn_PriorityLevelConfiguration(level *flowcontrolv1.PriorityLevelConfiguration) string {
	return ofQueuing(level, func(q *flowcontrolv1.QueuingConfiguration) int32 { return q.QueueLengthLimit })
}

func ofQueuing(
	level *flowcontrolv1.PriorityLevelConfiguration, field func(*flowcontrolv1.QueuingConfiguration) int32,
) string {
	if limited := level.Spec.Limited; limited != nil && limited.LimitResponse.Queuing != nil {
		return strconv.Itoa(int(field(limited.LimitResponse.Queuing)))
	}
	return none
}

// AgeColumn_PriorityLevelConfiguration returns when a level was created.
func AgeColumn_PriorityLevelConfiguration(
	level *flowcontrolv1.PriorityLevelConfiguration,
) (before string, since *metav1.Time, after string) {
	return "", &level.CreationTimestamp, ""
}
