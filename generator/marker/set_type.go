package marker

import (
	"slices"
	"strings"

	"apigen.dev/generator/model"
)

// setCopies counts before +kubebuilder:object:generate.
func setCopies(t *model.Type, u *Use) { t.CopyMarker = new(u.says()) }

func setObjects(t *model.Type, u *Use) {
	if t.CopyMarker == nil {
		t.CopyMarker = new(u.says())
	}
}

func addInterfaces(t *model.Type, u *Use) {
	for v := range strings.SplitSeq(u.Value, ",") {
		if v = strings.TrimSpace(v); v != "" {
			addInterface(t, u.ref(v))
		}
	}
}

func addObject(t *model.Type, u *Use) {
	if u.True() {
		addInterface(t, model.Ref{Path: "k8s.io/apimachinery/pkg/runtime", Name: "Object", Pos: u.Pos})
	}
}

func addInterface(t *model.Type, r model.Ref) {
	same := func(o model.Ref) bool { return o.Path == r.Path && o.Name == r.Name }
	if !slices.ContainsFunc(t.DeepCopyInterfaces, same) {
		t.DeepCopyInterfaces = append(t.DeepCopyInterfaces, r)
	}
}

func addConversionFrom(t *model.Type, u *Use) {
	t.ConversionFrom = append(t.ConversionFrom, u.ref(u.Value))
}

// ref splits path.Name; a name alone is of the package that the marker stands in.
func (u *Use) ref(value string) model.Ref {
	i := strings.LastIndexByte(value, '.')
	if i < 0 || strings.LastIndexByte(value, '/') > i {
		return model.Ref{Path: u.In.Path, Name: value, Pos: u.Pos}
	}
	return model.Ref{Path: value[:i], Name: value[i+1:], Pos: u.Pos}
}

func setCovers(f *model.Func, u *Use) { f.Covers = u.Value == "covers" }

func addPatchMarker(f *model.Field, u *Use) {
	f.PatchMarkers = append(f.PatchMarkers, model.PatchMarker{Name: u.Name, Value: Unquote(u.Value), Pos: u.Pos})
}

func setTypeDefault(t *model.Type, u *Use) { t.Default = u.defaulted() }

func setDefault(f *model.Field, u *Use) { f.Default = u.defaulted() }

// defaulted returns the value of +default. Package resolve reads the constant of a reference later.
func (u *Use) defaulted() *model.Default {
	if name, ok := strings.CutPrefix(u.Value, "ref("); ok {
		return &model.Default{Ref: new(u.ref(strings.TrimSuffix(name, ")"))), Pos: u.Pos}
	}
	return &model.Default{JSON: u.Value, Pos: u.Pos}
}

func setKubebuilderDefault(f *model.Field, u *Use) {
	f.Default = &model.Default{JSON: jsonValue(u.Value, u.On), Pos: u.Pos}
}
