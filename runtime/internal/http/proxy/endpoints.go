package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

const maxPort = 65535

// service is a port of a service; port 0 is every port.
type service struct {
	namespace, name string
	port            int32
}

// ParseEndpoints parses the values of a flag, which are namespace/name:port=host:port, such as
// metrics/server:443=10.0.0.7:8443. Without the first port, a value is for all ports that no other value names. The
// returned Resolve leaves services without a value to otherwise; nil is DNS. The error names the flag and every value
// that is wrong.
func ParseEndpoints(flag string, values []string, otherwise Resolve) (Resolve, error) {
	if otherwise == nil {
		otherwise = DNS
	}
	addresses := make(map[service]string, len(values))
	var errs []error
	for _, value := range values {
		from, address, err := parseEndpoint(value)
		if err == nil && addresses[from] != "" {
			err = fmt.Errorf("the service has an endpoint already, %s", addresses[from])
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("--%s: %q: %w", flag, value, err))
			continue
		}
		addresses[from] = address
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return func(ctx context.Context, namespace, name string, port int32) (string, error) {
		for _, key := range []service{{namespace, name, port}, {namespace, name, 0}} {
			if address, ok := addresses[key]; ok {
				return address, nil
			}
		}
		return otherwise(ctx, namespace, name, port)
	}, nil
}

func parseEndpoint(value string) (service, string, error) {
	from, address, ok := strings.Cut(value, "=")
	namespace, rest, slash := strings.Cut(from, "/")
	if !ok || !slash {
		return service{}, "", errors.New("it is not of the form namespace/name:port=host:port")
	}
	name, port, hasPort := strings.Cut(rest, ":")
	s := service{namespace: namespace, name: name}
	if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
		return service{}, "", fmt.Errorf("namespace %q: %s", namespace, problems[0])
	}
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		return service{}, "", fmt.Errorf("service %q: %s", name, problems[0])
	}
	if hasPort {
		var err error
		if s.port, err = parsePort(port); err != nil {
			return service{}, "", fmt.Errorf("the service's %w", err)
		}
	}
	return s, address, checkAddress(address)
}

func parsePort(text string) (int32, error) {
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return 0, fmt.Errorf("port %q is not a number between 1 and %d", text, maxPort)
	}
	return int32(port), nil
}

func checkAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("address %q is not of the form host:port, or [host]:port for IPv6", address)
	}
	if net.ParseIP(host) == nil && len(validation.IsDNS1123Subdomain(strings.ToLower(host))) > 0 {
		return fmt.Errorf("host %q of the address is neither an IP address nor a domain name", host)
	}
	if _, err = parsePort(port); err != nil {
		return fmt.Errorf("the address's %w", err)
	}
	return nil
}
