package v1

import (
	"cmp"
	"strconv"

	discoveryv1 "k8s.io/api/discovery/v1"

	"example.com/kubernetes/internal/column"
)

// most is how many ports and endpoints a column lists.
const most = 3

// PortsColumn_EndpointSlice lists the ports of the endpoints.
func PortsColumn_EndpointSlice(slice *discoveryv1.EndpointSlice) string {
	var ports []string
	for _, port := range slice.Ports {
		text := column.Or(port.Name, "*")
		if port.Port != nil {
			text = strconv.Itoa(int(*port.Port))
		}
		ports = append(ports, text)
	}
	return cmp.Or(column.First(ports, most, ","), "<unset>")
}

// EndpointsColumn_EndpointSlice lists the addresses of the endpoints.
func EndpointsColumn_EndpointSlice(slice *discoveryv1.EndpointSlice) string {
	var addresses []string
	for i := range slice.Endpoints {
		addresses = append(addresses, slice.Endpoints[i].Addresses...)
	}
	return cmp.Or(column.First(addresses, most, ","), "<unset>")
}
