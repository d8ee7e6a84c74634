// Package v1 serves pod disruption budgets, with the types of k8s.io/api.
//
// +apigen:serve=k8s.io/api/policy/v1
// +apigen:serve:kinds=PodDisruptionBudget
//
// +apigen:kind(PodDisruptionBudget)=+apigen:storagePrefix=poddisruptionbudgets
// +apigen:kind(PodDisruptionBudget)=+kubebuilder:resource:shortName=pdb
// +apigen:kind(PodDisruptionBudget)=+apigen:printcolumn:name="Min Available",type=string,method=MinAvailableColumn
// +apigen:kind(PodDisruptionBudget)=+apigen:printcolumn:name="Max Unavailable",type=string,method=MaxUnavailableColumn
// +apigen:kind(PodDisruptionBudget)=+kubebuilder:printcolumn:name="Allowed Disruptions",type=integer,JSONPath=.status.disruptionsAllowed
// +apigen:kind(PodDisruptionBudget)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
package v1
