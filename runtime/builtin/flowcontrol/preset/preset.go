// Package preset has the flow schemas and priority levels with which a server begins, as kube-apiserver's: those that
// every server has, and those that are suggested. It imports nothing of ours.
package preset

import flowcontrolv1 "k8s.io/api/flowcontrol/v1"

// MandatoryLevels returns the priority levels that every server has: one that nothing limits, and one for what matches
// nothing else. The values are the caller's.
func MandatoryLevels() []*flowcontrolv1.PriorityLevelConfiguration {
	exempt := level(flowcontrolv1.PriorityLevelConfigurationNameExempt)
	exempt.Spec.Type = flowcontrolv1.PriorityLevelEnablementExempt
	exempt.Spec.Exempt = &flowcontrolv1.ExemptPriorityLevelConfiguration{
		NominalConcurrencyShares: new(int32), LendablePercent: new(int32),
	}
	return []*flowcontrolv1.PriorityLevelConfiguration{
		limited(flowcontrolv1.PriorityLevelConfigurationNameCatchAll, 5, 0, nil), exempt,
	}
}

// SuggestedLevels returns the levels that administrators may change. The values are the caller's.
func SuggestedLevels() []*flowcontrolv1.PriorityLevelConfiguration {
	return []*flowcontrolv1.PriorityLevelConfiguration{
		limited("system", 30, 33, queuing(64, 6)),          // what keeps a cluster alive, such as kubelets
		limited("node-high", 40, 25, queuing(64, 6)),       // the health of nodes
		limited("leader-election", 10, 0, queuing(16, 4)),  // the leases of controllers
		limited("workload-high", 40, 50, queuing(128, 6)),  // controllers and the scheduler
		limited("workload-low", 100, 90, queuing(128, 6)),  // other service accounts
		limited("global-default", 20, 50, queuing(128, 6)), // everybody else
	}
}

func queuing(queues, hand int32) *flowcontrolv1.QueuingConfiguration {
	return &flowcontrolv1.QueuingConfiguration{Queues: queues, HandSize: hand, QueueLengthLimit: 50}
}

func level(name string) *flowcontrolv1.PriorityLevelConfiguration {
	made := &flowcontrolv1.PriorityLevelConfiguration{}
	made.Name = name
	made.Annotations = map[string]string{flowcontrolv1.AutoUpdateAnnotationKey: "true"}
	return made
}

// limited returns a level that rejects what it has no seats for if queuing is nil.
func limited(
	name string, shares, lendable int32, queuing *flowcontrolv1.QueuingConfiguration,
) *flowcontrolv1.PriorityLevelConfiguration {
	made := level(name)
	made.Spec.Type = flowcontrolv1.PriorityLevelEnablementLimited
	made.Spec.Limited = &flowcontrolv1.LimitedPriorityLevelConfiguration{
		NominalConcurrencyShares: &shares, LendablePercent: &lendable,
		LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeReject},
	}
	if queuing != nil {
		made.Spec.Limited.LimitResponse = flowcontrolv1.LimitResponse{
			Type: flowcontrolv1.LimitResponseTypeQueue, Queuing: queuing,
		}
	}
	return made
}
