package resolve_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/generator/internal/loadtest"
)

// TestPeerWithoutMarkers: what a marker names is read, whatever it says itself.
func TestPeerWithoutMarkers(t *testing.T) {
	p := loadtest.Program(t, `
-- hub/types.go --
package hub

type Book struct{ Name string }
-- v1/doc.go --
// +k8s:conversion-gen=example.com/test/hub
package v1

import "k8s.io/apimachinery/pkg/runtime"

type Book struct{ Name string }

type builder struct{}

func (*builder) Register(objects ...runtime.Object) {}

var SchemeBuilder builder
`)
	if len(p.Packages) != 2 || p.Packages[0].Output || p.Packages[0].Type("Book") == nil {
		t.Fatalf("got %+v", p.Packages)
	}
	if got := p.Packages[1].LocalSchemeBuilder; got != "" {
		t.Errorf("functions are to be registered with %s, which takes objects", got)
	}
}

// TestPeerInAnotherModule: nothing but the marker leads to it.
func TestPeerInAnotherModule(t *testing.T) {
	p := loadtest.Program(t, `
-- v1/doc.go --
// +k8s:conversion-gen=k8s.io/apimachinery/pkg/apis/meta/v1
package v1

type Duration struct{ Seconds int }
`)
	peers := p.Packages[0].Peers
	if len(peers) != 1 || peers[0].Type("ObjectMeta") == nil {
		t.Errorf("got %+v", peers)
	}
}

// TestRegistrationInInit: a package that adds its types to a scheme in a function init is told from others.
func TestRegistrationInInit(t *testing.T) {
	dir := loadtest.Dir(t, `
-- a/doc.go --
// +groupName=a.example.com
package a

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var scheme = runtime.NewScheme()

func init() {
	if true {
		scheme.AddKnownTypeWithName(schema.GroupVersionKind{}, nil)
	}
}
-- b/doc.go --
// +groupName=b.example.com
package b

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func addKnownTypes(scheme *runtime.Scheme) { scheme.AddKnownTypes(schema.GroupVersion{}) }

func init() { _ = addKnownTypes }
`)
	mod := filepath.Join(dir, "go.mod")
	text, err := os.ReadFile(mod)
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.ReplaceAll(string(text), "require apigen.dev v0.0.0",
		"")) // with it, wiring needs AddToScheme
	if err := os.WriteFile(mod, text, 0o644); err != nil {
		t.Fatal(err)
	}
	p := loadtest.Load(t, dir).Program
	if !p.Packages[0].RegistersInInit || p.Packages[1].RegistersInInit {
		t.Errorf("got %v and %v", p.Packages[0].RegistersInInit, p.Packages[1].RegistersInInit)
	}
}
