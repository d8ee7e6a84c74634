package encryption

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

const (
	apiVersion = "apiserver.config.k8s.io/v1"
	kind       = "EncryptionConfiguration"
	// redacted stands for a secret in errors.
	redacted = "REDACTED"
)

type configuration struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Resources  []rule `json:"resources"`
}

type rule struct {
	Resources []string   `json:"resources"`
	Providers []provided `json:"providers"`
}

// provided has exactly one member.
type provided struct {
	Identity  *struct{}        `json:"identity"`
	AESGCM    *secrets         `json:"aesgcm"`
	AESCBC    *secrets         `json:"aescbc"`
	Secretbox *secrets         `json:"secretbox"`
	KMS       *json.RawMessage `json:"kms"`
}

type secrets struct {
	Keys []secret `json:"keys"`
}

type secret struct {
	Name   string `json:"name"`
	Secret string `json:"secret"`
}

// Keys is a configuration: a Chain for each resource. It is immutable; the zero value leaves all values unencrypted.
type Keys struct {
	chains map[schema.GroupResource]*Chain
}

var (
	plain  = &Chain{links: []link{{name: "identity", cipher: identity{}}}}
	anyAny = schema.GroupResource{Group: "*", Resource: "*"}
)

// For returns the chain of a resource: that of its own name, of its group's "*", or of "*.*". A resource that no rule
// names is stored unencrypted.
func (k *Keys) For(gr schema.GroupResource) *Chain {
	for _, name := range []schema.GroupResource{gr, {Group: gr.Group, Resource: "*"}, anyAny} {
		if chain := k.chains[name]; chain != nil {
			return chain
		}
	}
	return plain
}

// Unused returns the names in rules that match none of the resources: a resource whose name is misspelled is stored
// unencrypted. Names for all resources, or for all of a group, are never among them.
func (k *Keys) Unused(resources []schema.GroupResource) []string {
	var unused []string
	for gr := range k.chains {
		if gr.Resource != "*" && !slices.Contains(resources, gr) {
			unused = append(unused, gr.String())
		}
	}
	slices.Sort(unused)
	return unused
}

// typeName returns the name of a Go type in words of YAML.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Pointer, reflect.Map:
		return "object"
	case reflect.Slice:
		return "list"
	}
	return t.Kind().String()
}

// Parse reads an EncryptionConfiguration in YAML or JSON. It rejects unknown and duplicate fields, and everything that
// kube-apiserver rejects. It also rejects names that no resource can have, and a second document in the file:
// kube-apiserver ignores these, and their author believes that they encrypt something. Every error names the field, and
// none repeats a secret.
func Parse(data []byte) (*Keys, error) {
	data, err := onlyDocument(data)
	if err != nil {
		return nil, err
	}
	var c configuration
	asJSON, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, err
	}
	strict, err := kjson.UnmarshalStrict(asJSON, &c)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		if wrong.Field == "" {
			return nil, fmt.Errorf("no EncryptionConfiguration: the file is a %s", wrong.Value)
		}
		return nil, fmt.Errorf("no EncryptionConfiguration: %s is a %s, and should be of type %s", wrong.Field,
			wrong.Value, typeName(wrong.Type))
	}
	if err != nil {
		return nil, err
	}
	if len(strict) > 0 {
		return nil, errors.Join(strict...)
	}
	var errs field.ErrorList
	if c.Kind != kind {
		errs = append(errs, field.NotSupported(field.NewPath("kind"), c.Kind, []string{kind}))
	}
	if c.APIVersion != apiVersion {
		errs = append(errs, field.NotSupported(field.NewPath("apiVersion"), c.APIVersion, []string{apiVersion}))
	}
	k := &Keys{chains: map[schema.GroupResource]*Chain{}}
	path := field.NewPath("resources")
	if len(c.Resources) == 0 {
		errs = append(errs, field.Required(path, "at least one rule is needed"))
	}
	for i := range c.Resources {
		errs = append(errs, k.add(&c.Resources[i], path.Index(i))...)
	}
	if err := errs.ToAggregate(); err != nil {
		return nil, err
	}
	return k, nil
}

// onlyDocument returns the one document of a file that isn't blank.
func onlyDocument(data []byte) ([]byte, error) {
	var only []byte
	for reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data))); ; {
		document, err := reader.Read()
		switch {
		case errors.Is(err, io.EOF):
			return only, nil
		case err != nil:
			return nil, err
		case isBlank(document):
			continue
		case only != nil:
			return nil, errors.New("the file holds several YAML documents: put the rules of all under the " +
				"resources of one")
		}
		only = document
	}
}

func isBlank(document []byte) bool {
	for line := range bytes.Lines(document) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' && !bytes.Equal(line, []byte("---")) {
			return false
		}
	}
	return true
}

// add adds one rule. A resource that several rules name has the links of the first rule, then of the next.
func (k *Keys) add(r *rule, path *field.Path) (errs field.ErrorList) {
	if len(r.Resources) == 0 {
		errs = append(errs, field.Required(path.Child("resources"), "at least one resource is needed"))
	}
	if len(r.Providers) == 0 {
		errs = append(errs, field.Required(path.Child("providers"), "at least one provider is needed"))
	}
	var links []link
	for i := range r.Providers {
		more, bad := r.Providers[i].links(path.Child("providers").Index(i))
		links, errs = append(links, more...), append(errs, bad...)
	}
	errs = append(errs, checkResources(r.Resources, path.Child("resources"))...)
	for i, name := range r.Resources {
		gr := schema.ParseGroupResource(name)
		for _, wider := range []schema.GroupResource{{Group: gr.Group, Resource: "*"}, anyAny} {
			if k.chains[wider] != nil {
				errs = append(errs, field.Invalid(path.Child("resources").Index(i), name,
					"an earlier rule, for "+text(wider)+", hides this one"))
			}
		}
	}
	for _, name := range r.Resources {
		gr := schema.ParseGroupResource(name)
		chain := k.chains[gr]
		if chain == nil {
			chain = &Chain{}
			k.chains[gr] = chain
		}
		chain.links = append(chain.links, links...)
	}
	return errs
}

// text returns a resource as the file names it.
func text(gr schema.GroupResource) string {
	if gr.Group == "" && gr.Resource == "*" {
		return "*."
	}
	return gr.String()
}

// checkResources rejects names without a meaning, and names that hide one another within one rule.
func checkResources(names []string, path *field.Path) (errs field.ErrorList) {
	for i, name := range names {
		gr := schema.ParseGroupResource(name)
		bad := func(why string) { errs = append(errs, field.Invalid(path.Index(i), name, why)) }
		switch {
		case name == "":
			bad("it names no resource")
		case strings.ToLower(name) != name:
			bad("names of resources have no capital letters")
		case name == "*":
			bad(`"*." is all resources of the core group, "*.*" all resources`)
		case gr.Group == "*" && gr.Resource != "*":
			bad("a resource can't be named across groups")
		case gr.Resource == "":
			bad("it names a group and no resource of it")
		case strings.ContainsFunc(name, unicode.IsSpace):
			bad("it has a space")
		case gr.Resource != "*" && strings.Contains(gr.Resource, "*"),
			gr.Group != "*" && strings.Contains(gr.Group, "*"):
			bad(`"*" stands for all resources, or for all groups, and not for a part of a name`)
		}
		for _, other := range names[:i] {
			switch o := schema.ParseGroupResource(other); {
			case o == gr:
				bad("the list has it twice")
			case o == anyAny || gr == anyAny, o.Group == gr.Group && (o.Resource == "*" || gr.Resource == "*"):
				bad(fmt.Sprintf("it overlaps with %q in the same list", other))
			}
		}
	}
	return errs
}

func (p *provided) links(path *field.Path) ([]link, field.ErrorList) {
	var links []link
	var errs field.ErrorList
	found := 0
	if p.Identity != nil {
		found++
		links = plain.links
	}
	for _, candidate := range []struct {
		name  string
		keys  *secrets
		sizes []int
		build func(secret []byte) (provider, error)
	}{
		{"aesgcm", p.AESGCM, []int{16, 24, 32}, newGCM},
		{"aescbc", p.AESCBC, []int{16, 24, 32}, newCBC},
		{"secretbox", p.Secretbox, []int{32}, newBox},
	} {
		if candidate.keys == nil {
			continue
		}
		found++
		keys := path.Child(candidate.name, "keys")
		if len(candidate.keys.Keys) == 0 {
			errs = append(errs, field.Required(keys, "at least one key is needed"))
		}
		for i, s := range candidate.keys.Keys {
			cipher, bad := s.cipher(keys.Index(i), candidate.sizes, candidate.build)
			errs = append(errs, bad...)
			links = append(links, link{prefix: mark + candidate.name + ":v1:" + s.Name + ":",
				name: nameOf(candidate.name, s.Name), cipher: cipher})
		}
	}
	if p.KMS != nil {
		found++
		errs = append(errs, field.NotSupported(path, "kms", []string{"identity", "aesgcm", "secretbox", "aescbc"}))
	}
	if found != 1 {
		errs = append(errs, field.Invalid(path, field.OmitValueType{},
			fmt.Sprintf("it names %d providers; each element has exactly one of identity, aesgcm, secretbox, aescbc",
				found)))
	}
	return links, errs
}

func (s *secret) cipher(path *field.Path, sizes []int,
	build func([]byte) (provider, error)) (provider, field.ErrorList) {
	var errs field.ErrorList
	if s.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), "sealed values begin with the name of their key"))
	}
	at := path.Child("secret")
	raw, err := base64.StdEncoding.DecodeString(s.Secret)
	switch {
	case s.Secret == "":
		return nil, append(errs, field.Required(at, "it is the key itself, in base64"))
	case err != nil:
		return nil, append(errs, field.Invalid(at, redacted, "it must be base64"))
	case !slices.Contains(sizes, len(raw)):
		return nil, append(errs, field.Invalid(at, redacted,
			fmt.Sprintf("it has %d bytes, not one of %v", len(raw), sizes)))
	}
	cipher, err := build(raw)
	if err != nil {
		errs = append(errs, field.Invalid(at, redacted, err.Error()))
	}
	return cipher, errs
}
