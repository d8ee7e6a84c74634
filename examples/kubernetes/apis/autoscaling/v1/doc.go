// Package v1 serves the first version of the group autoscaling.
//
// +apigen:serve=k8s.io/api/autoscaling/v1
//
// +apigen:kind(HorizontalPodAutoscaler)=+apigen:printcolumn:name=Reference,type=string,method=ReferenceColumn
// +apigen:kind(HorizontalPodAutoscaler)=+apigen:printcolumn:name=Targets,type=string,method=TargetsColumn
// +apigen:kind(HorizontalPodAutoscaler)=+apigen:printcolumn:name=MinPods,type=string,method=MinColumn
// +apigen:kind(HorizontalPodAutoscaler)=+kubebuilder:printcolumn:name=MaxPods,type=integer,JSONPath=.spec.maxReplicas
// +apigen:kind(HorizontalPodAutoscaler)=+kubebuilder:printcolumn:name=Replicas,type=integer,JSONPath=.status.currentReplicas
// +apigen:kind(HorizontalPodAutoscaler)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
package v1
