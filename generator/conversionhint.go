package generator

import (
	"errors"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

var conversionName = regexp.MustCompile(`^(?:auto)?Convert_([^_]+)_(\w+)_To_([^_]+)_(\w+)$`)

// withPeers adds a hint to errors of the compiler that stand at the name of a conversion function which nothing
// declares and which isn't planned: the marker that has it generated.
func withPeers(p *plan.Plan, err error) error {
	var faults diag.Errors
	if !errors.As(err, &faults) {
		return err
	}
	out := slices.Clone(faults)
	for i, f := range faults {
		name := diag.TextAt(f.Pos, identifierPattern)
		m := conversionName.FindStringSubmatch(name)
		at := slices.IndexFunc(p.Packages, func(pkg *model.Package) bool {
			return pkg.Dir == filepath.Dir(f.Pos.Filename)
		})
		if m != nil && at >= 0 && !hasFunction(p, p.Packages[at], name) {
			out[i].Message += peerHint(p.Program, p.Packages[at], [2]string{m[1], m[2]}, [2]string{m[3], m[4]})
		}
	}
	return out.Err()
}

var identifierPattern = regexp.MustCompile(`^\w+`)

func hasFunction(p *plan.Plan, pkg *model.Package, name string) bool {
	if _, ok := pkg.Declared[name]; ok {
		return true
	}
	c := p.OfPackage(pkg).Conversions
	return c != nil && slices.ContainsFunc(c.Functions, func(f *plan.Conversion) bool {
		return f.Name == name || "auto"+f.Name == name
	})
}

// peerHint names the package, of which a function in home converts a type, that no marker there names.
func peerHint(p *model.Program, home *model.Package, in, out [2]string) string {
	if in[1] != out[1] {
		return ": only structs of one name are paired by themselves: write this function, or name " +
			in[1] + " and " + out[1] + " alike"
	}
	var peers []string
	for _, candidate := range p.Packages {
		if candidate == home || candidate == home.ConversionExternal || candidate.Type(in[1]) == nil {
			continue
		}
		if slices.Contains(home.ConversionPeers, candidate.Path) {
			return "" // it is asked for, and left out for another reason
		}
		if candidate.Name == in[0] || candidate.Name == out[0] {
			peers = append(peers, candidate.Path)
		}
	}
	for _, i := range home.Imports { // a package without markers is known by its path only
		if base := path.Base(i); i != home.Path && !slices.Contains(peers, i) && (base == in[0] || base == out[0]) {
			peers = append(peers, i)
		}
	}
	if len(peers) == 0 {
		return ": nothing asks for it: write // +k8s:conversion-gen= with the import path of the package with the " +
			"other type above the package clause"
	}
	return ": nothing asks for it: write // +k8s:conversion-gen=" + strings.Join(peers,
		", or =") + " above the package clause"
}
