// Package hook finds the logic of kinds that is written by hand and that servers call on writes, by names and
// signatures, and the methods and functions that only look like it. It knows the model and package contextual.
package hook

import (
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan/contextual"
)

// Hook is logic of a kind, written by hand, that a server calls when objects are written.
type Hook struct {
	// Name is the convention's: PrepareForCreate. Field is the Strategy's field that calls it; it is empty for hooks of
	// subresources.
	Name, Field string
	Func        *model.Func
	// Function: it is a function of the package that serves the kind, with the object as a parameter, since the kind is
	// of another module; else it is a method of the hub. Its signature is then that of the Strategy's field.
	Function bool
	// Errors is what a method Validate answers with in place of a field.ErrorList; nil if it answers with that.
	Errors *contextual.Errors
}

// The hooks that printing treats in ways of their own.
const (
	CheckGracefulDelete = "CheckGracefulDelete"
	BlocksDeletion      = "BlocksDeletion"
	ValidateName        = "ValidateName"
)

// ValidatePart names the hook that checks a write of a subresource that is a part of the object: ValidateStatusUpdate.
func ValidatePart(part string) string { return "Validate" + part + "Update" }

// PreparePart names the hook that changes the new object of such a write: PrepareForStatusUpdate.
func PreparePart(part string) string { return "PrepareFor" + part + "Update" }

// Of returns the hooks of a resource, in the order of a Strategy's fields.
func Of(r *model.Resource) []Hook {
	var out []Hook
	for _, c := range conventionsOf(r) {
		if f := c.functionOf(r.Hub, homes(r)); f != nil {
			out = append(out, Hook{Name: c.name, Field: c.field, Func: f, Function: true})
		} else if m, _ := r.Hub.Method(c.name); m != nil && c.fits(m, r.Hub) {
			out = append(out, Hook{Name: c.name, Field: c.field, Func: m, Errors: c.errors(m)})
		}
	}
	return out
}

// homes are the packages whose functions are hooks of a resource. A group that serves the objects of another one may
// have functions of its own for them, which take the place of the other's.
func homes(r *model.Resource) []*model.Package {
	return append(ownHomes(r), servedBy(r.Hub)...)
}

// ownHomes are the packages with the functions of a group for the objects of another one.
func ownHomes(r *model.Resource) (homes []*model.Package) {
	if r.SameAs == nil {
		return nil
	}
	for _, v := range r.Versions {
		homes = append(homes, v.Type.Package.Home())
	}
	return homes
}

// servedBy returns the package that has the hooks of a type of another module, or none.
func servedBy(t *model.Type) []*model.Package {
	if home := t.Package.ServedBy; home != nil {
		return []*model.Package{home}
	}
	return nil
}
