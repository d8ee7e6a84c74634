package auth

import "context"

// RulesFor implements RuleResolver. It lists nothing and is complete, as in kube-apiserver: what the members of
// system:masters may do, the other authorizers list.
func (MastersOnly) RulesFor(context.Context, *User, string) (Rules, bool, error) {
	return Rules{}, true, nil
}

// RulesFor implements RuleResolver. It lists nothing and is complete, as in kube-apiserver, whose roles list the paths
// that everybody reads.
func (Paths) RulesFor(context.Context, *User, string) (Rules, bool, error) {
	return Rules{}, true, nil
}

// RulesFor implements RuleResolver: everything, or nothing.
func (d Always) RulesFor(context.Context, *User, string) (Rules, bool, error) {
	if Decision(d) != Allow {
		return Rules{}, true, nil
	}
	all := []string{"*"}
	return Rules{
		Resources:    []ResourceRule{{Verbs: all, Groups: all, Resources: all}},
		NonResources: []NonResourceRule{{Verbs: all, Paths: all}},
	}, true, nil
}
