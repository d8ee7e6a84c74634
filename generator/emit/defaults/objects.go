package defaults

import "apigen.dev/generator/model"

// Objects returns the types that a SetObjectDefaults_X is emitted for into the package, by name, so that wiring can call
// it.
func Objects(program *model.Program, pkg *model.Package) []*model.Type {
	return newGraph(program, pkg, newIndex(program)).roots()
}
