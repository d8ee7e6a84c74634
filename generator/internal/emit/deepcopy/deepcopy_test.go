package deepcopy

import (
	"strings"
	"testing"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

var (
	text   = &model.Type{Form: model.Basic, Basic: "string"}
	number = &model.Type{Form: model.Basic, Basic: "int32"}
)

func pointerTo(t *model.Type) *model.Type { return &model.Type{Form: model.Pointer, Elem: t} }
func sliceOf(t *model.Type) *model.Type   { return &model.Type{Form: model.Slice, Elem: t} }
func mapTo(t *model.Type) *model.Type     { return &model.Type{Form: model.Map, Key: text, Elem: t} }

func field(line int, name string, t *model.Type) *model.Field {
	return &model.Field{Name: name, Type: t, Exported: true,
		Pos: model.Position{Filename: "/x/types.go", Line: line, Column: 2}}
}

// emitOne emits a package with the type alone.
func emitOne(t *testing.T, types ...*model.Type) (string, error) {
	t.Helper()
	pkg := &model.Package{Path: "example.com/x", Name: "x", Dir: "/x", Output: true, Types: types}
	for _, typ := range types {
		typ.Package = pkg
	}
	p := plan.New(&model.Program{Packages: []*model.Package{pkg}})
	if err := Emitter().Faults(p).Err(); err != nil {
		return "", err
	}
	files, err := Emitter().Emit(p)
	if err != nil || len(files) == 0 {
		return "", err
	}
	return string(files[0].Content), nil
}

func TestMethods(t *testing.T) {
	got, err := emitOne(t, &model.Type{Name: "Widget", Form: model.Struct, DeepCopy: model.DeepCopyGenerate,
		DeepCopyInterfaces: []model.Ref{{Path: "k8s.io/apimachinery/pkg/runtime", Name: "Object"}},
		Fields: []*model.Field{
			field(1, "Name", text),
			field(2, "Replicas", pointerTo(number)),
			field(3, "Rows", sliceOf(sliceOf(text))),
			field(4, "Matrix", pointerTo(mapTo(sliceOf(pointerTo(number))))),
		}})
	if err != nil {
		t.Fatal(err)
	}
	want := `
import "k8s.io/apimachinery/pkg/runtime"

// DeepCopyInto copies the receiver into out; nothing is shared between the two. in must be non-nil.
func (in *Widget) DeepCopyInto(out *Widget) {
	*out = *in
	if in.Replicas != nil {
		out.Replicas = new(int32)
		*out.Replicas = *in.Replicas
	}
	if in.Rows != nil {
		out.Rows = make([][]string, len(in.Rows))
		for i := range in.Rows {
			if in.Rows[i] != nil {
				out.Rows[i] = make([]string, len(in.Rows[i]))
				copy(out.Rows[i], in.Rows[i])
			}
		}
	}
	if in.Matrix != nil {
		out.Matrix = new(map[string][]*int32)
		if *in.Matrix != nil {
			*out.Matrix = make(map[string][]*int32, len(*in.Matrix))
			for key, val := range *in.Matrix {
				var outVal []*int32
				if val != nil {
					outVal = make([]*int32, len(val))
					for j := range val {
						if val[j] != nil {
							outVal[j] = new(int32)
							*outVal[j] = *val[j]
						}
					}
				}
				(*out.Matrix)[key] = outVal
			}
		}
	}
}

// DeepCopy returns a copy that shares nothing with the receiver, a new Widget.
func (in *Widget) DeepCopy() *Widget {
	if in == nil {
		return nil
	}
	out := new(Widget)
	in.DeepCopyInto(out)
	return out
}

// DeepCopyObject returns a copy that shares nothing with the receiver, as Object.
func (in *Widget) DeepCopyObject() runtime.Object {
	if c := in.DeepCopy(); c != nil {
		return c
	}
	return nil
}
`
	if !strings.HasSuffix(got, want) {
		t.Errorf("got:\n%s", got)
	}
}

func TestRefusals(t *testing.T) {
	foreign := &model.Package{Path: "example.com/foreign", Name: "foreign"}
	sync := &model.Package{Path: "sync", Name: "sync"}
	hidden := &model.Type{Name: "Client", Package: foreign, Form: model.Struct, Fields: []*model.Field{
		{Name: "pool", Type: pointerTo(number), Pos: model.Position{Filename: "/f/client.go", Line: 7}}}}
	mutex := &model.Type{Name: "Mutex", Package: sync, Form: model.Struct,
		Fields: []*model.Field{{Name: "state", Type: number}}}
	once := &model.Type{Name: "Locked", Package: foreign, Form: model.Struct,
		Fields: []*model.Field{{Name: "m", Type: mutex}}}
	tree := &model.Type{Name: "Tree", Package: foreign, Form: model.Map, Key: text}
	tree.Elem = tree
	tests := []struct {
		name string
		typ  *model.Type
		want string
	}{
		{"func", &model.Type{Form: model.Func_}, "Widget.F is a func, which can't be copied"},
		{"chan in a map", mapTo(sliceOf(&model.Type{Form: model.Chan})), "Widget.F is a chan"},
		{"unsafe pointer", &model.Type{Form: model.UnsafePointer}, "Widget.F is an unsafe.Pointer"},
		{"any", sliceOf(&model.Type{Form: model.Interface}), "Widget.F is the interface any"},
		{"interface without a copy",
			&model.Type{Name: "I", Package: foreign, Form: model.Interface, InterfaceMethods: []string{"Do"}},
			"Widget.F is the interface foreign.I, which can't be copied: use a method DeepCopyI() I"},
		{"hidden references", pointerTo(hidden),
			"Widget.F has the type foreign.Client, whose unexported field pool holds references"},
		{"lock", mutex, "Widget.F holds a sync.Mutex, which must not be copied"},
		{"lock in a foreign struct", once, "holds a sync.Mutex"},
		{"pointer in a key", &model.Type{Form: model.Map, Key: pointerTo(number), Elem: text},
			"Widget.F is a map with keys of the type *int32"},
		{"recursive type without methods", tree,
			"Widget.F has the recursive type foreign.Tree, which has no DeepCopyInto"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := emitOne(t, &model.Type{Name: "Widget", Form: model.Struct, DeepCopy: model.DeepCopyGenerate,
				Fields: []*model.Field{field(1, "Name", text), field(2, "F", test.typ)}})
			if err == nil {
				t.Fatal("nothing was refused")
			}
			if !strings.HasPrefix(err.Error(), "/x/types.go:2:2: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %s", err)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one error: %s", err)
			}
		})
	}
}

func TestNothingAsked(t *testing.T) {
	got, err := emitOne(t,
		&model.Type{Name: "Free", Form: model.Struct,
			Fields: []*model.Field{field(1, "F", &model.Type{Form: model.Func_})}},
		&model.Type{Name: "Callback", Form: model.Func_, DeepCopy: model.DeepCopyGenerate})
	if err != nil || got != "" {
		t.Errorf("got %q, %v", got, err)
	}
}
