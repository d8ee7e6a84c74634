package authorizationconfig

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"apigen.dev/runtime/auth"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validate returns what is wrong with a configuration, in kube-apiserver's words. types are the types of authorizers
// that the server has; required are those that the configuration must name.
func (c *Configuration) validate(types, required []string) error {
	if errs := c.fields(types); len(errs) > 0 {
		return errs.ToAggregate()
	}
	var wrong []error
	seen := map[string]bool{}
	for _, a := range c.Authorizers {
		seen[a.Type] = true
		if want := strings.ToLower(a.Type); a.Type != typeWebhook && a.Name != want {
			wrong = append(wrong, fmt.Errorf("expected name %s for authorizer %s instead of %s", want, a.Type, a.Name))
		}
	}
	missing := slices.DeleteFunc(slices.Sorted(slices.Values(required)), func(t string) bool { return seen[t] })
	if len(missing) > 0 {
		wrong = append(wrong, fmt.Errorf("missing required types: %v", missing))
	}
	return utilerrors.NewAggregate(wrong)
}

func (c *Configuration) fields(types []string) (errs field.ErrorList) {
	all := field.NewPath("authorizers")
	if len(c.Authorizers) == 0 {
		errs = append(errs, field.Required(all, "at least one authorization mode must be defined"))
	}
	seenTypes, seenNames := map[string]bool{}, map[string]bool{}
	for i, a := range c.Authorizers {
		path := all.Index(i)
		if err := typeOf(path.Child("type"), a.Type, types, seenTypes); err != nil {
			errs = append(errs, err)
			continue
		}
		seenTypes[a.Type] = true
		errs = append(errs, nameOf(path.Child("name"), a.Name, seenNames)...)
		seenNames[a.Name] = true
		switch webhook := path.Child("webhook"); {
		case a.Type == typeWebhook && a.Webhook == nil:
			errs = append(errs, field.Required(webhook, "required when type=Webhook"))
		case a.Type == typeWebhook:
			errs = append(errs, a.Webhook.validate(path)...)
		case a.Webhook != nil:
			errs = append(errs, field.Invalid(webhook, "non-null", "may only be specified when type=Webhook"))
		}
	}
	return errs
}

func typeOf(path *field.Path, name string, types []string, seen map[string]bool) *field.Error {
	switch {
	case name == "":
		return field.Required(path, "")
	case name == auth.ModeABAC:
		return field.Invalid(path, name, auth.ErrABAC.Error())
	case !slices.Contains(types, name):
		return field.NotSupported(path, name, types)
	case seen[name] && name != typeWebhook:
		return field.Duplicate(path, name)
	}
	return nil
}

func nameOf(path *field.Path, name string, seen map[string]bool) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	if seen[name] {
		return field.ErrorList{field.Duplicate(path, name)}
	}
	if faults := validation.IsDNS1123Subdomain(name); len(faults) > 0 {
		return field.ErrorList{field.Invalid(path, name, "authorizer name is invalid: "+strings.Join(faults, ", "))}
	}
	return nil
}

// validate validates a webhook. Its fields have the path of the authorizer, as in kube-apiserver.
func (w *Webhook) validate(path *field.Path) (errs field.ErrorList) {
	timeout := path.Child("timeout")
	switch d := w.Timeout.Duration; {
	case d == 0:
		errs = append(errs, field.Required(timeout, ""))
	case d > 30*time.Second || d < 0:
		errs = append(errs, field.Invalid(timeout, d.String(), "must be > 0s and <= 30s"))
	}
	for _, ttl := range []struct {
		name string
		time.Duration
	}{{"authorizedTTL", w.AuthorizedTTL.Duration}, {"unauthorizedTTL", w.UnauthorizedTTL.Duration}} {
		if ttl.Duration < 0 {
			errs = append(errs, field.Invalid(path.Child(ttl.name), ttl.String(), "must be > 0s"))
		}
	}
	errs = append(errs, oneOf(path.Child("subjectAccessReviewVersion"), w.SubjectAccessReviewVersion,
		"", v1, v1beta1)...)
	version := path.Child("matchConditionSubjectAccessReviewVersion")
	if w.MatchConditionSubjectAccessReviewVersion != "" || len(w.MatchConditions) > 0 {
		errs = append(errs, oneOf(version, w.MatchConditionSubjectAccessReviewVersion,
			"required if match conditions are specified", v1)...)
	}
	errs = append(errs, oneOf(path.Child("failurePolicy"), w.FailurePolicy, "", policyNoOpinion, policyDeny)...)
	errs = append(errs, w.ConnectionInfo.validate(path.Child("connectionInfo"))...)
	_, faults := compile(w.MatchConditions, path.Child("matchConditions"))
	return append(errs, faults...)
}

// oneOf checks a required value; missing is what to say without one.
func oneOf(path *field.Path, value, missing string, values ...string) field.ErrorList {
	switch {
	case value == "":
		return field.ErrorList{field.Required(path, missing)}
	case !slices.Contains(values, value):
		return field.ErrorList{field.NotSupported(path, value, values)}
	}
	return nil
}

func (c *ConnectionInfo) validate(path *field.Path) field.ErrorList {
	if errs := oneOf(path.Child("type"), c.Type, "", inCluster, byKubeconfig); len(errs) > 0 {
		return errs
	}
	path = path.Child("kubeConfigFile")
	if c.Type == inCluster {
		if c.KubeConfigFile == nil {
			return nil
		}
		return field.ErrorList{field.Invalid(path, *c.KubeConfigFile, "can only be set when type=KubeConfigFile")}
	}
	if c.KubeConfigFile == nil || *c.KubeConfigFile == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	wrong := ""
	if !filepath.IsAbs(*c.KubeConfigFile) {
		wrong = "must be an absolute path"
	} else if info, err := os.Stat(*c.KubeConfigFile); err != nil {
		wrong = fmt.Sprintf("error loading file: %v", err)
	} else if !info.Mode().IsRegular() {
		wrong = "must be a regular file"
	}
	if wrong == "" {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *c.KubeConfigFile, wrong)}
}
