package v1

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fleet/internal/passage"
)

// ValidateClearanceUpdate checks writes of ships/clearance.
func (s *Ship) ValidateClearanceUpdate(_ context.Context, _ *Ship) field.ErrorList {
	if s.Clearance.Granted && s.Clearance.By == "" {
		return field.ErrorList{field.Required(field.NewPath("clearance", "by"), "somebody must have granted it")}
	}
	return nil
}

// ValidateUpdate rejects a change of the harbour. Only a Docking may move a ship.
func (s *Ship) ValidateUpdate(_ context.Context, old *Ship) field.ErrorList {
	if s.Spec.Harbour != old.Spec.Harbour {
		return field.ErrorList{field.Forbidden(field.NewPath("spec", "harbour"), "post a Docking to ships/docking")}
	}
	return nil
}

// Docking implements ships/docking: it moves the ship to a harbour.
func (s *Ship) Docking(_ context.Context, in *Docking) error {
	if !s.Clearance.Granted {
		return apierrors.NewForbidden(s.resource(), s.Name, fmt.Errorf("the ship has no clearance"))
	}
	if s.Spec.Harbour == in.Harbour {
		return apierrors.NewConflict(s.resource(), s.Name, fmt.Errorf("it lies in %s already", in.Harbour))
	}
	s.Spec.Harbour = in.Harbour
	return nil
}

// Eviction implements ships/eviction: it sends the passenger ashore whom an annotation names. The kind is policy/v1's.
func (s *Ship) Eviction(_ context.Context, in *policyv1.Eviction) error {
	passenger := in.Annotations["fleet.example.com/passenger"]
	at := slices.Index(s.Spec.Passengers, passenger)
	if at < 0 {
		return apierrors.NewBadRequest(fmt.Sprintf("%q is not on board", passenger))
	}
	s.Spec.Passengers = slices.Delete(s.Spec.Passengers, at, at+1)
	return nil
}

// Ticket implements ships/ticket: it takes the passenger on board and answers with the completed request.
func (s *Ship) Ticket(_ context.Context, in *TicketRequest) (*TicketRequest, error) {
	if slices.Contains(s.Spec.Passengers, in.Spec.Passenger) {
		return nil, apierrors.NewConflict(s.resource(), s.Name, fmt.Errorf("%s is on board already", in.Spec.Passenger))
	}
	s.Spec.Passengers = append(s.Spec.Passengers, in.Spec.Passenger)
	hash := fnv.New32a()
	_, _ = io.WriteString(hash, s.Name+"/"+in.Spec.Passenger+"/"+in.Spec.Class) // it never fails
	in.Status.Number = strconv.FormatUint(uint64(hash.Sum32()), 10)
	return in, nil
}

// Manifest implements ships/manifest: it lists the passengers.
func (s *Ship) Manifest(_ context.Context, options *ManifestOptions) (*Manifest, error) {
	out := &Manifest{}
	out.Name, out.Namespace, out.CreationTimestamp = s.Name, s.Namespace, s.CreationTimestamp
	for _, name := range s.Spec.Passengers {
		if strings.HasPrefix(name, options.Prefix) {
			out.Names = append(out.Names, name)
		}
	}
	out.Count = int32(len(out.Names))
	return out, nil
}

// Log implements ships/log: it returns the agent's log.
func (s *Ship) Log(ctx context.Context, options *LogOptions) (io.ReadCloser, error) {
	return s.agent().Log(ctx, options.Follow, options.TailLines)
}

// Exec, Attach, PortForward and Proxy are connections to the agent.

// Exec implements ships/exec.
func (s *Ship) Exec(_ context.Context, options *ExecOptions) (http.Handler, error) {
	if len(options.Command) == 0 {
		return nil, apierrors.NewBadRequest("you must specify at least 1 command for the container")
	}
	return s.agent().Connect("exec")
}

// Attach implements ships/attach.
func (s *Ship) Attach(context.Context, *ExecOptions) (http.Handler, error) {
	return s.agent().Connect("attach")
}

// Portforward implements ships/portforward.
func (s *Ship) Portforward(context.Context, *PortForwardOptions) (http.Handler, error) {
	return s.agent().Connect("portforward")
}

// Proxy implements ships/proxy.
func (s *Ship) Proxy(context.Context, *ProxyOptions) (http.Handler, error) { return s.agent().Proxy() }

func (s *Ship) agent() passage.Agent {
	return passage.Agent{Resource: s.resource(), Name: s.Name, Address: s.Status.Address}
}

func (s *Ship) resource() schema.GroupResource {
	return SchemeGroupVersion.WithResource("ships").GroupResource()
}
