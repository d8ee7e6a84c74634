package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Pod is a crew that runs somewhere. Its fields are some of those that Kubernetes' pods have, under the same names.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=po,categories=all
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +apigen:subresource:name=log
// +apigen:subresource:name=exec
// +apigen:subresource:name=attach
// +apigen:subresource:name=portforward
type Pod struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   PodSpec   `json:"spec,omitempty"`
	Status PodStatus `json:"status,omitempty"`
}

// PodSpec is what is to run.
type PodSpec struct {
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	Containers []Container `json:"containers"`
}

// Container is a process of a pod.
type Container struct {
	Name string `json:"name"`
	// +optional
	Image string `json:"image,omitempty"`
}

// PodStatus is what runs.
type PodStatus struct {
	// +optional
	Phase string `json:"phase,omitempty"`
	// Address is the URL of the agent that the pod runs under. Whoever may write the status decides where requests are
	// passed on to.
	// +optional
	Address string `json:"address,omitempty"`
}

// PodList is a list of pods.
//
// +kubebuilder:object:root=true
type PodList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Pod `json:"items"`
}

// PodLogOptions are the query of pods/log.
type PodLogOptions struct {
	Container string `json:"container,omitempty"`
	Follow    bool   `json:"follow,omitempty"`
	TailLines *int64 `json:"tailLines,omitempty"`
}

// PodExecOptions are the query of pods/exec and pods/attach.
type PodExecOptions struct {
	Container string   `json:"container,omitempty"`
	Command   []string `json:"command,omitempty"`
	Stdin     bool     `json:"stdin,omitempty"`
	Stdout    bool     `json:"stdout,omitempty"`
	Stderr    bool     `json:"stderr,omitempty"`
	TTY       bool     `json:"tty,omitempty"`
}

// PodPortForwardOptions are the query of pods/portforward.
type PodPortForwardOptions struct {
	Ports []int32 `json:"ports,omitempty"`
}
