// Package podsecurity is the admission plug-in PodSecurity: the labels pod-security.kubernetes.io/... of a namespace
// say which of the Pod Security Standards its pods must meet, and about which the server warns.
//
// The standards are those of k8s.io/pod-security-admission, which kube-apiserver runs, too. The package may know
// packages admission, reach, registry and server.
package podsecurity

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// Feature brings the plug-in into a server. It does nothing in one that serves no pods or no namespaces.
type Feature struct {
	evaluator  policy.Evaluator
	defaults   api.Policy
	exemptions exemptions
	metrics    *metrics
}

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group { return nil }

// AddFlags implements server.Feature.
func (*Feature) AddFlags(*pflag.FlagSet) {}

// Configure implements server.Feature.
func (f *Feature) Configure(context.Context, *server.Config) (server.Contribution, error) {
	var err error
	if f.evaluator, err = policy.NewEvaluator(policy.DefaultChecks(), nil); err != nil {
		return server.Contribution{}, err
	}
	if f.defaults, err = (defaults{}).policy(); err != nil {
		return server.Contribution{}, err
	}
	f.metrics = newMetrics()
	return server.Contribution{Metrics: f.metrics.collectors(), Admission: []admission.Plugin{{
		Name: "PodSecurity", Handles: handles, Validate: f.validate, Configure: f.configure,
	}}}, nil
}

// configuration is kube-apiserver's PodSecurityConfiguration.
type configuration struct {
	metav1.TypeMeta `json:",inline"`
	Defaults        defaults   `json:"defaults"`
	Exemptions      exemptions `json:"exemptions"`
}

type defaults struct {
	Enforce        string `json:"enforce,omitempty"`
	EnforceVersion string `json:"enforce-version,omitempty"`
	Audit          string `json:"audit,omitempty"`
	AuditVersion   string `json:"audit-version,omitempty"`
	Warn           string `json:"warn,omitempty"`
	WarnVersion    string `json:"warn-version,omitempty"`
}

// policy returns the policy of a namespace without labels.
func (d defaults) policy() (api.Policy, error) {
	labels := map[string]string{}
	for label, value := range map[string]string{
		api.EnforceLevelLabel: d.Enforce, api.EnforceVersionLabel: d.EnforceVersion, api.AuditLevelLabel: d.Audit,
		api.AuditVersionLabel: d.AuditVersion, api.WarnLevelLabel: d.Warn, api.WarnVersionLabel: d.WarnVersion,
	} {
		if value != "" {
			labels[label] = value
		}
	}
	privileged := api.LevelVersion{Level: api.LevelPrivileged, Version: api.LatestVersion()}
	p, errs := api.PolicyToEvaluate(labels, api.Policy{Enforce: privileged, Audit: privileged, Warn: privileged})
	return p, errs.ToAggregate()
}

type exemptions struct {
	Usernames      []string `json:"usernames,omitempty"`
	Namespaces     []string `json:"namespaces,omitempty"`
	RuntimeClasses []string `json:"runtimeClasses,omitempty"`
}

func (f *Feature) configure(data []byte, _ string) (err error) {
	var config configuration
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&config); err != nil {
		return err
	}
	if config.Kind != "PodSecurityConfiguration" {
		return fmt.Errorf("its kind is %q: write PodSecurityConfiguration", config.Kind)
	}
	if f.defaults, err = config.Defaults.policy(); err != nil {
		return err
	}
	f.exemptions = config.Exemptions
	return nil
}

// passed are the subresources of pods that change no containers.
var passed = []string{"exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"}

func handles(a *admission.Attributes) bool {
	if a.Operation != admission.Create && a.Operation != admission.Update {
		return false
	}
	if a.Resource.Group == "" && a.Resource.Resource == "pods" {
		return !slices.Contains(passed, a.Subresource)
	}
	return a.Subresource == ""
}

func (f *Feature) validate(ctx context.Context, a *admission.Attributes) error {
	switch obj := a.Object.Value().(type) {
	case *core.Namespace:
		return f.validateNamespace(ctx, a, obj)
	case *core.Pod:
		if a.Old != nil {
			if old, ok := a.Old.Value().(*core.Pod); ok && !changesImages(obj, old) {
				return nil
			}
		}
		return f.validatePod(ctx, a, &obj.ObjectMeta, &obj.Spec, true)
	default:
		if template := templateOf(obj); template != nil {
			return f.validatePod(ctx, a, &template.ObjectMeta, &template.Spec, false)
		}
	}
	return nil
}

// validatePod checks a pod, or what pods a controller would create: these are refused when they come.
func (f *Feature) validatePod(
	ctx context.Context, a *admission.Attributes, meta *metav1.ObjectMeta, spec *core.PodSpec, enforce bool,
) error {
	if why := f.exempts(a, spec); why != "" {
		f.metrics.exempted(a)
		a.Annotate(ctx, annotation(api.ExemptionReasonAnnotationKey), why)
		return nil
	}
	labels, err := labelsOf(ctx, a.Namespace)
	if err != nil {
		f.metrics.failed(a, true)
		if !enforce {
			a.Annotate(ctx, annotation("error"), fmt.Sprintf("failed to lookup namespace %q: %v", a.Namespace, err))
			return nil
		}
		return apierrors.NewInternalError(fmt.Errorf("failed to lookup namespace %q", a.Namespace))
	}
	p, errs := api.PolicyToEvaluate(labels, f.defaults)
	if err := errs.ToAggregate(); err != nil {
		f.metrics.failed(a, false)
		a.Annotate(ctx, annotation("error"), fmt.Sprintf("Failed to parse policy: %v", err))
	}
	judge := judgement{evaluator: f.evaluator, meta: meta, spec: spec, done: map[api.LevelVersion]*verdict{}}
	if enforce {
		a.Annotate(ctx, annotation(api.EnforcedPolicyAnnotationKey), p.Enforce.String())
		v := judge.at(p.Enforce)
		f.metrics.evaluated(a, "enforce", p.Enforce, v.Allowed)
		if !v.Allowed {
			f.audit(ctx, a, p.Audit, &judge)
			return fmt.Errorf("violates PodSecurity %q: %s", p.Enforce.String(), v.ForbiddenDetail())
		}
	}
	f.audit(ctx, a, p.Audit, &judge)
	if v := judge.at(p.Warn); !v.Allowed {
		f.metrics.evaluated(a, "warn", p.Warn, false)
		a.Warn(fmt.Sprintf("would violate PodSecurity %q: %s", p.Warn.String(), v.ForbiddenDetail()))
	}
	return nil
}

func (f *Feature) audit(ctx context.Context, a *admission.Attributes, at api.LevelVersion, judge *judgement) {
	if v := judge.at(at); !v.Allowed {
		f.metrics.evaluated(a, "audit", at, false)
		a.Annotate(ctx, annotation(api.AuditViolationsAnnotationKey),
			fmt.Sprintf("would violate PodSecurity %q: %s", at.String(), v.ForbiddenDetail()))
	}
}

// annotation returns the key of an annotation of audit events, as kube-apiserver writes it.
func annotation(key string) string { return api.AuditAnnotationPrefix + key }

// exempts returns why a pod is exempt, "" if it isn't.
func (f *Feature) exempts(a *admission.Attributes, spec *core.PodSpec) string {
	switch {
	case slices.Contains(f.exemptions.Namespaces, a.Namespace):
		return "namespace"
	case a.User != nil && slices.Contains(f.exemptions.Usernames, a.User.Name):
		return "user"
	case spec.RuntimeClassName != nil && slices.Contains(f.exemptions.RuntimeClasses, *spec.RuntimeClassName):
		return "runtimeClass"
	}
	return ""
}

func labelsOf(ctx context.Context, name string) (map[string]string, error) {
	namespaces, err := reach.Of[*core.Namespace](ctx)
	if err != nil {
		return nil, nil //nolint:nilerr // The server has no namespaces with labels.
	}
	namespace, err := namespaces.Get(ctx, "", name)
	if err != nil {
		return nil, err
	}
	return namespace.Labels, nil
}

// judgement holds a pod against levels, each once.
type judgement struct {
	evaluator policy.Evaluator
	meta      *metav1.ObjectMeta
	spec      *core.PodSpec
	done      map[api.LevelVersion]*verdict
}

type verdict struct{ policy.AggregateCheckResult }

func (j *judgement) at(level api.LevelVersion) *verdict {
	if j.done[level] == nil {
		j.done[level] = &verdict{policy.AggregateCheckResults(j.evaluator.EvaluatePod(level, j.meta, j.spec))}
	}
	return j.done[level]
}

// validateNamespace refuses labels that mean nothing, and warns about pods that a stricter level would refuse.
func (f *Feature) validateNamespace(ctx context.Context, a *admission.Attributes, namespace *core.Namespace) error {
	p, errs := api.PolicyToEvaluate(namespace.Labels, f.defaults)
	if a.Old == nil {
		return invalid(a, errs)
	}
	old, ok := a.Old.Value().(*core.Namespace)
	if !ok {
		return nil
	}
	before, oldErrs := api.PolicyToEvaluate(old.Labels, f.defaults)
	if len(errs) > 0 && (len(oldErrs) == 0 || errs.ToAggregate().Error() != oldErrs.ToAggregate().Error()) {
		return invalid(a, errs)
	}
	relaxed := p.Enforce.Version == before.Enforce.Version &&
		api.CompareLevels(p.Enforce.Level, before.Enforce.Level) < 1
	if p.Enforce == before.Enforce || p.Enforce.Level == api.LevelPrivileged || relaxed {
		return nil
	}
	if slices.Contains(f.exemptions.Namespaces, a.Name) {
		a.Warn(fmt.Sprintf("namespace %q is exempt from Pod Security, and the policy (enforce=%s) will be ignored",
			a.Name, p.Enforce.String()))
		return nil
	}
	for _, warning := range f.violations(ctx, namespace.Name, p.Enforce) {
		a.Warn(warning)
	}
	return nil
}

func invalid(a *admission.Attributes, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(a.Kind.GroupKind(), a.Name, errs)
}
