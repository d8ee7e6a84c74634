package fault

import "k8s.io/apimachinery/pkg/util/validation/field"

// Place is where in the JSON of an object a walk is: At leads to the value that is looked at.
type Place struct{ At []Step }

// Step leads to a member of an object or map, or, where Name is nil, to an element of a list. Name is as JSON has it.
type Step struct {
	Name  []byte
	InMap bool
	Index int
}

// Path returns the path of the value that is looked at, and of a member of it unless name is "". Few values have
// faults, so that no other step of a walk makes one.
func (p *Place) Path(name string) (path *field.Path) {
	for _, s := range p.At {
		switch {
		case s.Name == nil:
			path = path.Index(s.Index)
		case s.InMap:
			path = path.Key(string(s.Name))
		default:
			path = path.Child(string(s.Name))
		}
	}
	if name != "" {
		path = path.Child(name)
	}
	return path
}
