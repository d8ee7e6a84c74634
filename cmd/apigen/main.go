// Command apigen generates the code of Kubernetes-style API servers from annotated Go structs.
//
//	apigen init            writes a new project, or adds to one
//	apigen build ./...     generates code from the types and markers of packages
//	apigen build --check   fails, with a diff, if generated code is stale
//	apigen compat          finds changes that break clients or stored objects
//	apigen deploy          brings a deployment behind a cluster up to date with the types
//	apigen dev             generates, compiles and restarts the server on every change
//	apigen markers         prints the reference of markers
package main

import (
	"os"

	"apigen.dev/generator/command"
)

func main() { os.Exit(command.Main(os.Args[1:])) }
