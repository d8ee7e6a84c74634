package crd

// The packages that are compared: imported so that go.mod keeps their modules.
import (
	_ "github.com/cert-manager/cert-manager/pkg/apis/acme/v1"
	_ "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	_ "sigs.k8s.io/cluster-api/api/addons/v1beta1"
	_ "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	_ "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1"
	_ "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	_ "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta1"
	_ "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	_ "sigs.k8s.io/cluster-api/api/core/v1beta1"
	_ "sigs.k8s.io/cluster-api/api/core/v1beta2"
	_ "sigs.k8s.io/cluster-api/api/ipam/v1beta1"
	_ "sigs.k8s.io/cluster-api/api/ipam/v1beta2"
	_ "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	_ "sigs.k8s.io/gateway-api/apis/v1"
	_ "sigs.k8s.io/karpenter/pkg/apis/v1"
	_ "sigs.k8s.io/kueue/apis/kueue/v1beta1"
	_ "sigs.k8s.io/mcs-api/pkg/apis/v1beta1"
	_ "sigs.k8s.io/network-policy-api/apis/v1alpha2"
)
