package conformance

import (
	// The tests run the command, which is built from these: their results must not be taken from the cache once one of
	// them has changed.
	_ "apigen.dev/generator"
	_ "apigen.dev/runtime/registry"

	// What the output is compared with, and what the comparison needs: these keep the modules in go.mod.
	_ "k8s.io/api"
	_ "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	_ "k8s.io/client-go/informers"
	_ "k8s.io/client-go/kubernetes/fake"
	_ "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	_ "k8s.io/metrics/pkg/apis/metrics/v1"
	_ "k8s.io/sample-apiserver/pkg/apis/wardle/install"
	_ "sigs.k8s.io/cluster-api/api/core/v1beta1"
	_ "sigs.k8s.io/randfill"
)
