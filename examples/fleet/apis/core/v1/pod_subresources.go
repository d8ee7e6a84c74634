package v1

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/fleet/internal/passage"
)

// Log implements pods/log.
func (p *Pod) Log(ctx context.Context, options *PodLogOptions) (io.ReadCloser, error) {
	if err := p.has(options.Container); err != nil {
		return nil, err
	}
	return p.agent().Log(ctx, options.Follow, options.TailLines)
}

// Exec implements pods/exec.
func (p *Pod) Exec(_ context.Context, options *PodExecOptions) (http.Handler, error) {
	if len(options.Command) == 0 {
		return nil, apierrors.NewBadRequest("you must specify at least 1 command for the container")
	}
	if err := p.has(options.Container); err != nil {
		return nil, err
	}
	return p.agent().Connect("exec")
}

// Attach implements pods/attach.
func (p *Pod) Attach(_ context.Context, options *PodExecOptions) (http.Handler, error) {
	if err := p.has(options.Container); err != nil {
		return nil, err
	}
	return p.agent().Connect("attach")
}

// Portforward implements pods/portforward.
func (p *Pod) Portforward(context.Context, *PodPortForwardOptions) (http.Handler, error) {
	return p.agent().Connect("portforward")
}

// has returns an error if the pod has no container of the name. An empty name is the first container.
func (p *Pod) has(container string) error {
	if container == "" || slices.ContainsFunc(p.Spec.Containers, func(c Container) bool {
		return c.Name == container
	}) {
		return nil
	}
	return apierrors.NewBadRequest(fmt.Sprintf("container %s is not valid for pod %s", container, p.Name))
}

func (p *Pod) agent() passage.Agent {
	return passage.Agent{Resource: SchemeGroupVersion.WithResource("pods").GroupResource(), Name: p.Name,
		Address: p.Status.Address}
}
