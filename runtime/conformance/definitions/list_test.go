package definitions

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	// dearerBound bounds what a list of custom resources takes, to a list of as many bytes of a generated kind.
	dearerBound = 1.05
	// rounds is how often compareLists measures both lists, and listsPerRound how many of each it then gets.
	rounds, listsPerRound = 40, 10

	listed       = "lists" // a namespace
	listedCustom = "/apis/cert-manager.io/v1/namespaces/" + listed + "/certificates"
	listedLeases = "/apis/coordination.k8s.io/v1/namespaces/" + listed + "/leases"
)

// compareLists makes custom resources and as many Leases of the same sizes, and returns how much dearer a list of the
// custom resources is. It writes and lists both by turns: they lie in memory alike, and what else the machine does
// falls on both.
func (i *instance) compareLists() float64 {
	i.t.Helper()
	i.must(http.MethodPost, "/api/v1/namespaces", "application/json", encoded(i.t, map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": listed},
	}))
	rest := i.unpaddedLease()
	i.each(func(n int) (*answer, error) {
		object := certificate(n)
		object["metadata"].(map[string]any)["namespace"] = listed
		got, err := i.send(http.MethodPost, listedCustom, "application/json", encoded(i.t, object))
		if err != nil || got.status != http.StatusCreated {
			return got, err
		}
		return i.send(http.MethodPost, listedLeases, "application/json", i.lease(n, len(got.body)-rest))
	})
	custom, generated := len(i.get(listedCustom)), len(i.get(listedLeases))
	if ratio := float64(custom) / float64(generated); ratio < 0.995 || ratio > 1.005 {
		i.t.Fatalf("the lists have %d and %d bytes", custom, generated)
	}
	i.rest()
	var took [2]time.Duration
	for range rounds {
		for n, path := range []string{listedCustom, listedLeases} {
			before := i.cpu()
			for range listsPerRound {
				i.get(path)
			}
			took[n] += i.cpu() - before
		}
	}
	i.t.Logf("%d lists took %s, those of a generated kind %s", rounds*listsPerRound, took[0], took[1])
	return float64(took[0]) / float64(took[1])
}

// lease is the nth Lease, with an annotation of a length.
func (i *instance) lease(n, padding int) []byte {
	name := fmt.Sprintf("site-%05d", n)
	return encoded(i.t, map[string]any{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
		"metadata": map[string]any{
			"name": name, "namespace": listed, "labels": map[string]any{"app": name},
			"annotations": map[string]any{"padding": strings.Repeat("x", padding)},
		},
	})
}

// unpaddedLease returns the size of a Lease in a list where its annotation is empty.
func (i *instance) unpaddedLease() int {
	i.t.Helper()
	const head = `"kind":"Lease","apiVersion":"coordination.k8s.io/v1",` // items of a list don't have it
	made := i.must(http.MethodPost, listedLeases, "application/json", i.lease(0, 0))
	i.must(http.MethodDelete, listedLeases+"/site-00000", "", nil)
	return len(made.body) - len(head)
}
