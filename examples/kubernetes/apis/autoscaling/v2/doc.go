// Package v2 serves the group autoscaling.
//
// +apigen:serve=k8s.io/api/autoscaling/v2
// +apigen:kind(HorizontalPodAutoscaler)=+apigen:storagePrefix=horizontalpodautoscalers
// +apigen:kind(HorizontalPodAutoscaler)=+apigen:subresource:name=status,metadata=*
//
// +apigen:kind(HorizontalPodAutoscaler)=+kubebuilder:storageversion
// +apigen:kind(HorizontalPodAutoscaler)=+kubebuilder:resource:shortName=hpa,categories=all
// +apigen:kind(HorizontalPodAutoscaler)=+apigen:printcolumn:name=Reference,type=string,method=ReferenceColumn
// +apigen:kind(HorizontalPodAutoscaler)=+apigen:printcolumn:name=Targets,type=string,method=TargetsColumn
// +apigen:kind(HorizontalPodAutoscaler)=+apigen:printcolumn:name=MinPods,type=string,method=MinColumn
// +apigen:kind(HorizontalPodAutoscaler)=+kubebuilder:printcolumn:name=MaxPods,type=integer,JSONPath=.spec.maxReplicas
// +apigen:kind(HorizontalPodAutoscaler)=+kubebuilder:printcolumn:name=Replicas,type=integer,JSONPath=.status.currentReplicas
// +apigen:kind(HorizontalPodAutoscaler)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
package v2
