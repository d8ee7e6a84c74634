package preset

import flowcontrolv1 "k8s.io/api/flowcontrol/v1"

// The users and groups of the schemas.
const (
	masters           = "system:masters"
	authenticated     = "system:authenticated"
	unauthenticated   = "system:unauthenticated"
	nodes             = "system:nodes"
	serviceAccounts   = "system:serviceaccounts"
	controllerManager = "system:kube-controller-manager"
	scheduler         = "system:kube-scheduler"
	systemNamespace   = "kube-system"
)

const (
	byUser      = flowcontrolv1.FlowDistinguisherMethodByUserType
	byNamespace = flowcontrolv1.FlowDistinguisherMethodByNamespaceType
)

// MandatorySchemas returns the flow schemas that every server has. The values are the caller's.
func MandatorySchemas() []*flowcontrolv1.FlowSchema {
	return []*flowcontrolv1.FlowSchema{
		schema(flowcontrolv1.FlowSchemaNameExempt, flowcontrolv1.PriorityLevelConfigurationNameExempt, 1, "",
			everything(groups(masters))),
		schema(flowcontrolv1.FlowSchemaNameCatchAll, flowcontrolv1.PriorityLevelConfigurationNameCatchAll,
			flowcontrolv1.FlowSchemaMaxMatchingPrecedence, byUser, everything(everybody())),
	}
}

// SuggestedSchemas returns the flow schemas that administrators may change. The values are the caller's.
func SuggestedSchemas() []*flowcontrolv1.FlowSchema {
	leases := func(verbs ...string) flowcontrolv1.ResourcePolicyRule {
		return resources(verbs, "coordination.k8s.io", false, "leases")
	}
	return []*flowcontrolv1.FlowSchema{
		schema("system-nodes", "system", 500, byUser, everything(groups(nodes))),
		schema("system-node-high", "node-high", 400, byUser, rule(groups(nodes),
			resources([]string{"*"}, "", true, "nodes", "nodes/status"), leases("*"))),
		schema("probes", flowcontrolv1.PriorityLevelConfigurationNameExempt, 2, "",
			flowcontrolv1.PolicyRulesWithSubjects{Subjects: everybody(), NonResourceRules: paths(
				[]string{"get"}, "/healthz", "/readyz", "/livez")}),
		schema("system-leader-election", "leader-election", 100, byUser, rule(
			append(users(controllerManager, scheduler), systemAccounts()...), leases("get", "create", "update"))),
		schema("kube-controller-manager", "workload-high", 800, byNamespace, everything(users(controllerManager))),
		schema("kube-scheduler", "workload-high", 800, byNamespace, everything(users(scheduler))),
		schema("kube-system-service-accounts", "workload-high", 900, byNamespace, everything(systemAccounts())),
		schema("service-accounts", "workload-low", 9000, byUser, everything(groups(serviceAccounts))),
		schema("global-default", "global-default", 9900, byUser, everything(everybody())),
	}
}

func schema(
	name, level string, precedence int32, by flowcontrolv1.FlowDistinguisherMethodType,
	rule flowcontrolv1.PolicyRulesWithSubjects,
) *flowcontrolv1.FlowSchema {
	made := &flowcontrolv1.FlowSchema{}
	made.Name = name
	made.Annotations = map[string]string{flowcontrolv1.AutoUpdateAnnotationKey: "true"}
	made.Spec = flowcontrolv1.FlowSchemaSpec{
		PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: level},
		MatchingPrecedence:         precedence, Rules: []flowcontrolv1.PolicyRulesWithSubjects{rule},
	}
	if by != "" {
		made.Spec.DistinguisherMethod = &flowcontrolv1.FlowDistinguisherMethod{Type: by}
	}
	return made
}

func rule(
	subjects []flowcontrolv1.Subject, resources ...flowcontrolv1.ResourcePolicyRule,
) flowcontrolv1.PolicyRulesWithSubjects {
	return flowcontrolv1.PolicyRulesWithSubjects{Subjects: subjects, ResourceRules: resources}
}

// everything returns the rule of all requests of subjects.
func everything(subjects []flowcontrolv1.Subject) flowcontrolv1.PolicyRulesWithSubjects {
	all := rule(subjects, resources([]string{"*"}, "*", true, "*"))
	all.NonResourceRules = paths([]string{"*"}, "*")
	return all
}

func resources(verbs []string, group string, cluster bool, names ...string) flowcontrolv1.ResourcePolicyRule {
	return flowcontrolv1.ResourcePolicyRule{
		Verbs: verbs, APIGroups: []string{group}, Resources: names, Namespaces: []string{"*"}, ClusterScope: cluster,
	}
}

func paths(verbs []string, urls ...string) []flowcontrolv1.NonResourcePolicyRule {
	return []flowcontrolv1.NonResourcePolicyRule{{Verbs: verbs, NonResourceURLs: urls}}
}

func everybody() []flowcontrolv1.Subject { return groups(unauthenticated, authenticated) }

func groups(names ...string) (all []flowcontrolv1.Subject) {
	for _, name := range names {
		all = append(all, flowcontrolv1.Subject{
			Kind: flowcontrolv1.SubjectKindGroup, Group: &flowcontrolv1.GroupSubject{Name: name},
		})
	}
	return all
}

func users(names ...string) (all []flowcontrolv1.Subject) {
	for _, name := range names {
		all = append(all, flowcontrolv1.Subject{
			Kind: flowcontrolv1.SubjectKindUser, User: &flowcontrolv1.UserSubject{Name: name},
		})
	}
	return all
}

// systemAccounts are the service accounts of kube-system.
func systemAccounts() []flowcontrolv1.Subject {
	return []flowcontrolv1.Subject{{
		Kind: flowcontrolv1.SubjectKindServiceAccount,
		ServiceAccount: &flowcontrolv1.ServiceAccountSubject{
			Namespace: systemNamespace, Name: flowcontrolv1.NameAll,
		},
	}}
}
