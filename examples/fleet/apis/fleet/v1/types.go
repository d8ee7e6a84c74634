package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Ship sails. On board runs an agent, at status.address, which tells the ship's log, runs commands and forwards ports;
// the API server passes requests on to it, as kube-apiserver does to a kubelet.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=sh
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Crew",type=integer,JSONPath=`.spec.crew`
// +kubebuilder:printcolumn:name="Harbour",type=string,JSONPath=`.spec.harbour`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:subresource:scale:specpath=.spec.crew,statuspath=.status.crew,selectorpath=.spec.watch
// +apigen:subresource:name=clearance
// +apigen:subresource:name=docking
// +apigen:subresource:name=eviction
// +apigen:subresource:name=ticket
// +apigen:subresource:name=manifest
// +apigen:subresource:name=log
// +apigen:subresource:name=exec
// +apigen:subresource:name=attach
// +apigen:subresource:name=portforward
// +apigen:subresource:name=proxy,methods=*,subpath=true,address=true
type Ship struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ShipSpec   `json:"spec,omitempty"`
	Status ShipStatus `json:"status,omitempty"`
	// Clearance is the harbour master's word. It is given through ships/clearance, and by nobody else.
	// +optional
	Clearance Clearance `json:"clearance,omitempty"`
}

// ShipSpec is what the ship is to do.
type ShipSpec struct {
	// Crew is how many sailors are wanted.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=500
	Crew *int64 `json:"crew,omitempty"`
	// Watch selects the sailors.
	// +optional
	Watch *metav1.LabelSelector `json:"watch,omitempty"`
	// Harbour is where the ship lies. Only a Docking sets it.
	// +optional
	Harbour string `json:"harbour,omitempty"`
	// Passengers on board, by name. Only an eviction sends them away.
	// +optional
	// +listType=set
	Passengers []string `json:"passengers,omitempty"`
}

// ShipStatus is what the ship is like.
type ShipStatus struct {
	// Crew is how many sailors there are.
	// +optional
	Crew int64 `json:"crew,omitempty"`
	// Address is the URL of the agent on board. Whoever may write the status decides where requests are passed on to.
	// +optional
	Address string `json:"address,omitempty"`
}

// Clearance is the leave to sail.
type Clearance struct {
	// +optional
	Granted bool `json:"granted,omitempty"`
	// +optional
	By string `json:"by,omitempty"`
}

// ShipList is a list of ships.
//
// +kubebuilder:object:root=true
type ShipList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Ship `json:"items"`
}

// Docking brings a ship to a harbour: what is posted to ships/docking.
//
// +kubebuilder:object:root=true
type Docking struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Harbour is where to.
	// +kubebuilder:validation:MinLength=1
	Harbour string `json:"harbour"`
}

// TicketRequest asks for a ticket: what is posted to ships/ticket, and answered.
//
// +kubebuilder:object:root=true
type TicketRequest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec TicketSpec `json:"spec"`
	// Status is the answer.
	// +optional
	Status TicketStatus `json:"status,omitempty"`
}

// TicketSpec is what is asked for.
type TicketSpec struct {
	Passenger string `json:"passenger"`
	// +optional
	// +default="deck"
	Class string `json:"class,omitempty"`
}

// TicketStatus is the ticket.
type TicketStatus struct {
	Number string `json:"number"`
}

// Manifest lists who is on board: what ships/manifest shows.
//
// +kubebuilder:object:root=true
// +kubebuilder:printcolumn:name="Passengers",type=integer,JSONPath=`.count`
type Manifest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Count int32 `json:"count"`
	// +optional
	// +listType=atomic
	Names []string `json:"names,omitempty"`
}

// ManifestOptions are the query of ships/manifest.
type ManifestOptions struct {
	// Prefix is what names begin with.
	Prefix string `json:"prefix,omitempty"`
}

// LogOptions are the query of ships/log.
type LogOptions struct {
	// Follow goes on as long as the ship writes.
	Follow bool `json:"follow,omitempty"`
	// TailLines is how many of the last lines are told; all where it is absent.
	TailLines *int64 `json:"tailLines,omitempty"`
}

// ExecOptions are the query of ships/exec and ships/attach.
type ExecOptions struct {
	Stdin   bool     `json:"stdin,omitempty"`
	Stdout  bool     `json:"stdout,omitempty"`
	Stderr  bool     `json:"stderr,omitempty"`
	TTY     bool     `json:"tty,omitempty"`
	Command []string `json:"command,omitempty"`
}

// PortForwardOptions are the query of ships/portforward.
type PortForwardOptions struct {
	Ports []int32 `json:"ports,omitempty"`
}

// ProxyOptions are those of ships/proxy.
type ProxyOptions struct {
	// Path is what follows ships/NAME/proxy/.
	Path string `json:"path,omitempty"`
}
