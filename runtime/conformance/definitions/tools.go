//go:build tools

package definitions

import (
	_ "k8s.io/apiextensions-apiserver/test/integration"
	_ "k8s.io/apiextensions-apiserver/test/integration/conversion"
)
