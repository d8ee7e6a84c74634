package discovery

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// What another server says of the version of an APIService is about that version, and can't stand for anything else.

// keepOf leaves out what can't be a resource of a version: names that aren't parts of paths, and repeated ones.
// Resources are of kinds of the version.
func (v *versionDiscovery) keepOf(gv schema.GroupVersion) {
	known := map[string]bool{}
	v.Resources = slices.DeleteFunc(v.Resources, func(r resourceDiscovery) bool {
		repeated := known[r.Resource]
		known[r.Resource] = true
		return repeated || !isPathPart(r.Resource)
	})
	for i := range v.Resources {
		r := &v.Resources[i]
		if r.ResponseKind.Kind != "" {
			r.ResponseKind = metav1.GroupVersionKind{Group: gv.Group, Version: gv.Version, Kind: r.ResponseKind.Kind}
		}
		r.Subresources = slices.DeleteFunc(r.Subresources, func(s subresourceDiscovery) bool {
			return !arePathParts(s.Subresource)
		})
	}
}

// isPathPart reports whether a name has one spelling as a part of a path.
func isPathPart(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, `/\?#%`) &&
		!strings.ContainsFunc(name, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) })
}

// isPathOf reports whether a path of an OpenAPI document is root or below it, and has one spelling.
func isPathOf(root, path string) bool {
	below, ok := strings.CutPrefix(path, root)
	if !ok || below == "" || below == "/" {
		return ok
	}
	parts, ok := strings.CutPrefix(strings.TrimSuffix(below, "/"), "/")
	return ok && arePathParts(parts)
}

// arePathParts reports whether isPathPart holds for all parts between slashes.
func arePathParts(path string) bool {
	return !slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool { return !isPathPart(part) })
}

// errReference is why a document isn't taken over.
var errReference = errors.New("a reference leads out of the definitions of the document")

// claim makes of a document of another server one that is about a version, or fails.
func (p *swaggerParts) claim(gv schema.GroupVersion) (err error) {
	for _, parts := range []map[string]json.RawMessage{p.Paths, p.Definitions} {
		for name, part := range parts {
			if parts[name], err = claimed(part, gv, p.Definitions); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// claimed decodes a part of an OpenAPI v2 document of a version, and encodes it again, in one spelling, with kinds of
// the version alone. It fails where a reference leads to no definition among defined: it might lead to one of another
// server.
func claimed(
	part json.RawMessage, gv schema.GroupVersion, defined map[string]json.RawMessage,
) (json.RawMessage, error) {
	decoder := json.NewDecoder(bytes.NewReader(part))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if err := keepClaims(value, gv, defined); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

// keepClaims checks the references in a value, and leaves out kinds that aren't of a version.
func keepClaims(value any, gv schema.GroupVersion, defined map[string]json.RawMessage) error {
	switch value := value.(type) {
	case []any:
		for _, one := range value {
			if err := keepClaims(one, gv, defined); err != nil {
				return err
			}
		}
	case map[string]any:
		if reference, ok := value["$ref"].(string); ok && !leadsTo(reference, defined) {
			return errReference
		}
		keepKinds(value, gv)
		for _, one := range value {
			if err := keepClaims(one, gv, defined); err != nil {
				return err
			}
		}
	}
	return nil
}

// leadsTo reports whether a reference is to a definition, by a name that is the same in JSON, in pointers and in URLs.
func leadsTo(reference string, defined map[string]json.RawMessage) bool {
	name, ok := strings.CutPrefix(reference, "#/definitions/")
	return ok && defined[name] != nil && isPathPart(name) && !strings.ContainsAny(name, "\"~<>&\u2028\u2029")
}

// keepKinds leaves out kinds that aren't of a version: a list of kinds of a definition, and the kind of an operation.
func keepKinds(object map[string]any, gv schema.GroupVersion) {
	other := func(kind any) bool {
		of, ok := kind.(map[string]any)
		return !ok || of["group"] != gv.Group || of["version"] != gv.Version
	}
	kinds, ok := object[kindsKey].([]any)
	if !ok {
		if object[kindsKey] != nil && other(object[kindsKey]) {
			delete(object, kindsKey)
		}
		return
	}
	if kinds = slices.DeleteFunc(kinds, other); len(kinds) == 0 {
		delete(object, kindsKey)
	} else {
		object[kindsKey] = kinds
	}
}
