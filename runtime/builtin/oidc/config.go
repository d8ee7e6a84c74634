package oidc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Configuration is kube-apiserver's AuthenticationConfiguration, the content of --authentication-config. Its versions
// have the same fields.
type Configuration struct {
	APIVersion string     `json:"apiVersion,omitempty"`
	Kind       string     `json:"kind,omitempty"`
	JWT        []JWT      `json:"jwt"`
	Anonymous  *Anonymous `json:"anonymous,omitempty"`
}

// Anonymous says which requests without credentials are those of system:anonymous.
type Anonymous struct {
	Enabled    bool        `json:"enabled"`
	Conditions []Condition `json:"conditions,omitempty"`
}

// Condition lets a request be anonymous that has exactly the path.
type Condition struct {
	Path string `json:"path"`
}

// JWT says which tokens of one issuer are valid, and which users they authenticate.
type JWT struct {
	Issuer               Issuer      `json:"issuer"`
	ClaimValidationRules []ClaimRule `json:"claimValidationRules,omitempty"`
	ClaimMappings        Mappings    `json:"claimMappings"`
	UserValidationRules  []UserRule  `json:"userValidationRules,omitempty"`
}

// Issuer is an OpenID Connect provider.
type Issuer struct {
	URL                  string   `json:"url"`
	DiscoveryURL         *string  `json:"discoveryURL,omitempty"`
	CertificateAuthority string   `json:"certificateAuthority,omitempty"`
	Audiences            []string `json:"audiences"`
	AudienceMatchPolicy  string   `json:"audienceMatchPolicy,omitempty"`
	EgressSelectorType   string   `json:"egressSelectorType,omitempty"`
}

// ClaimRule is a condition on claims: a claim with a value, or an expression.
type ClaimRule struct {
	Claim         string `json:"claim,omitempty"`
	RequiredValue string `json:"requiredValue,omitempty"`
	Expression    string `json:"expression,omitempty"`
	Message       string `json:"message,omitempty"`
}

// Mappings make a user of claims.
type Mappings struct {
	Username PrefixedClaim `json:"username"`
	Groups   PrefixedClaim `json:"groups,omitzero"`
	UID      Claim         `json:"uid"`
	Extra    []Extra       `json:"extra,omitempty"`
}

// PrefixedClaim is a claim with a prefix, or an expression.
type PrefixedClaim struct {
	Claim      string  `json:"claim,omitempty"`
	Prefix     *string `json:"prefix,omitempty"`
	Expression string  `json:"expression,omitempty"`
}

// Claim is a claim or an expression.
type Claim struct {
	Claim      string `json:"claim,omitempty"`
	Expression string `json:"expression,omitempty"`
}

// Extra makes an extra value of the user.
type Extra struct {
	Key             string `json:"key"`
	ValueExpression string `json:"valueExpression"`
}

// UserRule is a condition on the user.
type UserRule struct {
	Expression string `json:"expression"`
	Message    string `json:"message,omitempty"`
}

const (
	group = "apiserver.config.k8s.io"
	kind  = "AuthenticationConfiguration"
)

// versions are those that kube-apiserver reads.
var versions = []string{group + "/v1", group + "/v1beta1", group + "/v1alpha1"}

// maxFile bounds the size of a configuration.
const maxFile = 3 << 20

// Parse reads a configuration in YAML or JSON. It refuses fields that it doesn't know, and fields that stand twice. It
// doesn't judge the values.
func Parse(data []byte) (*Configuration, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("empty config data")
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("the file has %d bytes, and may have %d", len(data), maxFile)
	}
	if err := single(data); err != nil {
		return nil, err
	}
	text, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, err
	}
	c := new(Configuration)
	strict, err := kjson.UnmarshalStrict(text, c)
	switch {
	case err != nil:
		return nil, err
	case c.Kind != kind || !slices.Contains(versions, c.APIVersion):
		return nil, fmt.Errorf("the file has apiVersion %q and kind %q, want one of %s and %s", c.APIVersion, c.Kind,
			strings.Join(versions, ", "), kind)
	case len(strict) > 0:
		return nil, fmt.Errorf("strict decoding error: %w", errors.Join(strict...))
	}
	return c, nil
}

// single refuses a file of several documents.
func single(data []byte) error {
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	documents := 0
	for {
		var content any
		err := decoder.Decode(&content)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if content != nil {
			documents++
		}
	}
	if documents != 1 {
		return fmt.Errorf("the file has %d documents, want one", documents)
	}
	return nil
}
