// Package fromcrd writes annotated Go types from CustomResourceDefinitions, for kinds that were custom resources and
// become generated ones. Package emit/crd makes the same definitions of the types again. What Go types and markers
// can't say is an error that names it.
//
// It knows packages model and spelling.
package fromcrd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"

	"k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	sigsyaml "sigs.k8s.io/yaml"
)

// Definition is a CustomResourceDefinition of apiextensions.k8s.io/v1.
type Definition struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Metadata   Metadata        `json:"metadata"`
	Spec       Spec            `json:"spec"`
	Status     json.RawMessage `json:"status"`

	text []byte
}

// Metadata is what a definition says of itself.
type Metadata struct {
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`

	CreationTimestamp json.RawMessage `json:"creationTimestamp"` // null in documents of controller-gen
}

// Spec is the definition itself.
type Spec struct {
	Group                 string          `json:"group"`
	Scope                 string          `json:"scope"`
	Names                 Names           `json:"names"`
	Versions              []*Version      `json:"versions"`
	Conversion            json.RawMessage `json:"conversion"` // the author's functions convert
	PreserveUnknownFields bool            `json:"preserveUnknownFields"`
}

// Names are those of the kind.
type Names struct {
	Kind       string   `json:"kind"`
	ListKind   string   `json:"listKind"`
	Plural     string   `json:"plural"`
	Singular   string   `json:"singular"`
	ShortNames []string `json:"shortNames"`
	Categories []string `json:"categories"`
}

// Version is a version of the kind.
type Version struct {
	Name    string `json:"name"`
	Served  bool   `json:"served"`
	Storage bool   `json:"storage"`
	Schema  struct {
		Root *node `json:"openAPIV3Schema"`
	} `json:"schema"`
	Deprecated         bool   `json:"deprecated"`
	DeprecationWarning string `json:"deprecationWarning"`
	Subresources       struct {
		Status *struct{} `json:"status"`
		Scale  *struct {
			SpecReplicasPath   string `json:"specReplicasPath"`
			StatusReplicasPath string `json:"statusReplicasPath"`
			LabelSelectorPath  string `json:"labelSelectorPath"`
		} `json:"scale"`
	} `json:"subresources"`
	Columns []struct {
		Name        string `json:"name"`
		Type        string `json:"type"`
		Format      string `json:"format"`
		Description string `json:"description"`
		Priority    int    `json:"priority"`
		JSONPath    string `json:"jsonPath"`
	} `json:"additionalPrinterColumns"`
	Selectable []struct {
		JSONPath string `json:"jsonPath"`
	} `json:"selectableFields"`
}

// node is a structural schema.
type node struct {
	Description  string `json:"description,omitempty"`
	Title        string `json:"title,omitempty"`
	ExternalDocs *struct {
		Description string `json:"description,omitempty"`
		URL         string `json:"url"`
	} `json:"externalDocs,omitempty"`
	Example json.RawMessage `json:"example,omitempty"`

	Type       string           `json:"type,omitempty"`
	Format     string           `json:"format,omitempty"`
	Nullable   bool             `json:"nullable,omitempty"`
	Default    json.RawMessage  `json:"default,omitempty"`
	Properties map[string]*node `json:"properties,omitempty"`
	Required   []string         `json:"required,omitempty"`
	Additional json.RawMessage  `json:"additionalProperties,omitempty"`
	Items      *node            `json:"items,omitempty"`

	Enum             []json.RawMessage `json:"enum,omitempty"`
	Pattern          string            `json:"pattern,omitempty"`
	MinLength        *int64            `json:"minLength,omitempty"`
	MaxLength        *int64            `json:"maxLength,omitempty"`
	MinItems         *int64            `json:"minItems,omitempty"`
	MaxItems         *int64            `json:"maxItems,omitempty"`
	MinProperties    *int64            `json:"minProperties,omitempty"`
	MaxProperties    *int64            `json:"maxProperties,omitempty"`
	Minimum          *json.Number      `json:"minimum,omitempty"`
	Maximum          *json.Number      `json:"maximum,omitempty"`
	ExclusiveMinimum bool              `json:"exclusiveMinimum,omitempty"`
	ExclusiveMaximum bool              `json:"exclusiveMaximum,omitempty"`
	MultipleOf       *json.Number      `json:"multipleOf,omitempty"`
	UniqueItems      bool              `json:"uniqueItems,omitempty"`
	AllOf            []*node           `json:"allOf,omitempty"`
	AnyOf            []*node           `json:"anyOf,omitempty"`
	OneOf            []*node           `json:"oneOf,omitempty"`
	Not              *node             `json:"not,omitempty"`

	Preserve    bool     `json:"x-kubernetes-preserve-unknown-fields,omitempty"`
	Embedded    bool     `json:"x-kubernetes-embedded-resource,omitempty"`
	IntOrString bool     `json:"x-kubernetes-int-or-string,omitempty"`
	ListType    string   `json:"x-kubernetes-list-type,omitempty"`
	ListMapKeys []string `json:"x-kubernetes-list-map-keys,omitempty"`
	MapType     string   `json:"x-kubernetes-map-type,omitempty"`
	Validations []rule   `json:"x-kubernetes-validations,omitempty"`
}

// rule is a rule in CEL.
type rule struct {
	Rule              string `json:"rule"`
	Message           string `json:"message,omitempty"`
	MessageExpression string `json:"messageExpression,omitempty"`
	Reason            string `json:"reason,omitempty"`
	FieldPath         string `json:"fieldPath,omitempty"`
	OptionalOldSelf   bool   `json:"optionalOldSelf,omitempty"`
}

// Read reads the definitions in a file. Documents of other kinds are passed over. A member that this package doesn't
// know is an error, since it would be lost.
func Read(file []byte) ([]*Definition, error) {
	var out []*Definition
	documents := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(file)))
	defer func() { _ = documents.Close() }()
	for {
		text, err := nextDocument(documents)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		d, err := read(text)
		if err != nil {
			return nil, err
		}
		if d != nil {
			out = append(out, d)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("there is no CustomResourceDefinition of apiextensions.k8s.io/v1 in it")
	}
	return out, nil
}

func nextDocument(from io.Reader) (text []byte, err error) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		text = append(text, buffer[:n]...)
		if !errors.Is(err, io.ErrShortBuffer) {
			return text, err
		}
	}
}

func read(text []byte) (*Definition, error) {
	var kind struct{ APIVersion, Kind string }
	if err := sigsyaml.Unmarshal(text, &kind); err != nil {
		return nil, err
	}
	switch {
	case kind.Kind != "CustomResourceDefinition":
		return nil, nil
	case kind.APIVersion != "apiextensions.k8s.io/v1":
		return nil, fmt.Errorf("a CustomResourceDefinition of %s: convert it to apiextensions.k8s.io/v1",
			kind.APIVersion)
	}
	data, err := sigsyaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, err
	}
	d := &Definition{}
	unknown, err := kjson.UnmarshalStrict(data, d)
	if err = errors.Join(append(unknown, err)...); err != nil {
		return nil, fmt.Errorf("what Go types can't say: %w", err)
	}
	d.text = text
	return d, d.check()
}

var kindPattern = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)

func (d *Definition) check() error {
	names := d.Spec.Names
	var errs []error
	if !kindPattern.MatchString(names.Kind) {
		errs = append(errs, fmt.Errorf("kind %q is no exported name in Go", names.Kind))
	}
	if names.ListKind != "" && names.ListKind != names.Kind+"List" {
		errs = append(errs, fmt.Errorf("listKind %s: the list of a Go type is called %sList", names.ListKind,
			names.Kind))
	}
	if d.Spec.PreserveUnknownFields {
		errs = append(errs, errors.New("preserveUnknownFields: Go types have no unknown fields"))
	}
	for _, v := range d.Spec.Versions {
		if v.Schema.Root == nil || v.Schema.Root.Properties == nil {
			errs = append(errs, fmt.Errorf("version %s has no schema with properties", v.Name))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("CustomResourceDefinition %s: %w", d.Metadata.Name, err)
	}
	return nil
}
