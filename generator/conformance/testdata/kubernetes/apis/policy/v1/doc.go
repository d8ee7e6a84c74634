// Package v1 serves the group policy.
//
// +apigen:serve=k8s.io/api/policy/v1
// +apigen:serve:kinds=PodDisruptionBudget
// +apigen:kind(PodDisruptionBudget)=+apigen:storagePrefix=poddisruptionbudgets
// +apigen:kind(PodDisruptionBudget)=+apigen:subresource:name=status,metadata=*
//
// +apigen:kind(PodDisruptionBudget)=+kubebuilder:resource:shortName=pdb
// +apigen:kind(PodDisruptionBudget)=+kubebuilder:printcolumn:name="Min Available",type=string,JSONPath=.spec.minAvailable
// +apigen:kind(PodDisruptionBudget)=+kubebuilder:printcolumn:name="Max Unavailable",type=string,JSONPath=.spec.maxUnavailable
// +apigen:kind(PodDisruptionBudget)=+kubebuilder:printcolumn:name="Allowed Disruptions",type=integer,JSONPath=.status.disruptionsAllowed
// +apigen:kind(PodDisruptionBudget)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
package v1
