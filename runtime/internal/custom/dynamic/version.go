package dynamic

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/cel"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/custom/structural"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/version"
)

// The paths of the columns of a row share rowVisits values that they may come by; see jsonpath.Path.Find. Each has
// leastVisits, which is enough for plain ones.
const rowVisits, leastVisits = 400_000, 20

// kindVersion is one version of a kind.
type kindVersion struct {
	gvk     schema.GroupVersionKind
	storage schema.GroupVersion
	convert Converter
	// preserve says that the whole definition keeps unknown fields, as definitions of apiextensions.k8s.io/v1beta1 did.
	preserve bool
	columns  []column
	spec     apiextensionsv1.CustomResourceDefinitionVersion
	// warning is the deprecation warning, "" for none.
	warning string

	// schema prunes and sets defaults, checks validates. Each is made when it is first used, and both read definition.
	schema func() (*structural.Schema, error)
	checks func() (*checks, error)
	// definition is the schema as the definition has it, compressed.
	definition packed
}

// checks validates objects of a version.
type checks struct {
	schema *structural.Schema
	values *structural.Values
	rules  *cel.Rules
	// scale has the paths of the subresource, nil for none.
	scale *apiextensionsv1.CustomResourceSubresourceScale
}

func newKindVersion(
	crd *apiextensionsv1.CustomResourceDefinition, spec *apiextensionsv1.CustomResourceDefinitionVersion,
	storage schema.GroupVersion, convert Converter,
) (*kindVersion, error) {
	v := &kindVersion{
		gvk: schema.GroupVersionKind{
			Group: crd.Spec.Group, Version: spec.Name, Kind: crd.Status.AcceptedNames.Kind,
		},
		storage: storage, convert: convert, preserve: crd.Spec.PreserveUnknownFields,
	}
	light := *spec
	light.Schema = nil
	v.spec = *light.DeepCopy()
	if spec.Schema != nil {
		v.definition = pack(spec.Schema.OpenAPIV3Schema)
	}
	if spec.Deprecated {
		v.warning = warning(crd, spec)
	}
	for i := range spec.AdditionalPrinterColumns {
		c, err := newColumn(&spec.AdditionalPrinterColumns[i])
		if err != nil {
			return nil, err
		}
		c.path = c.path.Within(max(rowVisits/len(spec.AdditionalPrinterColumns), leastVisits))
		v.columns = append(v.columns, c)
	}
	v.schema = sync.OnceValues(v.newSchema)
	v.checks = sync.OnceValues(v.newChecks)
	return v, nil
}

func (v *kindVersion) newSchema() (*structural.Schema, error) {
	props, err := v.definition.props()
	if err != nil {
		return nil, err
	}
	s, err := structural.New(props)
	if err == nil && v.preserve {
		s.Preserve = true
	}
	return s, err
}

func (v *kindVersion) newChecks() (*checks, error) {
	props, err := v.definition.props()
	if err != nil {
		return nil, err
	}
	s, err := v.schema()
	if err != nil {
		return nil, err
	}
	values, err := structural.NewValues(props)
	if err != nil {
		return nil, err
	}
	c := &checks{schema: s, values: values, rules: cel.New(v.gvk, structural.CEL(props))}
	if v.spec.Subresources != nil {
		c.scale = v.spec.Subresources.Scale
	}
	return c, nil
}

// warning is the text of a deprecated version that has none of its own.
func warning(
	crd *apiextensionsv1.CustomResourceDefinition, spec *apiextensionsv1.CustomResourceDefinitionVersion,
) string {
	if spec.DeprecationWarning != nil {
		return *spec.DeprecationWarning
	}
	text := fmt.Sprintf("%s/%s %s is deprecated", crd.Spec.Group, spec.Name, crd.Spec.Names.Kind)
	best := ""
	for _, other := range crd.Spec.Versions {
		newer := version.CompareKubeAwareVersionStrings(spec.Name, other.Name) < 0
		if other.Served && !other.Deprecated && newer &&
			(best == "" || version.CompareKubeAwareVersionStrings(other.Name, best) > 0) {
			best = other.Name
		}
	}
	if best != "" {
		text += fmt.Sprintf("; use %s/%s %s", crd.Spec.Group, best, crd.Spec.Names.Kind)
	}
	return text
}

func (v *kindVersion) info() api.VersionInfo {
	info := api.VersionInfo{
		Name: v.gvk.Version, Deprecated: v.warning, Unserved: !v.spec.Served, Untyped: true,
	}
	for i := range v.columns {
		info.Columns = append(info.Columns, v.columns[i].info)
	}
	return info
}

// mapping returns the functions of the version, whose conversions end with ctx.
func (v *kindVersion) mapping(ctx context.Context) codec.Mapping {
	m := codec.Mapping{Read: v.read, SetDefaults: v.setDefaults, Validate: v.validate}
	for i := range v.columns {
		m.Columns = append(m.Columns, v.columns[i].cell)
	}
	if v.gvk.Version != v.storage.Version {
		m.ToHub = func(object map[string]any) (map[string]any, error) {
			return v.to(ctx, v.gvk.GroupVersion(), v.storage, object)
		}
		m.FromHub = func(object map[string]any) (map[string]any, error) {
			return v.to(ctx, v.storage, v.gvk.GroupVersion(), object)
		}
	}
	if v.gvk.Version != v.storage.Version && v.convert != nil {
		m.Within = v.mapping
		m.FromHubAll = func(ctx context.Context, objects []map[string]any) ([]map[string]any, []error) {
			return v.allTo(ctx, v.storage, v.gvk.GroupVersion(), objects)
		}
	}
	return m
}

// to converts an object from one version to another, until ctx ends.
func (v *kindVersion) to(
	ctx context.Context, from, to schema.GroupVersion, object map[string]any,
) (map[string]any, error) {
	if v.convert == nil {
		object["apiVersion"], object["kind"] = to.String(), v.gvk.Kind
		return object, nil
	}
	out, errs := v.allTo(ctx, from, to, []map[string]any{object})
	return out[0], errs[0]
}

// allTo converts objects by the converter of the definition, until ctx ends.
func (v *kindVersion) allTo(
	ctx context.Context, from, to schema.GroupVersion, objects []map[string]any,
) ([]map[string]any, []error) {
	for _, object := range objects {
		object["apiVersion"], object["kind"] = from.String(), v.gvk.Kind
	}
	out, errs := v.convert.Convert(ctx, objects, to)
	for i, err := range errs {
		if err != nil {
			errs[i] = apierrors.NewInternalError(err)
		}
	}
	return out, errs
}

// through calls do with an object of the storage version as this version has it, and converts back what do changed.
func (v *kindVersion) through(
	ctx context.Context, obj *unstructured.Unstructured, do func(*unstructured.Unstructured) bool,
) error {
	seen, err := v.to(ctx, v.storage, v.gvk.GroupVersion(), obj.DeepCopy().Object)
	if err != nil || !do(&unstructured.Unstructured{Object: seen}) {
		return err
	}
	changed, err := v.to(ctx, v.gvk.GroupVersion(), v.storage, seen)
	if err != nil {
		return err
	}
	delete(changed, "apiVersion")
	delete(changed, "kind")
	obj.Object = changed
	return nil
}

func (v *kindVersion) read(object map[string]any, stored bool) ([]string, error) {
	s, err := v.schema()
	if err != nil {
		return nil, err
	}
	unknown, err := s.Coerce(object, stored)
	if err != nil {
		return nil, err
	}
	if unknown = append(unknown, s.Prune(object)...); len(unknown) > 1 {
		slices.Sort(unknown)
	}
	return unknown, nil
}

func (v *kindVersion) setDefaults(object map[string]any, sent bool) error {
	s, err := v.schema()
	if err != nil {
		return err
	}
	if sent {
		s.DropNulls(object)
	}
	s.SetDefaults(object)
	if !sent { // but made by an apply, perhaps
		s.DropUntypedNulls(object)
	}
	return nil
}

// validate returns the errors of a write in kube-apiserver's order: those of metadata, which ctx has, then values,
// replicas, embedded objects, lists and rules.
func (v *kindVersion) validate(
	ctx context.Context, subresource string, object, old map[string]any,
) (errs field.ErrorList) {
	c, err := v.checks()
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	errs = codec.AddFaults(ctx, nil)
	if subresource == "status" {
		errs = append(errs, c.values.ValidateMember("status", object, old)...)
	} else {
		errs = append(errs, c.values.Validate(object, old)...)
	}
	errs = append(errs, c.validateScale(object, subresource)...)
	errs = append(errs, c.schema.ValidateEmbedded(object)...)
	if old == nil || len(c.schema.ValidateLists(old)) == 0 {
		errs = append(errs, c.schema.ValidateLists(object)...)
	}
	return c.rules.RunAfter(ctx, errs, object, old)
}

// validateScale checks what the subresource scale reads and a write may set. The paths in its errors are those of the
// definition, as in kube-apiserver (ValidateScaleSpec and ValidateScaleStatus of apiextensions-apiserver).
func (c *checks) validateScale(object map[string]any, subresource string) (errs field.ErrorList) {
	if c.scale == nil {
		return nil
	}
	if subresource != "status" {
		errs = validateReplicas(object, c.scale.SpecReplicasPath)
	}
	errs = append(errs, validateReplicas(object, c.scale.StatusReplicasPath)...)
	if path := c.scale.LabelSelectorPath; path != nil {
		text, _, err := unstructured.NestedString(object, fieldsOf(*path)...)
		if err != nil {
			errs = append(errs, field.Invalid(field.NewPath(*path), text, err.Error()))
		}
	}
	return errs
}

func validateReplicas(object map[string]any, path string) field.ErrorList {
	n, _, err := unstructured.NestedInt64(object, fieldsOf(path)...)
	var detail string
	switch {
	case err != nil:
		detail = err.Error()
	case n < 0:
		detail = "should be a non-negative integer"
	case n > math.MaxInt32:
		detail = fmt.Sprintf("should be less than or equal to %v", math.MaxInt32)
	default:
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath(path), n, detail)}
}
