package celrules

import (
	"context"
	"testing"

	"apigen.dev/runtime/cel"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	peer "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	config "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"sort"
	"strings"
)

// scheme converts definitions of custom resources.
func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	install.Install(s)
	return s
}

// structuralOf is the schema of a version as the peer knows it.
func structuralOf(t testing.TB, s *apiextensionsv1.JSONSchemaProps) *structural.Structural {
	t.Helper()
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
		s, &internal, nil); err != nil {
		t.Fatal(err)
	}
	out, err := structural.NewStructural(&internal)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// ours is the same schema as our rules are run with.
func ours(s *apiextensionsv1.JSONSchemaProps) *cel.Schema {
	if s == nil {
		return nil
	}
	yes := func(b *bool) bool { return b != nil && *b }
	out := &cel.Schema{
		Type: s.Type, Format: s.Format, Nullable: s.Nullable, IntOrString: s.XIntOrString,
		PreserveUnknownFields: yes(s.XPreserveUnknownFields),
		EmbeddedResource:      s.XEmbeddedResource,
		Required:              s.Required, ListMapKeys: s.XListMapKeys, Defaulted: s.Default != nil,
		MaxLength: s.MaxLength, MaxItems: s.MaxItems, MaxProperties: s.MaxProperties,
	}
	if s.XListType != nil {
		out.ListType = *s.XListType
	}
	if s.XMapType != nil {
		out.MapType = *s.XMapType
	}
	for _, e := range s.Enum {
		out.Enum = append(out.Enum, strings.Trim(string(e.Raw), `"`))
	}
	if s.Properties != nil {
		out.Properties = map[string]*cel.Schema{}
	}
	for name, p := range s.Properties {
		out.Properties[name] = ours(&p)
	}
	if s.Items != nil {
		out.Items = ours(s.Items.Schema)
	}
	if s.AdditionalProperties != nil {
		out.Values = ours(s.AdditionalProperties.Schema)
	}
	for _, r := range s.XValidations {
		rule := cel.Rule{Rule: r.Rule, Message: r.Message, MessageExpression: r.MessageExpression,
			FieldPath: r.FieldPath, OptionalOldSelf: yes(r.OptionalOldSelf)}
		if r.Reason != nil {
			rule.Reason = string(*r.Reason)
		}
		out.Rules = append(out.Rules, rule)
	}
	return out
}

// definition wraps a schema in a definition that is valid but for its rules.
func definition(s *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = "things.example.com"
	crd.Annotations = map[string]string{"api-approved.kubernetes.io": "unapproved"}
	crd.Spec.Group, crd.Spec.Scope = "example.com", apiextensionsv1.NamespaceScoped
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
		Plural: "things", Singular: "thing", Kind: "Thing", ListKind: "ThingList",
	}
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{
		Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: s},
	}}
	crd.Status.StoredVersions = []string{"v1"}
	return crd
}

// refusals is what the peer has to say of the rules of a schema.
func refusals(t testing.TB, s *runtime.Scheme, props *apiextensionsv1.JSONSchemaProps) []string {
	t.Helper()
	crd := definition(props.DeepCopy())
	s.Default(crd)
	var internal apiextensions.CustomResourceDefinition
	if err := s.Convert(crd, &internal, nil); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range validation.ValidateCustomResourceDefinition(context.Background(), &internal) {
		if !strings.Contains(e.Field, "x-kubernetes-validations") &&
			!strings.Contains(e.Detail, "x-kubernetes-validations") &&
			!strings.Contains(e.Detail, "rule compile error") {
			t.Fatalf("the schema itself: %v", e)
		}
		out = append(out, e.Error())
	}
	return out
}

// run holds the answers of both implementations for an object that is new or replaces another. The answers are sorted,
// since the peer goes through objects in the order of Go's maps.
type run struct {
	structural *structural.Structural
	validator  *peer.Validator
	rules      *cel.Rules
}

func newRun(t testing.TB, kind string, props *apiextensionsv1.JSONSchemaProps) run {
	s := structuralOf(t, props)
	return run{
		structural: s, validator: peer.NewValidator(s, true, config.PerCallLimit),
		rules: cel.New(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: kind}, ours(props)),
	}
}

func (r run) theirs(obj, old map[string]any) []string {
	var before any
	var options []peer.Option
	if old != nil {
		before = old
		options = append(options,
			peer.WithRatcheting(common.NewCorrelatedObject(obj, old, &model.Structural{Structural: r.structural})))
	}
	errs, _ := r.validator.Validate(context.Background(), nil, r.structural, obj, before,
		config.RuntimeCELCostBudget, options...)
	return lines(errs)
}

func (r run) ours(obj, old map[string]any) []string {
	return lines(r.rules.Run(context.Background(), obj, old))
}

func lines(errs field.ErrorList) []string {
	out := []string{}
	for _, e := range errs {
		out = append(out, e.Error())
	}
	sort.Strings(out)
	return out
}
