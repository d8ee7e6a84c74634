// Package v1 serves pod disruption budgets.
//
// +apigen:serve=k8s.io/api/policy/v1
// +apigen:serve:kinds=PodDisruptionBudget
// +apigen:kind(PodDisruptionBudget)=+apigen:storagePrefix=poddisruptionbudgets
// +apigen:kind(PodDisruptionBudget)=+apigen:name=any
// +apigen:kind(PodDisruptionBudget)=+apigen:subresource:name=status,metadata=*
//
// +apigen:kind(PodDisruptionBudget)=+kubebuilder:resource:shortName=pdb
// +apigen:kind(PodDisruptionBudget)=+apigen:printcolumn:name="Min Available",type=string,method=MinAvailableColumn
// +apigen:kind(PodDisruptionBudget)=+apigen:printcolumn:name="Max Unavailable",type=string,method=MaxUnavailableColumn
// +apigen:kind(PodDisruptionBudget)=+kubebuilder:printcolumn:name="Allowed Disruptions",type=integer,JSONPath=.status.disruptionsAllowed
// +apigen:kind(PodDisruptionBudget)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
package v1
