// Package authorizationconfig reads kube-apiserver's AuthorizationConfiguration: a file that says which authorizers a
// server asks, in which order, and about which requests. It follows the file while the server runs.
//
// It may know packages auth, access/meter, builtin/webhookauth, cel, kubeconfig, registry, reload and server.
package authorizationconfig

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Configuration is an AuthorizationConfiguration of apiserver.config.k8s.io in the wire form of v1, v1beta1
// and v1alpha1, which is the same.
type Configuration struct {
	metav1.TypeMeta `json:""`
	Authorizers     []Authorizer `json:"authorizers"`
}

// Authorizer is one authorizer of a Configuration.
type Authorizer struct {
	Type    string   `json:"type"`
	Name    string   `json:"name"`
	Webhook *Webhook `json:"webhook,omitempty"`
}

// Webhook says how to ask a webhook, and when.
type Webhook struct {
	AuthorizedTTL                            metav1.Duration  `json:"authorizedTTL"`
	CacheAuthorizedRequests                  *bool            `json:"cacheAuthorizedRequests,omitempty"`
	UnauthorizedTTL                          metav1.Duration  `json:"unauthorizedTTL"`
	CacheUnauthorizedRequests                *bool            `json:"cacheUnauthorizedRequests,omitempty"`
	Timeout                                  metav1.Duration  `json:"timeout"`
	SubjectAccessReviewVersion               string           `json:"subjectAccessReviewVersion"`
	MatchConditionSubjectAccessReviewVersion string           `json:"matchConditionSubjectAccessReviewVersion"`
	FailurePolicy                            string           `json:"failurePolicy"`
	ConnectionInfo                           ConnectionInfo   `json:"connectionInfo"`
	MatchConditions                          []MatchCondition `json:"matchConditions"`
}

// ConnectionInfo says where a webhook is.
type ConnectionInfo struct {
	Type           string  `json:"type"`
	KubeConfigFile *string `json:"kubeConfigFile"`
}

// MatchCondition is a condition of requests about which a webhook decides.
type MatchCondition struct {
	Expression string `json:"expression"`
}

// The values of the fields.
const (
	typeWebhook     = "Webhook"
	policyNoOpinion = "NoOpinion"
	policyDeny      = "Deny"
	byKubeconfig    = "KubeConfigFile"
	inCluster       = "InClusterConfig"
	group           = "apiserver.config.k8s.io"
	kind            = "AuthorizationConfiguration"
	v1, v1beta1     = "v1", "v1beta1"
	v1alpha1        = "v1alpha1"
)

// Parse reads a configuration in YAML or JSON, and sets its defaults. It refuses unknown fields.
func Parse(content []byte) (*Configuration, error) {
	c := &Configuration{}
	if len(content) == 0 {
		return c, nil
	}
	text, err := yaml.YAMLToJSON(content)
	if err != nil {
		return nil, err
	}
	var is metav1.TypeMeta
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &is); err != nil {
		return nil, err
	}
	if version, of := strings.CutPrefix(is.APIVersion, group+"/"); is.Kind != kind || !of ||
		!slices.Contains([]string{v1, v1beta1, v1alpha1}, version) {
		return nil, fmt.Errorf("it is a %q of %q, want an %s of %s/%s, %s or %s", is.Kind, is.APIVersion, kind, group,
			v1, v1beta1, v1alpha1)
	}
	faults, err := kjson.UnmarshalStrict(text, c)
	if err != nil {
		return nil, err
	}
	if _, err := yaml.YAMLToJSONStrict(content); err != nil {
		faults = append([]error{err}, faults...)
	}
	if len(faults) > 0 {
		return nil, runtime.NewStrictDecodingError(faults)
	}
	for _, a := range c.Authorizers {
		a.Webhook.setDefaults()
	}
	return c, nil
}

func (w *Webhook) setDefaults() {
	if w == nil {
		return
	}
	if w.AuthorizedTTL.Duration == 0 {
		w.AuthorizedTTL.Duration = 5 * time.Minute
	}
	if w.UnauthorizedTTL.Duration == 0 {
		w.UnauthorizedTTL.Duration = 30 * time.Second
	}
	for _, cache := range []**bool{&w.CacheAuthorizedRequests, &w.CacheUnauthorizedRequests} {
		if *cache == nil {
			*cache = new(bool)
			**cache = true
		}
	}
}

// types returns the types of the authorizers, without webhooks.
func (c *Configuration) types() (types []string) {
	for _, a := range c.Authorizers {
		if a.Type != typeWebhook {
			types = append(types, a.Type)
		}
	}
	return types
}
