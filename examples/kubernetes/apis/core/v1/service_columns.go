package v1

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubernetes/internal/column"
)

// ClusterIPColumn_Service is the address of a service within the cluster.
func ClusterIPColumn_Service(service *corev1.Service) string {
	if len(service.Spec.ClusterIPs) == 0 {
		return column.None
	}
	return service.Spec.ClusterIPs[0]
}

// ExternalIPColumn_Service lists the addresses of a service outside of the cluster.
func ExternalIPColumn_Service(service *corev1.Service) string {
	external := strings.Join(service.Spec.ExternalIPs, ",")
	switch service.Spec.Type {
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort:
		if external == "" {
			return column.None
		}
		return external
	case corev1.ServiceTypeLoadBalancer:
		balancer := column.Clip(column.Set(balancers(service)))
		if balancer == "" && external == "" {
			return "<pending>"
		}
		return strings.Trim(balancer+","+external, ",")
	case corev1.ServiceTypeExternalName:
		return service.Spec.ExternalName
	}
	return "<unknown>"
}

func balancers(service *corev1.Service) (all []string) {
	for _, at := range service.Status.LoadBalancer.Ingress {
		switch {
		case at.IP != "":
			all = append(all, at.IP)
		case at.Hostname != "":
			all = append(all, at.Hostname)
		}
	}
	return all
}

// PortsColumn_Service lists the ports of a service, with those on the nodes.
func PortsColumn_Service(service *corev1.Service) string {
	var ports []string
	for _, port := range service.Spec.Ports {
		text := fmt.Sprintf("%d/%s", port.Port, port.Protocol)
		if port.NodePort > 0 {
			text = fmt.Sprintf("%d:%d/%s", port.Port, port.NodePort, port.Protocol)
		}
		ports = append(ports, text)
	}
	if len(ports) == 0 {
		return column.None
	}
	return strings.Join(ports, ",")
}

// SelectorColumn_Service shows the labels of the pods of a service.
func SelectorColumn_Service(service *corev1.Service) string {
	return column.Labels(service.Spec.Selector)
}

// EndpointsColumn_Endpoints lists the addresses of endpoints.
func EndpointsColumn_Endpoints(endpoints *corev1.Endpoints) string {
	var all []string
	for _, subset := range endpoints.Subsets {
		for _, address := range subset.Addresses {
			if len(subset.Ports) == 0 {
				all = append(all, address.IP)
			}
		}
		for _, port := range subset.Ports {
			for _, address := range subset.Addresses {
				all = append(all, net.JoinHostPort(address.IP, strconv.Itoa(int(port.Port))))
			}
		}
	}
	if len(endpoints.Subsets) == 0 {
		return column.None
	}
	return column.First(slices.Clip(all), 3, ",")
}
