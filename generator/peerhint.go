package generator

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/model"
)

// missingConversion finds the packages and types in the name of a conversion function that isn't there.
var missingConversion = regexp.MustCompile(`^undefined: (?:auto)?Convert_([^_]+)_(\w+)_To_([^_]+)_(\w+)$`)

// withPeers adds, to what the compiler says of conversion functions that the user calls and nothing writes, the marker that
// has them written.
func withPeers(p *model.Program, err error) error {
	var faults emit.Errors
	if !errors.As(err, &faults) {
		return err
	}
	out := make(emit.Errors, len(faults))
	for i, f := range faults {
		out[i] = f
		if m := missingConversion.FindStringSubmatch(f.Message); m != nil {
			out[i].Message += peerHint(p, filepath.Dir(f.Pos.Filename), [2]string{m[1], m[2]}, [2]string{m[3], m[4]})
		}
	}
	return out.Err()
}

// peerHint names the package, of which a function in dir converts a type, that no marker there names.
func peerHint(p *model.Program, dir string, in, out [2]string) string {
	var home *model.Package
	for _, candidate := range p.Packages {
		if candidate.Dir == dir {
			home = candidate
		}
	}
	if home == nil {
		return ""
	}
	if in[1] != out[1] {
		return fmt.Sprintf(": only structs of one name are paired by themselves: write this function, or name %s and %s alike", in[1], out[1])
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
		return ": nothing asks for it: write // +k8s:conversion-gen= with the import path of the package with the other type above the package clause"
	}
	return ": nothing asks for it: write // +k8s:conversion-gen=" + strings.Join(peers, ", or =") + " above the package clause"
}
