package marker

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"apigen.dev/generator/model"
)

var (
	labelPattern         = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	storagePrefixPattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(/[a-z0-9]([a-z0-9.-]*[a-z0-9])?)*$`)
)

// checkLabel reports a name that no path of an API can hold.
func (u *Use) checkLabel(key, value string) {
	if value != "" && !labelPattern.MatchString(value) {
		u.Errorf("marker \"+%s\": %s %q is no name for a path: write small letters, digits and dashes", u.Name, key,
			value)
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

// labels returns the names in an argument.
func (u *Use) labels(a Arg) []string {
	names := SplitList(a.Value)
	for i, name := range names {
		u.checkLabel(a.Key, name)
		if slices.Contains(names[:i], name) {
			u.Errorf("marker \"+%s\": %s %q is there twice", u.Name, a.Key, name)
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
	var before Arg
	line := 0
	for _, m := range u.beside {
		if m.Definition != u.Definition {
			continue
		}
		args := m.Args
		if m.Pos == u.Pos {
			args = args[:i]
		}
		for _, a := range args {
			if a.Key == u.Args[i].Key {
				before, line = a, m.Pos.Line
			}
		}
		if m.Pos == u.Pos {
			break
		}
	}
	if a := u.Args[i]; line > 0 && a.Value != before.Value {
		u.Errorf("marker \"+%s\": %s is given twice, with %s here and with %s at line %d: remove one",
			u.Name, a.Key, a.Value, before.Value, line)
	}
}

// columnTypes are those of kubectl's columns, columnFormats those that kube-apiserver takes.
var (
	columnTypes   = []string{"integer", "number", "string", "boolean", "date"}
	columnFormats = []string{"int32", "int64", "float", "double", "byte", "date", "date-time", "password"}
)

func addPathColumn(k *model.Kind, u *Use) {
	k.Columns = append(k.Columns, u.column())
	if _, typed := u.Arg("type"); !typed {
		u.Errorf("marker \"+%s\" needs type=, one of %s", u.Name, strings.Join(columnTypes, ", "))
	}
	if u.arg("JSONPath") == "" {
		u.Errorf("marker \"+%s\" needs JSONPath=", u.Name)
	}
}

func addMethodColumn(k *model.Kind, u *Use) {
	k.Columns = append(k.Columns, u.column())
	if u.arg("method") == "" {
		u.Errorf("marker \"+%s\" needs method=, the name of a method of the kind", u.Name)
	}
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
		u.Errorf("marker \"+%s\" needs name=", u.Name)
	}
	if v, ok := u.Arg("type"); ok && !slices.Contains(columnTypes, v) {
		u.Errorf("marker \"+%s\": type %q is not one of %s", u.Name, v, strings.Join(columnTypes, ", "))
	}
	if v := col.Format; v != "" && !slices.Contains(columnFormats, v) {
		u.Errorf("marker \"+%s\": format %q is not one of %s", u.Name, v, strings.Join(columnFormats, ", "))
	}
	return col
}

func addSelectable(k *model.Kind, u *Use) {
	path := u.arg("JSONPath")
	for i := len(k.Selectable) - 1; i >= 0 && path != ""; i-- {
		if k.Selectable[i].JSONPath == path {
			u.Errorf("marker \"+%s\": %s is already given at line %d", u.Name, path, k.Selectable[i].Pos.Line)
			break
		}
	}
	k.Selectable = append(k.Selectable, model.SelectableField{JSONPath: path, Pos: u.Pos})
}

func setDeprecated(k *model.Kind, u *Use) { k.IsDeprecated, k.Deprecated = true, u.arg("warning") }

func addMetadata(k *model.Kind, u *Use) {
	k.Manifest.Labels = append(k.Manifest.Labels, u.pairs("labels")...)
	k.Manifest.Annotations = append(k.Manifest.Annotations, u.pairs("annotations")...)
}

// pairs returns the elements key=value of an argument.
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

func setStoragePrefix(k *model.Kind, u *Use) {
	if !storagePrefixPattern.MatchString(u.Value) {
		u.Errorf("%q is no prefix of keys: it needs lower-case letters, digits, dots and dashes between single "+
			"slashes, and none at its ends, as in deployments or services/specs", u.Value)
		return
	}
	k.StoragePrefix, k.StoragePrefixPos = u.Value, u.Pos
}
