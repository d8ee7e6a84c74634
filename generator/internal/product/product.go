// Package product lists what apigen generates: the emitters, and what the code that they print imports.
package product

import (
	"slices"

	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/applyconfig"
	"apigen.dev/generator/internal/emit/clients"
	"apigen.dev/generator/internal/emit/conversion"
	"apigen.dev/generator/internal/emit/crd"
	"apigen.dev/generator/internal/emit/deepcopy"
	"apigen.dev/generator/internal/emit/defaults"
	"apigen.dev/generator/internal/emit/groups"
	"apigen.dev/generator/internal/emit/informers"
	"apigen.dev/generator/internal/emit/listers"
	"apigen.dev/generator/internal/emit/openapi"
	"apigen.dev/generator/internal/emit/reference"
	"apigen.dev/generator/internal/emit/register"
	"apigen.dev/generator/internal/emit/roundtrip"
	"apigen.dev/generator/internal/emit/rules"
	"apigen.dev/generator/internal/emit/validation"
	"apigen.dev/generator/internal/emit/wiring"
)

// Emitters returns the products of the generator, in the order in which they run. A new one is a line here.
func Emitters() []emit.Emitter {
	return []emit.Emitter{
		deepcopy.Emitter(),
		defaults.Emitter(),
		conversion.Emitter(),
		validation.Emitter(),
		register.Emitter(),
		openapi.Emitter(),
		wiring.Emitter(),
		rules.Emitter(),
		roundtrip.Emitter(),
		groups.Emitter(),
		clients.Emitter(),
		listers.Emitter(),
		informers.Emitter(),
		applyconfig.Emitter(),
		reference.Emitter(),
		crd.Emitter(),
	}
}

// Imports are the packages that emitted code imports; they are listed together with what the sources import, so that
// nothing has to be listed twice.
var Imports = slices.Concat([]string{
	"k8s.io/apimachinery/pkg/api/resource",
	"k8s.io/apimachinery/pkg/apis/meta/v1",
	"k8s.io/apimachinery/pkg/conversion",
	"k8s.io/apimachinery/pkg/runtime",
	"k8s.io/apimachinery/pkg/runtime/schema",
	"unsafe",
}, validation.Imports())

// RuntimeImports are the packages that emitted code imports in modules that require apigen.dev.
var RuntimeImports = []string{
	"apigen.dev/runtime/api",
	"apigen.dev/runtime/codec",
	"apigen.dev/runtime/registry",
	"apigen.dev/runtime/roundtrip",
	"testing",
}

// Owner returns a function that reports whether one of the emitters writes files of a base name.
func Owner(emitters []emit.Emitter) func(base string) bool {
	return func(base string) bool {
		return slices.ContainsFunc(emitters, func(e emit.Emitter) bool { return e.Owns(base) })
	}
}
