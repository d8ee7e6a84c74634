package policy

import (
	"context"
	"errors"
	"fmt"

	v1 "apigen.dev/runtime/builtin/admissionregistration/v1"
	"apigen.dev/runtime/internal/access/manifest"
	"apigen.dev/runtime/internal/reload"
	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/operation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// creation is the operation by which the declared rules of a kind see an object of a file.
var creation = operation.Operation{Type: operation.Create}

// readValidating returns the validating policies of files.
func readValidating(files []reload.File) ([]*bound, error) {
	policies := manifest.NewObjects("ValidatingAdmissionPolicy", v1.SetObjectDefaults_ValidatingAdmissionPolicy,
		func(p *registration.ValidatingAdmissionPolicy) error {
			ctx := context.Background()
			errs := v1.Validate_ValidatingAdmissionPolicy(ctx, creation, nil, p, nil)
			errs = append(errs, v1.ValidateObject_ValidatingAdmissionPolicy(ctx, p)...)
			return errors.Join(withoutParams(p.Spec.ParamKind), errs.ToAggregate())
		})
	bindings := manifest.NewObjects("ValidatingAdmissionPolicyBinding",
		v1.SetObjectDefaults_ValidatingAdmissionPolicyBinding,
		func(b *registration.ValidatingAdmissionPolicyBinding) error {
			ctx := context.Background()
			errs := v1.Validate_ValidatingAdmissionPolicyBinding(ctx, creation, nil, b, nil)
			errs = append(errs, v1.ValidateObject_ValidatingAdmissionPolicyBinding(ctx, b)...)
			return errors.Join(withoutReference(b.Spec.ParamRef), errs.ToAggregate())
		})
	if err := manifest.Read(files, policies, bindings); err != nil {
		return nil, err
	}
	return bind(policies, bindings, newValidating, bindValidating)
}

// readMutating returns the mutating policies of files.
func readMutating(files []reload.File) ([]*bound, error) {
	policies := manifest.NewObjects("MutatingAdmissionPolicy", v1.SetObjectDefaults_MutatingAdmissionPolicy,
		func(p *registration.MutatingAdmissionPolicy) error {
			return errors.Join(withoutParams(p.Spec.ParamKind),
				v1.ValidateObject_MutatingAdmissionPolicy(context.Background(), p).ToAggregate())
		})
	bindings := manifest.NewObjects("MutatingAdmissionPolicyBinding",
		v1.SetObjectDefaults_MutatingAdmissionPolicyBinding,
		func(b *registration.MutatingAdmissionPolicyBinding) error {
			return errors.Join(withoutReference(b.Spec.ParamRef),
				v1.ValidateObject_MutatingAdmissionPolicyBinding(context.Background(), b).ToAggregate())
		})
	if err := manifest.Read(files, policies, bindings); err != nil {
		return nil, err
	}
	return bind(policies, bindings, newMutating, bindMutating)
}

func withoutParams(kind *registration.ParamKind) error {
	if kind == nil {
		return nil
	}
	return field.Forbidden(field.NewPath("spec", "paramKind"), "is not supported for static manifests")
}

func withoutReference(ref *registration.ParamRef) error {
	if ref == nil {
		return nil
	}
	return field.Forbidden(field.NewPath("spec", "paramRef"), "is not supported for static manifests")
}

// bind puts bindings to the policies that they name, which must be among those of the files.
func bind[P, B metav1.Object](
	policies *manifest.Objects[P], bindings *manifest.Objects[B], compile func(P) *policy,
	toBinding func(B) (string, *binding),
) ([]*bound, error) {
	byName, names := map[string][]*binding{}, policies.Names()
	for _, b := range bindings.Sorted() {
		name, made := toBinding(b)
		if !names[name] {
			return nil, fmt.Errorf("binding %q references policy %q which does not exist in the manifest directory",
				b.GetName(), name)
		}
		byName[name] = append(byName[name], made)
	}
	var all []*bound
	for _, p := range policies.Sorted() {
		compiled := compile(p)
		compiled.static = true
		if of := byName[compiled.name]; len(of) > 0 {
			all = append(all, &bound{compiled, of})
		}
	}
	return all, nil
}

// configure reads the configuration of a plug-in: a directory of policies, which must be sound when the server starts.
func (s *source[P, B]) configure(kind string, read func([]reload.File) ([]*bound, error)) func([]byte, string) error {
	return func(data []byte, _ string) error {
		var config manifest.Plugin
		if err := manifest.Decode(data, &config); err != nil {
			return err
		}
		if config.Kind != kind {
			return fmt.Errorf("its kind is %q: write %s", config.Kind, kind)
		}
		if err := config.Check(); err != nil || config.StaticManifestsDir == "" {
			return err
		}
		files, err := manifest.Open(config.StaticManifestsDir, read)
		s.files = files
		return err
	}
}
