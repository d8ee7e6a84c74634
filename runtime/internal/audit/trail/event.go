package trail

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Group and Version are those of events and policies.
const (
	Group   = "audit.k8s.io"
	Version = "v1"
)

// Event is what an Auditor recorded of a request up to a stage: the kind Event of audit.k8s.io/v1.
type Event struct {
	metav1.TypeMeta `json:",inline"`

	Level Level `json:"level"`
	// AuditID is the same in all events of a request.
	AuditID    string `json:"auditID"`
	Stage      Stage  `json:"stage"`
	RequestURI string `json:"requestURI"`
	// Verb is that of the request's Info: the lower-cased HTTP method if the path names no resource.
	Verb string `json:"verb"`
	// User authenticated, and ImpersonatedUser is whom User acts as.
	User                   User                    `json:"user"`
	ImpersonatedUser       *User                   `json:"impersonatedUser,omitempty"`
	AuthenticationMetadata *AuthenticationMetadata `json:"authenticationMetadata,omitempty"`
	// SourceIPs are the addresses in X-Forwarded-For and X-Real-Ip, and at last that of the connection. A client may
	// make up all but the last.
	SourceIPs []string `json:"sourceIPs,omitempty"`
	UserAgent string   `json:"userAgent,omitempty"`
	// ObjectRef is nil if the path names no resource.
	ObjectRef *ObjectReference `json:"objectRef,omitempty"`
	// ResponseStatus has the code of the answer, and the texts of an answer that is a Status.
	ResponseStatus *metav1.Status `json:"responseStatus,omitempty"`
	// RequestObject and ResponseObject are in JSON.
	RequestObject  json.RawMessage `json:"requestObject,omitempty"`
	ResponseObject json.RawMessage `json:"responseObject,omitempty"`

	RequestReceivedTimestamp metav1.MicroTime `json:"requestReceivedTimestamp"`
	StageTimestamp           metav1.MicroTime `json:"stageTimestamp"`
	Annotations              Annotations      `json:"annotations,omitempty"`

	// origin is the JSON of the members from requestURI to userAgent, if a Record has encoded it for all stages.
	origin *[]byte
}

// EventList is a list of events, which a webhook takes: the kind EventList of audit.k8s.io/v1.
type EventList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Event `json:"items"`
}

// User is a user in an Event: the type UserInfo of authentication.k8s.io/v1.
type User struct {
	Username string              `json:"username,omitempty"`
	UID      string              `json:"uid,omitempty"`
	Groups   []string            `json:"groups,omitempty"`
	Extra    map[string][]string `json:"extra,omitempty"`
}

// AuthenticationMetadata says how a request was authenticated. Events of other servers have it.
type AuthenticationMetadata struct {
	ImpersonationConstraint string `json:"impersonationConstraint,omitempty"`
}

// ObjectReference names the object of a request, as far as the path and the object in the body name it.
type ObjectReference struct {
	Resource        string `json:"resource,omitempty"`
	Namespace       string `json:"namespace,omitempty"`
	Name            string `json:"name,omitempty"`
	UID             string `json:"uid,omitempty"`
	APIGroup        string `json:"apiGroup,omitempty"`
	APIVersion      string `json:"apiVersion,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	Subresource     string `json:"subresource,omitempty"`
}

// Annotations are what parts of the server say about a request, in the order in which they said it. In JSON they are an
// object. A key is in them once.
type Annotations []Annotation

// Annotation is one of them.
type Annotation struct{ Key, Value string }

// Get returns the value of a key, or "".
func (a Annotations) Get(key string) string {
	if i := a.index(key); i >= 0 {
		return a[i].Value
	}
	return ""
}

func (a Annotations) index(key string) int {
	return slices.IndexFunc(a, func(one Annotation) bool { return one.Key == key })
}

// MarshalJSON implements json.Marshaler.
func (a Annotations) MarshalJSON() ([]byte, error) {
	values := make(map[string]string, len(a))
	for _, one := range a {
		values[one.Key] = one.Value
	}
	return json.Marshal(values)
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *Annotations) UnmarshalJSON(data []byte) error {
	var values map[string]string
	if err := json.Unmarshal(data, &values); err != nil {
		return err
	}
	*a = nil
	for _, key := range slices.Sorted(maps.Keys(values)) {
		*a = append(*a, Annotation{key, values[key]})
	}
	return nil
}

func microTime(t time.Time) metav1.MicroTime { return metav1.NewMicroTime(t) }
