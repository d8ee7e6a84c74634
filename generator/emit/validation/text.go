package validation

import (
	"github.com/dave/jennifer/jen"
)

// length returns the number of characters of the value's JSON.
func (w *writer) length(v value) *jen.Statement {
	if v.typ.IsBytes() {
		return w.file.Qual("encoding/base64", "StdEncoding").Dot("EncodedLen").Call(jen.Len(v.place.Value()))
	}
	return w.file.Qual("unicode/utf8", "RuneCountInString").Call(w.string(v))
}

// string returns the value as a plain string.
func (w *writer) string(v value) *jen.Statement {
	if v.typ.Name == "" {
		return v.place.Value()
	}
	return jen.String().Call(v.place.Value())
}

func (w *writer) pattern(v value, pattern string) []jen.Code {
	name, ok := w.patterns[pattern]
	if !ok {
		name = w.declare(v.label+"Pattern", "", w.file.Qual("regexp", "MustCompile").Call(rawString(pattern)))
		w.patterns[pattern] = name
	}
	return w.refuse(v, jen.Op("!").Id(name).Dot("MatchString").Call(w.string(v)), "should match '"+pattern+"'")
}

// rawString is a string literal in back quotes where it can be.
func rawString(s string) jen.Code {
	for _, r := range s {
		if r == '`' || r < ' ' {
			return jen.Lit(s)
		}
	}
	return jen.Op("`" + s + "`")
}

// named holds the formats of Kubernetes' own grammar, and the functions that check them.
var named = map[string]string{
	"k8s-short-name":                    "ShortName",
	"k8s-long-name":                     "LongName",
	"k8s-long-name-caseless":            "LongNameCaseless",
	"k8s-label-key":                     "LabelKey",
	"k8s-prefixed-label-key":            "PrefixedLabelKey",
	"k8s-label-value":                   "LabelValue",
	"k8s-path-segment-name":             "PathSegmentName",
	"k8s-uuid":                          "UUID",
	"k8s-resource-pool-name":            "ResourcePoolName",
	"k8s-extended-resource-name":        "ExtendedResourceName",
	"k8s-resource-fully-qualified-name": "ResourceFullyQualifiedName",
}

// parsed holds the formats of OpenAPI that a function of the standard library parses: its package, its name, and the
// arguments in front of the value.
var parsed = map[string]struct {
	path, name string
	before     []string
}{
	"date-time": {"time", "Parse", []string{"RFC3339"}},
	"datetime":  {"time", "Parse", []string{"RFC3339"}},
	"date":      {"time", "Parse", []string{"DateOnly"}},
	"cidr":      {"net", "ParseCIDR", nil},
	"mac":       {"net", "ParseMAC", nil},
	"uri":       {"net/url", "ParseRequestURI", nil},
	"email":     {"net/mail", "ParseAddress", nil},
}

// uuidPattern is kube-apiserver's pattern of a UUID in a custom resource.
const uuidPattern = `^(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$`

// knownFormat reports whether the server checks a format; other formats only document the schema.
func knownFormat(name string) bool {
	_, byParsing := parsed[name]
	return named[name] != "" || byParsing || name == "ipv4" || name == "ipv6" || name == "uuid" || name == "byte"
}

func (w *writer) format(v value, name string) []jen.Code {
	if function := named[name]; function != "" {
		return []jen.Code{w.check(v, function, v.place.Address(), jen.Nil())}
	}
	refused := w.fail(v, "TypeInvalid", v.place.Value(),
		inBody(v, "must be of type "+name+": ").Op("+").Add(w.file.Qual("strconv", "Quote").Call(w.string(v))))
	if p, ok := parsed[name]; ok {
		var args []jen.Code
		for _, a := range p.before {
			args = append(args, w.file.Qual(p.path, a))
		}
		call := w.file.Qual(p.path, p.name).Call(append(args, w.string(v))...)
		results := jen.List(jen.Id("_"), jen.Err())
		if p.name == "ParseCIDR" {
			results = jen.List(jen.Id("_"), jen.Id("_"), jen.Err())
		}
		return []jen.Code{jen.If(results.Op(":=").Add(call), jen.Err().Op("!=").Nil()).Block(refused)}
	}
	switch name {
	case "uuid":
		pattern, ok := w.patterns[uuidPattern]
		if !ok {
			pattern = w.declare("uuidFormat", "", w.file.Qual("regexp", "MustCompile").Call(rawString(uuidPattern)))
			w.patterns[uuidPattern] = pattern
		}
		return []jen.Code{jen.If(jen.Op("!").Id(pattern).Dot("MatchString").Call(w.string(v))).Block(refused)}
	case "byte":
		decode := w.file.Qual("encoding/base64", "StdEncoding").Dot("DecodeString").Call(w.string(v))
		return []jen.Code{jen.If(jen.List(jen.Id("_"), jen.Err()).Op(":=").Add(decode),
			jen.Err().Op("!=").Nil()).Block(refused)}
	}
	is := map[string]string{"ipv4": "Is4", "ipv6": "Is6"}[name]
	parse := w.file.Qual("net/netip", "ParseAddr").Call(w.string(v))
	return []jen.Code{jen.If(jen.List(jen.Id("a"), jen.Err()).Op(":=").Add(parse),
		jen.Err().Op("!=").Nil().Op("||").Op("!").Id("a").Dot(is).Call()).Block(refused)}
}
