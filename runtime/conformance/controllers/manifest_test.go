package controllers

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// absent are kinds of manifests that a control plane without pods doesn't serve.
var absent = []string{"Deployment", "Service", "PodDisruptionBudget"}

// deployment is what the tests read of a Deployment.
type deployment struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
	Spec     struct {
		Template struct {
			Spec struct {
				ServiceAccountName string
				Containers         []container
			}
		}
	}
}

type container struct {
	Args []string
	Env  []struct {
		Name, Value string
		ValueFrom   struct{ FieldRef struct{ FieldPath string } }
	}
}

// install applies the manifests but for those of kinds that a control plane without pods doesn't serve, and returns the
// Deployments among them by their names.
func (c *controlplane) install(t *testing.T, manifests string) map[string]deployment {
	t.Helper()
	deployments := map[string]deployment{}
	var served []string
	for _, document := range documents(manifests) {
		var d deployment
		if err := yaml.Unmarshal([]byte(document), &d); err != nil {
			t.Fatalf("%v\n%s", err, document)
		}
		if d.Kind == "Deployment" {
			deployments[d.Metadata.Name] = d
		}
		if d.Kind != "" && !slices.Contains(absent, d.Kind) {
			served = append(served, document)
		}
	}
	c.kubectl(t, strings.Join(served, "\n---\n"), "apply", "--server-side", "-f", "-")
	c.kubectl(t, "", "wait", "--for=condition=Established", "crd", "--all")
	return deployments
}

var separator = regexp.MustCompile(`(?m)^---.*$`)

func documents(manifests string) []string { return separator.Split(manifests, -1) }

func TestDocuments(t *testing.T) {
	got := documents("a: 1\n---\nb: '---'\n--- # c\nc: 3\n")
	if want := []string{"a: 1\n", "\nb: '---'\n", "\nc: 3\n"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
