package marker

import (
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"apigen.dev/generator/internal/model"
)

var (
	labelPattern         = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	storagePrefixPattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(/[a-z0-9]([a-z0-9.-]*[a-z0-9])?)*$`)
)

// checkLabel reports a name that no path of an API can hold.
func (u *Use) checkLabel(key, value string) {
	if value != "" && !labelPattern.MatchString(value) {
		u.fault(": %s %q is no name for a path: write small letters, digits and dashes", key, value)
	}
}

// setPlural counts less than the path of +kubebuilder:resource.
func setPlural(k *model.Kind, u *Use) {
	u.checkLabel("the plural", u.Value)
	if k.Plural == "" {
		k.Plural = u.Value
	}
}

func setNonNamespaced(k *model.Kind, _ *Use) { k.ClusterScoped, k.Client.NonNamespaced = true, true }

func setResource(k *model.Kind, u *Use) {
	k.Served = true
	for i, a := range u.Args {
		switch a.Key {
		case "path":
			u.checkLabel(a.Key, a.Value)
			k.Plural = a.Value
		case "singular":
			u.checkLabel(a.Key, a.Value)
			k.Singular = a.Value
		case "shortName":
			k.ShortNames = u.labels(a)
		case "categories":
			k.Categories = u.labels(a)
		case "scope":
			u.setScope(k, a.Value)
		}
		u.checkRepeated(i)
	}
}

func (u *Use) labels(a Arg) []string {
	names := SplitList(a.Value)
	for i, name := range names {
		u.checkLabel(a.Key, name)
		if slices.Contains(names[:i], name) {
			u.fault(": %s %q is there twice", a.Key, name)
		}
	}
	return names
}

func (u *Use) setScope(k *model.Kind, scope string) {
	switch scope {
	case "Cluster":
		k.ClusterScoped = true
	case "Namespaced":
		k.ClusterScoped = false
		if u.beside.has("genclient:nonNamespaced") {
			u.Errorf("+kubebuilder:resource:scope=Namespaced and +genclient:nonNamespaced contradict each other: " +
				"remove one")
		}
	default:
		u.Errorf("scope %q of marker \"+%s\" is neither Cluster nor Namespaced", scope, u.Name)
	}
}

// checkRepeated reports an argument that another such marker above gives another value.
func (u *Use) checkRepeated(i int) {
	a := u.Args[i]
	before, line := a, 0
	for _, m := range u.beside.named(u.Name) {
		here := m.Pos == u.Pos
		if here {
			m.Args = m.Args[:i]
		}
		for _, other := range m.Args {
			if other.Key == a.Key {
				before, line = other, m.Pos.Line
			}
		}
		if here {
			break
		}
	}
	if a.Value != before.Value {
		u.fault(": %s is given twice, with %s here and with %s at line %d: remove one", a.Key, a.Value, before.Value,
			line)
	}
}

// columnTypes are those of kubectl's columns, columnFormats those that kube-apiserver takes for custom resources.
var (
	columnTypes   = []string{"integer", "number", "string", "boolean", "date"}
	columnFormats = []string{"int32", "int64", "float", "double", "byte", "date", "date-time", "password"}
)

func addPathColumn(k *model.Kind, u *Use) {
	k.Columns = append(k.Columns, u.column())
	if _, typed := u.Arg("type"); !typed {
		u.fault(" needs type=, one of %s", strings.Join(columnTypes, ", "))
	}
	if u.arg("JSONPath") == "" {
		u.fault(" needs JSONPath=")
	}
}

// addMethodColumn adds a column that a method shows, or the column of the name.
func addMethodColumn(k *model.Kind, u *Use) {
	col := u.column()
	switch {
	case col.Format == model.NameFormat && col.Method != "":
		u.fault(" shows the name of the object: remove method=%s or format=%s", col.Method, model.NameFormat)
	case col.Format == model.NameFormat:
		col.Type, col.JSONPath = "string", ".metadata.name"
	case col.Method == "":
		u.fault(" needs method=, the name of a method of the kind")
	}
	k.Columns = append(k.Columns, col)
}

func (u *Use) column() model.Column {
	col := model.Column{
		Name: u.arg("name"), Type: u.arg("type"), Format: u.arg("format"), Description: u.arg("description"),
		JSONPath: u.arg("JSONPath"), Method: u.arg("method"), Pos: u.Pos,
	}
	if p := u.arg("priority"); p != "" {
		n, err := strconv.ParseInt(p, 10, 32)
		if err != nil {
			u.Errorf("priority %q of marker \"+%s\" is not a whole number", p, u.Name)
		}
		col.Priority = int32(n)
	}
	if col.Name == "" {
		u.fault(" needs name=")
	}
	if v, ok := u.Arg("type"); ok && !slices.Contains(columnTypes, v) {
		u.fault(": type %q is not one of %s", v, strings.Join(columnTypes, ", "))
	}
	formats := columnFormats
	if u.Name == "apigen:printcolumn" {
		formats = append(slices.Clip(formats), model.NameFormat)
	}
	if v := col.Format; v != "" && !slices.Contains(formats, v) {
		u.fault(": format %q is not one of %s", v, strings.Join(formats, ", "))
	}
	return col
}

// addSelectable adds the field of either marker; that of controller-gen is called by its path.
func addSelectable(k *model.Kind, u *Use) {
	f := model.SelectableField{Name: u.arg("name"), JSONPath: u.arg("JSONPath"), Method: u.arg("method"), Pos: u.Pos}
	if path, ok := strings.CutPrefix(f.JSONPath, "."); ok && f.Name == "" {
		f.Name = path
	}
	for i := len(k.Selectable) - 1; i >= 0 && f.Name != ""; i-- {
		if k.Selectable[i].Name == f.Name {
			u.fault(": %s is already given at line %d", f.Shown(), k.Selectable[i].Pos.Line)
			break
		}
	}
	k.Selectable = append(k.Selectable, f)
}

func addNamedSelectable(k *model.Kind, u *Use) {
	if u.arg("name") == "" || (u.arg("JSONPath") == "") == (u.arg("method") == "") {
		u.fault(" needs name=, and either JSONPath= or method=")
		return
	}
	addSelectable(k, u)
}

func setDeprecated(k *model.Kind, u *Use) { k.IsDeprecated, k.Deprecated = true, u.arg("warning") }

func setRemoved(k *model.Kind, u *Use) { k.Removed = u.Value }

func addMetadata(k *model.Kind, u *Use) {
	k.Manifest.Labels = append(k.Manifest.Labels, u.pairs("labels")...)
	k.Manifest.Annotations = append(k.Manifest.Annotations, u.pairs("annotations")...)
}

func (u *Use) pairs(arg string) []model.KeyValue {
	var out []model.KeyValue
	for _, element := range SplitList(u.arg(arg)) {
		key, value, ok := strings.Cut(element, "=")
		if !ok || key == "" {
			u.Errorf("%q in marker \"+%s\" is no pair: write %s=\"key=value\"", element, u.Name, arg)
			continue
		}
		out = append(out, model.KeyValue{Key: key, Value: value})
	}
	return out
}

func setSameAs(k *model.Kind, u *Use) {
	packages := packageOf(u.Value)
	if len(packages) != 1 {
		u.Errorf("%q names no kind of a package: write +%s=example.com/project/apis/core/v1.Event", u.Value, u.Name)
		return
	}
	k.SameAs = &model.Ref{Path: packages[0], Name: u.Value[len(packages[0])+1:], Pos: u.Pos}
}

// setConversionNames gives fields of the kind's type the names of their counterparts.
func setConversionNames(_ *model.Kind, u *Use) {
	for _, pair := range u.Strings() {
		name, hub, ok := strings.Cut(pair, ":")
		if !ok || !token.IsExported(name) || !token.IsExported(hub) {
			u.Errorf("%q of marker \"+%s\" is no pair of fields: write +%s=Note:Message, the field of this kind first",
				pair, u.Name, u.Name)
			continue
		}
		field := model.FieldNamed(u.On, name)
		if field == nil {
			u.Errorf("%s has no field %s, which marker \"+%s\" names", u.On.Name, name, u.Name)
			continue
		}
		field.ConversionName = hub
	}
}

func setStoragePrefix(k *model.Kind, u *Use) {
	if !storagePrefixPattern.MatchString(strings.ReplaceAll(u.Value, "*", "plural")) {
		u.Errorf("%q is no prefix of keys: it needs lower-case letters, digits, dots and dashes between single "+
			"slashes, and none at its ends, as in deployments or services/specs; * stands for the plural", u.Value)
		return
	}
	k.StoragePrefix, k.StoragePrefixPos = u.Value, u.Pos
}

func setNameRule(k *model.Kind, u *Use) {
	if k.Name, k.NamePos = model.NameRuleOf(u.Value), u.Pos; k.Name == nil {
		u.fault(": a kind has one rule for names, and %q are several", u.Value)
	}
}

func setScale(k *model.Kind, u *Use) {
	if u.arg("specpath") == "" {
		u.fault(" needs specpath=, where the number of replicas that is wanted stands")
		return
	}
	k.Scale = &model.Scale{
		SpecPath: u.arg("specpath"), StatusPath: u.arg("statuspath"), SelectorPath: u.arg("selectorpath"), Pos: u.Pos,
	}
}

var subresourcePattern = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// builtin are the subresources that other declarations ask for, and how.
var builtin = map[string]string{
	"status": "a Status field or +kubebuilder:subresource:status says so; metadata=annotations says what else a " +
		"write of it changes",
	"scale": "write +kubebuilder:subresource:scale:specpath=.spec.replicas",
}

func addSubresource(k *model.Kind, u *Use) {
	s := model.SubresourceMarker{Name: u.arg("name"), ContentType: u.arg("contentType"), Pos: u.Pos}
	switch {
	case s.Name == "":
		u.fault(" needs name=")
		return
	case !subresourcePattern.MatchString(s.Name):
		u.Errorf("%q is no name of a subresource: it needs lower-case letters and digits, as in log or port-forward",
			s.Name)
		return
	case builtin[s.Name] != "" && (s.Name != "status" || u.arg("metadata") == ""):
		u.Errorf("the subresource %s needs no +%s: %s", s.Name, u.Name, builtin[s.Name])
		return
	}
	s.Methods, s.Parts, s.Metadata = u.methods(), SplitList(u.arg("parts")), u.metadata()
	s.Subpath, s.Address = u.boolean("subpath"), u.boolean("address")
	k.Subresources = append(k.Subresources, s)
}

// boolean returns an argument that is true or false; it is false if the marker doesn't have it.
func (u *Use) boolean(key string) bool {
	text, said := u.Arg(key)
	value, err := strconv.ParseBool(text)
	if said && err != nil {
		u.Errorf("%s=%s of marker \"+%s\" is neither true nor false", key, text, u.Name)
	}
	return value
}

var httpMethods = []string{"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"}

func (u *Use) methods() []string {
	var out []string
	for _, method := range SplitList(u.arg("methods")) {
		if method == "*" {
			out = slices.Clone(httpMethods)
			break
		}
		if method = strings.ToUpper(method); !slices.Contains(httpMethods, method) {
			u.Errorf("%q is no HTTP method: known are %s, or * for all", method, strings.Join(httpMethods, ", "))
			continue
		}
		out = append(out, method)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var metadataMembers = []string{"annotations", "finalizers", "labels", "ownerReferences"}

// metadata reads the members of metadata that a subresource writes.
func (u *Use) metadata() []string {
	out := SplitList(u.arg("metadata"))
	if slices.Contains(out, "*") {
		return slices.Clone(metadataMembers)
	}
	for _, name := range out {
		if !slices.Contains(metadataMembers, name) {
			u.Errorf("%q is no member of metadata that a subresource changes: known are %s, or * for all", name,
				strings.Join(metadataMembers, ", "))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
