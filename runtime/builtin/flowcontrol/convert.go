package flowcontrol

import (
	"apigen.dev/runtime/internal/flow"
	"apigen.dev/runtime/internal/flow/class"
	"apigen.dev/runtime/internal/flow/queue"
	"apigen.dev/runtime/internal/flow/share"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
)

// levelOf returns a priority level as package flow has it. It returns false for one that contradicts itself, which is
// as if it weren't there.
func levelOf(object *flowcontrolv1.PriorityLevelConfiguration) (flow.Level, bool) {
	l := flow.Level{Name: object.Name, UID: string(object.UID)}
	exempt, limited := object.Spec.Exempt, object.Spec.Limited
	isExempt := object.Name == flowcontrolv1.PriorityLevelConfigurationNameExempt
	switch {
	case isExempt && limited == nil && object.Spec.Type == flowcontrolv1.PriorityLevelEnablementExempt:
		l.Share.Exempt = true
		if exempt != nil {
			l.Share.Shares, l.Share.Lendable = value(exempt.NominalConcurrencyShares), value(exempt.LendablePercent)
		}
	case !isExempt && exempt == nil && limited != nil &&
		object.Spec.Type == flowcontrolv1.PriorityLevelEnablementLimited:
		l.Share = share.Level{Shares: value(limited.NominalConcurrencyShares), Lendable: value(limited.LendablePercent)}
		if percent := limited.BorrowingLimitPercent; percent != nil {
			bound := int(*percent)
			l.Share.Borrowing = &bound
		}
		if q := limited.LimitResponse.Queuing; q != nil {
			l.Queues = queue.Config{Queues: int(q.Queues), Length: int(q.QueueLengthLimit), Hand: int(q.HandSize)}
		}
		queues := limited.LimitResponse.Type == flowcontrolv1.LimitResponseTypeQueue
		return l, queues == (limited.LimitResponse.Queuing != nil) && l.Queues.Check() == nil
	default:
		return l, false
	}
	return l, true
}

func value(field *int32) int {
	if field == nil {
		return 0
	}
	return int(*field)
}

// schemaOf returns a flow schema as package flow has it.
func schemaOf(object *flowcontrolv1.FlowSchema) *class.Schema {
	s := &class.Schema{
		Name: object.Name, UID: string(object.UID), Level: object.Spec.PriorityLevelConfiguration.Name,
		Precedence: int(object.Spec.MatchingPrecedence),
	}
	if method := object.Spec.DistinguisherMethod; method != nil {
		switch method.Type {
		case flowcontrolv1.FlowDistinguisherMethodByUserType:
			s.By = class.User
		case flowcontrolv1.FlowDistinguisherMethodByNamespaceType:
			s.By = class.Namespace
		}
	}
	for i := range object.Spec.Rules {
		s.Rules = append(s.Rules, ruleOf(&object.Spec.Rules[i]))
	}
	return s
}

func ruleOf(object *flowcontrolv1.PolicyRulesWithSubjects) (r class.Rule) {
	for _, subject := range object.Subjects {
		switch {
		case subject.Kind == flowcontrolv1.SubjectKindUser && subject.User != nil:
			r.Users = append(r.Users, subject.User.Name)
		case subject.Kind == flowcontrolv1.SubjectKindGroup && subject.Group != nil:
			r.Groups = append(r.Groups, subject.Group.Name)
		case subject.Kind == flowcontrolv1.SubjectKindServiceAccount && subject.ServiceAccount != nil:
			r.Accounts = append(r.Accounts, class.Account{
				Namespace: subject.ServiceAccount.Namespace, Name: subject.ServiceAccount.Name,
			})
		}
	}
	for _, rule := range object.ResourceRules {
		r.Resources = append(r.Resources, class.Resource{
			Verbs: rule.Verbs, Groups: rule.APIGroups, Resources: rule.Resources, Namespaces: rule.Namespaces,
			Cluster: rule.ClusterScope,
		})
	}
	for _, rule := range object.NonResourceRules {
		r.Paths = append(r.Paths, class.Path{Verbs: rule.Verbs, Paths: rule.NonResourceURLs})
	}
	return r
}
