// Package v1 serves pod disruption budgets, with the types of k8s.io/api.
//
// +apigen:serve=k8s.io/api/policy/v1
// +apigen:serve:kinds=PodDisruptionBudget
//
// +apigen:kind(PodDisruptionBudget)=+apigen:storagePrefix=poddisruptionbudgets
// +apigen:kind(PodDisruptionBudget)=+kubebuilder:resource:shortName=pdb
// +apigen:kind(PodDisruptionBudget)=+kubebuilder:printcolumn:name=Min available,type=string,JSONPath=.spec.minAvailable
// +apigen:kind(PodDisruptionBudget)=+kubebuilder:printcolumn:name=Max unavailable,type=string,JSONPath=.spec.maxUnavailable
// +apigen:kind(PodDisruptionBudget)=+kubebuilder:printcolumn:name=Allowed disruptions,type=integer,JSONPath=.status.disruptionsAllowed
// +apigen:kind(PodDisruptionBudget)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
package v1
