package v1

// Declarative has the rules of Kubernetes' own markers.
type Declarative struct {
	// +k8s:required
	Required string `json:"required"`
	// +k8s:required
	RequiredList []string `json:"requiredList"`
	// +k8s:forbidden
	Forbidden *string `json:"forbidden,omitempty"`
	// +k8s:optional
	// +k8s:minimum=1
	// +k8s:maximum=9
	Bounded *int32 `json:"bounded,omitempty"`
	// +k8s:optional
	// +k8s:minLength=2
	// +k8s:maxLength=4
	// +k8s:neq=none
	Text string `json:"text,omitempty"`
	// +k8s:optional
	// +k8s:maxBytes=4
	Bytes string `json:"bytes,omitempty"`
	// +k8s:optional
	// +k8s:format=k8s-short-name
	Name string `json:"name,omitempty"`
	// +k8s:optional
	// +k8s:beta(since: "1.37")=+k8s:minItems=1
	// +k8s:beta(since: "1.37")=+k8s:maxItems=2
	// +k8s:eachVal=+k8s:maxLength=3
	// +k8s:alpha=+k8s:eachVal=+k8s:minLength=3
	List []string `json:"list,omitempty"`
	// +k8s:optional
	// +k8s:eachKey=+k8s:format=k8s-short-name
	// +k8s:eachVal=+k8s:minimum=1
	// +k8s:maxProperties=2
	Map map[string]int32 `json:"map,omitempty"`
	// +k8s:optional
	// +listType=atomic
	// +k8s:unique=set
	Unique []string `json:"unique,omitempty"`
	// +k8s:optional
	// +k8s:listType=map
	// +k8s:listMapKey=type
	// +k8s:item(type: "Frozen")=+k8s:immutable
	Entries []Entry `json:"entries,omitempty"`
	// +k8s:optional
	// +k8s:listType=map
	// +k8s:listMapKey=type
	// +k8s:beta(since: "1.37")=+k8s:item(type: "Approved")=+k8s:zeroOrOneOfMember
	// +k8s:beta(since: "1.37")=+k8s:item(type: "Denied")=+k8s:zeroOrOneOfMember
	Verdicts []Entry `json:"verdicts,omitempty"`
	// +k8s:subfield(left)=+k8s:unionMember
	// +k8s:subfield(right)=+k8s:unionMember
	Chosen *Loose `json:"chosen,omitempty"`
	// +k8s:optional
	Color Color `json:"color,omitempty"`
	// +k8s:optional
	// +k8s:immutable
	Fixed string `json:"fixed,omitempty"`
	// +k8s:optional
	// +k8s:update=NoUnset,NoModify
	Once *string `json:"once,omitempty"`
	// +k8s:optional
	// +k8s:listType=set
	// +k8s:update=NoRemoveItem
	Growing []string `json:"growing,omitempty"`
	// +k8s:optional
	// +k8s:monotonic
	Rising int64 `json:"rising,omitempty"`
	// +k8s:optional
	// +k8s:opaqueType
	Opaque Color `json:"opaque,omitempty"`
	// +k8s:optional
	// +k8s:dependentRequired("seal")
	Letter *string `json:"letter,omitempty"`
	// +k8s:optional
	Seal *string `json:"seal,omitempty"`
	// +k8s:optional
	// +k8s:dependentForbidden("pay")
	Free *bool `json:"free,omitempty"`
	// +k8s:optional
	Pay *int32 `json:"pay,omitempty"`
	// +k8s:optional
	Union *Union `json:"union,omitempty"`
	// +k8s:optional
	Tagged *Tagged `json:"tagged,omitempty"`
	// +k8s:optional
	Loose *Loose `json:"loose,omitempty"`
	// +k8s:optional
	Modal *Modal `json:"modal,omitempty"`
}

// Entry is told from others by its type.
type Entry struct {
	Type string `json:"type"`
	// +k8s:required
	Text string `json:"text"`
}

// Color is an enumeration.
//
// +k8s:enum
type Color string

// The colors.
const (
	Red   Color = "Red"
	Green Color = "Green"
	// +k8s:enumExclude
	Black Color = "Black"
)

// Union has exactly one of its members.
type Union struct {
	// +k8s:unionMember
	First *string `json:"first,omitempty"`
	// +k8s:unionMember
	Second []string `json:"second,omitempty"`
}

// Tagged has the member that its discriminator says.
type Tagged struct {
	// +k8s:unionDiscriminator
	Kind string `json:"kind"`
	// +k8s:unionMember
	File *string `json:"file,omitempty"`
	// +k8s:unionMember(memberName: "Web")
	URL *string `json:"url,omitempty"`
}

// Loose has one of its members, or none.
type Loose struct {
	// +k8s:zeroOrOneOfMember
	Left *string `json:"left,omitempty"`
	// +k8s:zeroOrOneOfMember
	Right string `json:"right,omitempty"`
}

// Modal needs its queue in one mode and has none in the others.
type Modal struct {
	// +k8s:modeDiscriminator
	Mode string `json:"mode"`
	// +k8s:ifMode("Queue")=+k8s:required
	// +k8s:ifMode("Queue")=+k8s:maxLength=3
	// +k8s:ifMode("Maybe")=+k8s:optional
	Queue *string `json:"queue,omitempty"`
}
