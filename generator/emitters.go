package generator

import (
	"fmt"
	"slices"
	"strings"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/emit/applyconfig"
	"apigen.dev/generator/emit/clients"
	"apigen.dev/generator/emit/conversion"
	"apigen.dev/generator/emit/crd"
	"apigen.dev/generator/emit/deepcopy"
	"apigen.dev/generator/emit/defaults"
	"apigen.dev/generator/emit/groups"
	"apigen.dev/generator/emit/informers"
	"apigen.dev/generator/emit/listers"
	"apigen.dev/generator/emit/openapi"
	"apigen.dev/generator/emit/reference"
	"apigen.dev/generator/emit/register"
	"apigen.dev/generator/emit/roundtrip"
	"apigen.dev/generator/emit/rules"
	"apigen.dev/generator/emit/validation"
	"apigen.dev/generator/emit/wiring"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
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

func planned(program *model.Program, also ...*model.Package) *plan.Plan {
	p := plan.New(program, also...)
	p.Applied = openapi.Applied(p)
	return p
}

// imports are the packages that emitted code imports; they are listed together with what the sources import, so that
// nothing has to be listed twice.
var imports = slices.Concat([]string{
	"k8s.io/apimachinery/pkg/api/resource",
	"k8s.io/apimachinery/pkg/apis/meta/v1",
	"k8s.io/apimachinery/pkg/conversion",
	"k8s.io/apimachinery/pkg/runtime",
	"k8s.io/apimachinery/pkg/runtime/schema",
	"unsafe",
}, validation.Imports())

var runtimeImports = []string{
	"apigen.dev/runtime/api",
	"apigen.dev/runtime/codec",
	"apigen.dev/runtime/registry",
	"apigen.dev/runtime/roundtrip",
	"testing",
}

func selected(all []emit.Emitter, only []string) ([]emit.Emitter, error) {
	if len(only) == 0 {
		return all, nil
	}
	var out []emit.Emitter
	for _, name := range only {
		i := slices.IndexFunc(all, func(e emit.Emitter) bool { return e.Name == name })
		if i < 0 {
			var names []string
			for _, e := range all {
				names = append(names, e.Name)
			}
			return nil, fmt.Errorf("unknown emitter %q: known are %s", name, strings.Join(names, ", "))
		}
		out = append(out, all[i])
	}
	return out, nil
}

func owner(emitters []emit.Emitter) func(base string) bool {
	return func(base string) bool {
		return slices.ContainsFunc(emitters, func(e emit.Emitter) bool { return e.Owns(base) })
	}
}
