package webhook

import (
	"context"
	"errors"
	"fmt"

	v1 "apigen.dev/runtime/builtin/admissionregistration/v1"
	"apigen.dev/runtime/internal/access/manifest"
	"apigen.dev/runtime/internal/reload"
	registration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// readMutating returns the mutating webhooks of files.
func readMutating(files []reload.File) ([]*hook, error) {
	all := manifest.NewObjects("MutatingWebhookConfiguration", v1.SetObjectDefaults_MutatingWebhookConfiguration,
		func(c *registration.MutatingWebhookConfiguration) error {
			err := v1.ValidateObject_MutatingWebhookConfiguration(context.Background(), c).ToAggregate()
			errs := []error{err}
			for _, w := range c.Webhooks {
				errs = append(errs, reachable(w.Name, &w.ClientConfig))
			}
			return errors.Join(errs...)
		})
	return readHooks(files, all, mutatingHooks)
}

// readValidating returns the validating webhooks of files.
func readValidating(files []reload.File) ([]*hook, error) {
	all := manifest.NewObjects("ValidatingWebhookConfiguration", v1.SetObjectDefaults_ValidatingWebhookConfiguration,
		func(c *registration.ValidatingWebhookConfiguration) error {
			err := v1.ValidateObject_ValidatingWebhookConfiguration(context.Background(), c).ToAggregate()
			errs := []error{err}
			for _, w := range c.Webhooks {
				errs = append(errs, reachable(w.Name, &w.ClientConfig))
			}
			return errors.Join(errs...)
		})
	return readHooks(files, all, validatingHooks)
}

// reachable refuses a service: which services there are is not known before the server serves.
func reachable(webhook string, config *registration.WebhookClientConfig) error {
	if config.Service != nil {
		return fmt.Errorf("webhook %q: clientConfig.service is not supported for static manifests; use "+
			"clientConfig.url instead", webhook)
	}
	return nil
}

func readHooks[C metav1.Object](
	files []reload.File, configurations *manifest.Objects[C], hooksOf func(C) []*hook,
) ([]*hook, error) {
	if err := manifest.Read(files, configurations); err != nil {
		return nil, err
	}
	var all []*hook
	for _, c := range configurations.Sorted() {
		names := map[string]int{}
		for _, h := range hooksOf(c) {
			h.static, h.id = true, fmt.Sprintf("manifest/%s/%s/%d", c.GetName(), h.Name, names[h.Name])
			names[h.Name]++
			all = append(all, h)
		}
	}
	return all, nil
}
