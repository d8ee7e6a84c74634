// Package column has the texts of columns that several kinds print.
package column

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// None is the text of a cell without a value.
const None = "<none>"

// Containers lists the names of the containers.
func Containers(template *corev1.PodTemplateSpec) string {
	return list(template, func(c *corev1.Container) string { return c.Name })
}

// Images lists the images of the containers.
func Images(template *corev1.PodTemplateSpec) string {
	return list(template, func(c *corev1.Container) string { return c.Image })
}

func list(template *corev1.PodTemplateSpec, text func(*corev1.Container) string) string {
	if template == nil {
		return ""
	}
	texts := make([]string, len(template.Spec.Containers))
	for i := range template.Spec.Containers {
		texts[i] = text(&template.Spec.Containers[i])
	}
	return strings.Join(texts, ",")
}

// Labels shows labels as kubectl does.
func Labels(set map[string]string) string { return labels.FormatLabels(set) }

// First lists at most n texts, and tells how many more there are. Without texts it is empty.
func First(texts []string, n int, separator string) string {
	if len(texts) <= n {
		return strings.Join(texts, separator)
	}
	return fmt.Sprintf("%s + %d more...", strings.Join(texts[:n], separator), len(texts)-n)
}

// Or returns what a pointer points to, or another text.
func Or[T ~string](value *T, other string) string {
	if value == nil {
		return other
	}
	return string(*value)
}

// Set lists distinct texts in their order.
func Set(texts []string) string {
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), ",")
}

// widest is how long the addresses of a load balancer may be.
const widest = 16

// Clip shortens the addresses of a load balancer to what a narrow column has room for.
func Clip(text string) string {
	if len(text) > widest {
		return text[:widest-3] + "..."
	}
	return text
}
