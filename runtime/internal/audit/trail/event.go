package trail

import (
	"encoding/json"
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

	RequestReceivedTimestamp metav1.MicroTime  `json:"requestReceivedTimestamp"`
	StageTimestamp           metav1.MicroTime  `json:"stageTimestamp"`
	Annotations              map[string]string `json:"annotations,omitempty"`

	// origin is the JSON of the members from requestURI to userAgent, where a Record has encoded it for all stages.
	origin []byte
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

func microTime(t time.Time) metav1.MicroTime { return metav1.NewMicroTime(t) }
