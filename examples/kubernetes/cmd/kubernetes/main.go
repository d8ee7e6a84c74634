// Command kubernetes serves the stable API of Kubernetes: the groups of this project, the ready-made groups of apigen,
// custom resources, and other servers behind it. Its --help lists the flags.
package main

import (
	"apigen.dev/runtime/server"

	"example.com/kubernetes/internal/program"
)

func main() { server.Main(program.New()) }
