package validation

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/plan/check"
)

// length returns the number of characters of the value's JSON.
func (w *writer) length(v value) *jen.Statement {
	if v.typ.IsBytes() {
		return w.file.Code("base64.StdEncoding.EncodedLen(len($))", v.place.Value())
	}
	return w.file.Code("utf8.RuneCountInString($)", w.string(v))
}

func (w *writer) string(v value) *jen.Statement {
	if v.typ.Name == "" {
		return v.place.Value()
	}
	return w.file.Code("string($)", v.place.Value())
}

func (w *writer) pattern(v value, pattern string) []jen.Code {
	return w.refuse(v, w.mismatch(v, v.label+"Pattern", pattern), "should match '"+pattern+"'")
}

// mismatch returns the condition that a pattern doesn't match, which a variable of that name or a similar one holds.
func (w *writer) mismatch(v value, variable, pattern string) jen.Code {
	name, ok := w.patterns[pattern]
	if !ok {
		name = w.declare(variable, "", w.file.Code("regexp.MustCompile($)", rawString(pattern)))
		w.patterns[pattern] = name
	}
	return w.file.Code("!"+name+".MatchString($)", w.string(v))
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

// parsed holds the formats of OpenAPI that a function of the standard library parses: the condition that it fails, with
// $ for the value.
var parsed = map[string]string{
	"date-time": "_, err := time.Parse(time.RFC3339, $); err != nil",
	"datetime":  "_, err := time.Parse(time.RFC3339, $); err != nil",
	"date":      "_, err := time.Parse(time.DateOnly, $); err != nil",
	"cidr":      "_, _, err := net.ParseCIDR($); err != nil",
	"mac":       "_, err := net.ParseMAC($); err != nil",
	"uri":       "_, err := url.ParseRequestURI($); err != nil",
	"email":     "_, err := mail.ParseAddress($); err != nil",
	"byte":      "_, err := base64.StdEncoding.DecodeString($); err != nil",
	"ipv4":      "a, err := netip.ParseAddr($); err != nil || !a.Is4()",
	"ipv6":      "a, err := netip.ParseAddr($); err != nil || !a.Is6()",
}

// uuidPattern is kube-apiserver's pattern of a UUID in a custom resource.
const uuidPattern = `^(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$`

func (w *writer) format(v value, name string) []jen.Code {
	if function := check.Formats[name]; function != "" {
		return []jen.Code{w.check(v, function, v.place.Address(), jen.Nil())}
	}
	condition := w.file.Code(parsed[name], w.string(v))
	if name == "uuid" {
		condition = w.file.Code("$", w.mismatch(v, "uuidFormat", uuidPattern))
	}
	return []jen.Code{w.ifThen(condition, w.fail(v, "TypeInvalid", v.place.Value(),
		w.file.Code("$ + strconv.Quote($)", w.inBody(v, "must be of type "+name+": "), w.string(v))))}
}
