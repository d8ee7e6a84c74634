package clients_test

import (
	"bytes"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/applyconfig"
	"apigen.dev/generator/internal/emit/clients"
	"apigen.dev/generator/internal/emit/informers"
	"apigen.dev/generator/internal/emit/listers"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/plan"
)

const shop = `
-- apis/doc.go --
// +apigen:clients=../sdk
package apis
-- apis/shop/v1/types.go --
// +groupName=shop.example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +genclient
// +genclient:method=GetSize,verb=get,subresource=size
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Widget struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
	Spec WidgetSpec ` + "`json:\"spec,omitempty\"`" + `
}

type WidgetSpec struct {
	Sizes map[string]string ` + "`json:\"sizes,omitempty\"`" + `
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type WidgetList struct {
	metav1.TypeMeta ` + "`json:\",inline\"`" + `
	metav1.ListMeta ` + "`json:\"metadata,omitempty\"`" + `
	Items []Widget ` + "`json:\"items\"`" + `
}
`

// TestEmitters checks that the four emitters are functions of the model: they write the same bytes each time, into
// their own files, in the order of their folders. The conformance tests, which have client-go, compile and run the
// files.
func TestEmitters(t *testing.T) {
	program := loadtest.Program(t, shop)
	for e, want := range map[string]struct {
		emitter emit.Emitter
		files   int
	}{
		"clients": {clients.Emitter(), 5}, "listers": {listers.Emitter(), 1}, "informers": {informers.Emitter(), 4},
		"applyconfig": {applyconfig.Emitter(), 3},
	} {
		files, err := want.emitter.Emit(plan.New(program))
		if err != nil || len(files) != want.files {
			t.Errorf("%s: %d files, %v", e, len(files), err)
		}
		again, err := want.emitter.Emit(plan.New(program))
		if err != nil || len(again) != len(files) {
			t.Fatalf("%s: the second run differs: %v", e, err)
		}
		for i, f := range files {
			if !bytes.Equal(f.Content, again[i].Content) || i > 0 && files[i-1].Dir >= f.Dir {
				t.Errorf("%s/%s: the second run differs, or the order is not that of folders", f.Package, f.Name)
			}
			if !want.emitter.Owns(f.Name) || !bytes.Contains(f.Content, []byte(emit.Marker)) {
				t.Errorf("%s/%s is not the emitter's", f.Package, f.Name)
			}
			if _, err := parser.ParseFile(token.NewFileSet(), f.Name, f.Content, 0); err != nil {
				t.Error(err)
			}
		}
	}
}

// Nothing is emitted where nobody asks: neither +genclient nor +apigen:clients alone do.
func TestNotAsked(t *testing.T) {
	for _, archive := range []string{
		string(bytes.Replace([]byte(shop), []byte("// +apigen:clients=../sdk"), nil, 1)),
		string(bytes.Replace([]byte(shop),
			[]byte("// +genclient\n// +genclient:method=GetSize,verb=get,subresource=size\n"), nil, 1)),
	} {
		program := loadtest.Program(t, archive)
		for _, e := range []emit.Emitter{
			clients.Emitter(), listers.Emitter(), informers.Emitter(), applyconfig.Emitter(),
		} {
			if files, err := e.Emit(plan.New(program)); err != nil || len(files) > 0 {
				t.Errorf("%s: %d files, %v", e.Name, len(files), err)
			}
		}
	}
}

// TestRegistrationUnderAnotherName checks that the emitter reports a package that registers its kinds under another
// name than AddToScheme, at that function, because the clientset's scheme calls AddToScheme.
func TestRegistrationUnderAnotherName(t *testing.T) {
	const function = "func AddWidgetsToScheme(scheme *runtime.Scheme) error { return nil }\n"
	const scheme = "import \"k8s.io/apimachinery/pkg/runtime\"\n"
	text := strings.Replace(shop, "import metav1", scheme+"import metav1", 1) + function
	errs := clients.Emitter().Faults(plan.New(loadtest.Program(t, text)))
	line := strings.Count(text[strings.Index(text, "// +groupName"):], "\n") // of the file: the function is its last
	if len(errs) != 1 || errs[0].Pos.Line != line ||
		!strings.Contains(errs[0].Message, "rename this function to AddToScheme, or write a func AddToScheme") {
		t.Errorf("got %v", errs)
	}
}
