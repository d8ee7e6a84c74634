package auth

import (
	"context"
	"slices"
	"strings"
)

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

// RulesFor implements RuleResolver: the paths of the documents, for authenticated users. It is complete.
func (Discovery) RulesFor(_ context.Context, user *User, _ string) (Rules, bool, error) {
	if user == nil || !slices.Contains(user.Groups, Authenticated) {
		return Rules{}, true, nil
	}
	var paths []string
	for _, path := range discoveryPaths {
		if strings.HasSuffix(path, "/") {
			path += "*"
		}
		paths = append(paths, path)
	}
	return Rules{NonResources: []NonResourceRule{{Verbs: []string{"get"}, Paths: paths}}}, true, nil
}
