// Command kubectl is kubectl, for tests on machines that have none: of the minor version that package exchange's
// answers were recorded with. `make kubectl` builds it.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
)

func main() {
	os.Exit(cli.Run(cmd.NewDefaultKubectlCommand()))
}
