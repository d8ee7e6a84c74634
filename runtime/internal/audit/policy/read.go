package policy

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"apigen.dev/runtime/internal/audit/trail"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// ReadFile reads the policy in a file.
func ReadFile(path string) (*Policy, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("failed to read file path %q: %w", path, err)
	}
	policy, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%w: from file %v", err, path)
	}
	return policy, nil
}

// Parse reads a policy in YAML or JSON, and validates it. It refuses unknown and duplicate fields, which kube-apiserver
// passes over with a warning: what a misspelt field leaves out of an audit log is found when it is too late.
func Parse(data []byte) (*Policy, error) {
	converted, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, fmt.Errorf("failed decoding: %w", err)
	}
	policy := &Policy{}
	unknown, err := json.UnmarshalStrict(converted, policy)
	if err != nil {
		return nil, fmt.Errorf("failed decoding: %w", err)
	}
	gvk := policy.GroupVersionKind()
	switch {
	case gvk.Kind == "":
		return nil, errors.New("failed decoding: Object 'Kind' is missing")
	case gvk.Group != trail.Group || gvk.Version != trail.Version:
		return nil, fmt.Errorf("unknown group version field %v in policy", gvk)
	case gvk.Kind != "Policy":
		return nil, fmt.Errorf("failed decoding: %v is no Policy", gvk)
	case len(unknown) > 0:
		return nil, fmt.Errorf("failed decoding: %w", runtime.NewStrictDecodingError(unknown))
	}
	if err := policy.validate().ToAggregate(); err != nil {
		return nil, err
	}
	if len(policy.Rules) == 0 {
		return nil, errors.New("loaded illegal policy with 0 rules")
	}
	return policy, nil
}

func (p *Policy) validate() field.ErrorList {
	errs := validateStages(p.OmitStages, field.NewPath("omitStages"))
	for i := range p.Rules {
		errs = append(errs, p.Rules[i].validate(field.NewPath("rules").Index(i))...)
	}
	return errs
}

func (r *Rule) validate(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case r.Level == "":
		errs = append(errs, field.Required(path.Child("level"), ""))
	case !slices.Contains(trail.Levels, r.Level):
		errs = append(errs, field.NotSupported(path.Child("level"), r.Level, trail.Levels))
	}
	urls := path.Child("nonResourceURLs")
	errs = append(errs, validateURLs(r.NonResourceURLs, urls)...)
	for _, resources := range r.Resources {
		errs = append(errs, resources.validate(path.Child("resources"))...)
	}
	errs = append(errs, validateStages(r.OmitStages, path.Child("omitStages"))...)
	if len(r.NonResourceURLs) > 0 && (len(r.Resources) > 0 || len(r.Namespaces) > 0) {
		errs = append(errs, field.Invalid(urls, r.NonResourceURLs,
			"rules cannot apply to both regular resources and non-resource URLs"))
	}
	return errs
}

func validateURLs(urls []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, url := range urls {
		if url == "*" {
			continue
		}
		if !strings.HasPrefix(url, "/") {
			errs = append(errs, field.Invalid(path.Index(i), url,
				"non-resource URL rules must begin with a '/' character"))
		}
		if at := strings.IndexByte(url, '*'); at >= 0 && at < len(url)-1 {
			errs = append(errs, field.Invalid(path.Index(i), url,
				"non-resource URL wildcards '*' must be the final character of the rule"))
		}
	}
	return errs
}

func (g *GroupResources) validate(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if g.Group != "" && g.Group != "*" {
		if wrong := validation.NameIsDNSSubdomain(g.Group, false); len(wrong) > 0 {
			errs = append(errs, field.Invalid(path.Child("group"), g.Group, strings.Join(wrong, ",")))
		}
	}
	if len(g.ResourceNames) > 0 && len(g.Resources) == 0 {
		errs = append(errs, field.Invalid(path.Child("resourceNames"), g.ResourceNames,
			"using resourceNames requires at least one resource"))
	}
	return errs
}

func validateStages(stages []trail.Stage, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, stage := range stages {
		if !slices.Contains(trail.Stages, stage) {
			errs = append(errs, field.Invalid(path.Index(i), string(stage), "allowed stages are "+allStages()))
		}
	}
	return errs
}

func allStages() string {
	var names []string
	for _, stage := range trail.Stages {
		names = append(names, string(stage))
	}
	return strings.Join(names, ",")
}
