package resolve_test

import (
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/model"
)

// TestHardShapesLoad: whatever compiles loads, and nothing panics.
func TestHardShapesLoad(t *testing.T) {
	p := loadtest.Program(t, `
-- other/other.go --
package other

type Embedded struct{ Text string }

func (e *Embedded) DeepCopyInto(out *Embedded) { *out = *e }

type Alias = Embedded
-- api/api.go --
// +k8s:deepcopy-gen=package
package api

import (
	"sync"
	"net/http"
	"unsafe"

	. "example.com/test/other"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type Set[T comparable] map[T]struct{}

type Pair[A, B any] struct {
	First  A
	Second *B
}

type Tree struct {
	*Embedded
	Children []*Tree
	Parent   *Tree
	ByName   map[string]Tree
	Mutual   *Other
}

type Other struct{ Back []Tree }

type Everything struct {
	Alias
	Names   Set[string]
	P       Pair[int, Pair[string, bool]]
	F       func(int) error
	C       chan<- int
	U       unsafe.Pointer
	M       sync.Mutex
	H       *http.Client
	I       interface{ Get() any }
	A       any
	E       error
	Arr     [3]*int
	Anon    struct {
		// Inner is documented.
		// +optional
		Inner string
	}
	X, Y    int
	_       int
	private string
}

type Func func(*Everything) Func
type Over metav1.ObjectMeta
type Ptr *Everything
type Slice []Slice
type Iface interface{ DeepCopy() Iface }
type local = Everything

func Generic[T any](t T) T { type inside struct{ t T }; return inside{t}.t }

func (s Set[T]) DeepCopy() Set[T] { return s }
`)
	pkg := p.Packages[0]
	if pkg.Path != "example.com/test/api" {
		t.Fatalf("got package %s", pkg.Path)
	}
	for name, want := range map[string]model.DeepCopyMode{
		"Set": model.DeepCopyMethodOnly, "Pair": model.DeepCopyNone, "Tree": model.DeepCopyGenerate,
		"Over":  model.DeepCopyGenerate,
		"Slice": model.DeepCopyGenerate, "Func": model.DeepCopyNone, "Iface": model.DeepCopyNone,
		"Ptr": model.DeepCopyNone,
	} {
		if got := pkg.Type(name).DeepCopy; got != want {
			t.Errorf("%s is copied by %v, want %v", name, got, want)
		}
	}
	tree := pkg.Type("Tree")
	if tree.Fields[2].Type.Elem != tree || tree.Fields[4].Type.Elem.Fields[0].Type.Elem != tree {
		t.Error("a recursive type doesn't point back at itself")
	}
	if e := tree.Fields[0]; !e.Inline || !e.Embedded || e.Type.Elem.DeepCopy != model.DeepCopyExisting {
		t.Errorf("the embedded pointer is %+v", e)
	}
	for _, f := range pkg.Type("Everything").Fields {
		if f.Name == "Anon" {
			if inner := f.Type.Fields[0]; inner.Doc != "Inner is documented." || !inner.Schema.Optional {
				t.Errorf("the field of an anonymous struct is %+v", inner)
			}
		}
		if f.Name == "Names" && (f.Type.Name != "Set" || len(f.Type.TypeArgs) != 1 || f.Type.Key.Basic != "string") {
			t.Errorf("the instance of a generic type is %+v", f.Type)
		}
	}
}

// TestMarkersWhereToolsAcceptThem: in the doc, in the group above it, in any file; not on the line of what stands
// before.
func TestMarkersWhereToolsAcceptThem(t *testing.T) {
	dir := loadtest.Dir(t, `
-- api/v1/zz_last.go --
// +k8s:deepcopy-gen=package

// Package v1 is documented here.
package v1
-- api/v1/types.go --
// A license.

// +groupName=shop.example.com

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type First struct {
	// +optional

	// A is documented.
	A string // +required
	B string
} // +k8s:deepcopy-gen=false

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Widget is documented.
type Widget struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}

type (
	// +k8s:deepcopy-gen=false
	Grouped struct{ A *string }
	Bare    struct{ A *string }
)

// +genclient
var Loose int

// +k8s:conversion-gen=false

// Apart is converted: conversion-gen reads that marker in a type's own comment only.
type Apart struct{}

// +k8s:conversion-gen=false
type Near struct{}

// +kubebuilder:validation:Type=string
const None = ""
`)
	res := loadtest.Load(t, dir)
	pkg := res.Program.Packages[0]
	if !pkg.DeepCopy || pkg.Group != "shop.example.com" || pkg.Doc != "Package v1 is documented here." {
		t.Errorf("the package is %+v", pkg)
	}
	first := pkg.Type("First")
	if a := first.Fields[0]; !a.Schema.Optional || a.Schema.Required || a.Doc != "A is documented." {
		t.Errorf("A is %+v", a)
	}
	if b := first.Fields[1]; b.Schema.Optional || b.Schema.Required {
		t.Errorf("B has what stands behind A: %+v", b.Schema)
	}
	w := pkg.Type("Widget")
	if w.Kind == nil || w.DeepCopy != model.DeepCopyGenerate || w.Doc != "Widget is documented." {
		t.Errorf("Widget is %+v", w)
	}
	if pkg.Type("Grouped").DeepCopy != model.DeepCopyNone || pkg.Type("Bare").DeepCopy != model.DeepCopyGenerate {
		t.Error("markers in a group of types count for their type alone")
	}
	if pkg.Type("Apart").ConversionOff || !pkg.Type("Near").ConversionOff {
		t.Error("+k8s:conversion-gen counts right above its type alone")
	}
	var lines []string
	for _, x := range res.Warnings {
		lines = append(lines, strings.TrimPrefix(x.Error(), dir+string(filepath.Separator)))
	}
	got := strings.Join(lines, "\n")
	for _, want := range []string{
		`api/v1/types.go:13:14: marker "+required" has no effect here`,
		`api/v1/types.go:15:6: marker "+k8s:deepcopy-gen" has no effect here`,
		`api/v1/types.go:32:4: marker "+genclient" has no effect here`,
		`api/v1/types.go:35:4: marker "+k8s:conversion-gen" has no effect here`,
		`api/v1/types.go:43:4: marker "+kubebuilder:validation:Type" has no effect here`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no warning %q in\n%s", want, got)
		}
	}
}

const hubAndSpokes = `
-- internal/apis/shop/doc.go --
// +k8s:deepcopy-gen=package
// +groupName=shop.example.com
package shop
-- internal/apis/shop/types.go --
package shop

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Widget struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}
-- internal/apis/shop/v1/doc.go --
// +k8s:conversion-gen=example.com/test/internal/apis/shop
// +k8s:conversion-gen-external-types=example.com/test/pkg/apis/shop/v1
// +k8s:defaulter-gen=TypeMeta
// +k8s:defaulter-gen-input=example.com/test/pkg/apis/shop/v1
// +groupName=shop.example.com
package v1
-- pkg/apis/shop/v1/types.go --
// +k8s:deepcopy-gen=package
// +groupName=shop.example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +genclient
type Widget struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}
-- pkg/apis/shop/v1beta2/types.go --
// +groupName=shop.example.com
package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +genclient
type Widget struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}
-- pkg/apis/shop/v1beta2/zz_generated.deepcopy.go --
// Code generated by an older tool. DO NOT EDIT.

package v1beta2

<<<<<<< HEAD
func (in *Gone) DeepCopyInto(out *Gone) {
`

// TestGroupsAreComplete: one package is named; its group's other versions and hub come along, but nothing is to be
// written for them. Broken generated files disturb nothing.
func TestGroupsAreComplete(t *testing.T) {
	dir := loadtest.Dir(t, hubAndSpokes)
	res := loadtest.Load(t, dir, "./pkg/apis/shop/v1", "./internal/apis/shop/v1")
	if n := len(res.Program.Groups); n != 1 {
		t.Fatalf("got %d groups", n)
	}
	g := res.Program.Groups[0]
	if g.Internal == nil || g.Internal.Path != "example.com/test/internal/apis/shop" || g.Internal.Output {
		t.Errorf("the hub is %+v", g.Internal)
	}
	if len(g.Versions) != 2 || g.Versions[0].Name != "v1" || g.Versions[1].Packages[0].Output ||
		!g.Versions[0].Packages[0].Output {
		t.Errorf("the versions are %+v", g.Versions)
	}
	if g.Versions[0].Packages[0].Path != "example.com/test/pkg/apis/shop/v1" {
		t.Errorf("the types of v1 are taken from %s", g.Versions[0].Packages[0].Path)
	}
	if w := g.Wiring; w == nil || w.Path != "example.com/test/pkg/apis/shop/wiring" || w.Dir != filepath.Join(dir,
		"pkg/apis/shop/wiring") {
		t.Errorf("wiring goes into %+v", w)
	}
	for _, p := range res.Program.Packages {
		if p.Path != "example.com/test/internal/apis/shop/v1" {
			continue
		}
		if p.ConversionExternal == nil || p.ConversionExternal != p.DefaulterInput ||
			p.ConversionExternal.Type("Widget") == nil {
			t.Errorf("the external types are %+v", p.ConversionExternal)
		}
	}
}

// TestDependenciesAreDescribed: comments of dependencies are read, their methods and constants known.
func TestDependenciesAreDescribed(t *testing.T) {
	p := loadtest.Program(t, shop)
	spec := p.Packages[0].Type("Widget").Fields[1].Type // ObjectMeta
	if spec.Package.ModelPackage != "io.k8s.apimachinery.pkg.apis.meta.v1" || spec.Package.Module.Own {
		t.Errorf("metav1 is %+v", spec.Package)
	}
	for _, f := range spec.Fields {
		switch f.Name {
		case "Finalizers":
			if !strings.Contains(f.Doc, "Must be empty before the object is deleted") || f.Schema.ListType != "set" {
				t.Errorf("finalizers are %q, %+v", f.Doc, f.Schema)
			}
		case "CreationTimestamp":
			if f.Type.SchemaType != "string" || f.Type.SchemaFormat != "date-time" ||
				f.Type.DeepCopy != model.DeepCopyExisting {
				t.Errorf("Time is %+v", f.Type)
			}
		}
	}
}

// TestFallsBackToSource: where the compiler can't be asked, everything is read from source.
func TestFallsBackToSource(t *testing.T) {
	dir := loadtest.Dir(t, `
-- broken/broken.go --
package broken

type T struct{ A []string }

func (t *T) DeepCopyInto(out *T) { *out = *t }

func body() int { return "this keeps the compiler from writing export data" }
-- api/api.go --
// +k8s:deepcopy-gen=package
package api

import "example.com/test/broken"

type A struct{ T broken.T }
`)
	p := loadtest.Load(t, dir, "./api").Program
	b := p.Packages[0].Type("A").Fields[0].Type
	if b.DeepCopy != model.DeepCopyExisting || len(b.Fields) != 1 {
		t.Errorf("got %+v", b)
	}
}

// TestOwnDependenciesAreLookedAt: what is yet to be generated for a package that isn't named counts all the same.
func TestOwnDependenciesAreLookedAt(t *testing.T) {
	dir := loadtest.Dir(t, `
-- shared/shared.go --
// +k8s:deepcopy-gen=package
package shared

type T struct{ A []string }
-- api/api.go --
// +k8s:deepcopy-gen=package
package api

import "example.com/test/shared"

type A struct{ T shared.T }
`)
	p := loadtest.Load(t, dir, "./api").Program
	if got := p.Packages[0].Type("A").Fields[0].Type.DeepCopy; got != model.DeepCopyGenerate {
		t.Errorf("shared.T is copied by %v", got)
	}
	if len(p.Packages) != 2 || p.Packages[1].Output {
		t.Errorf("got %d packages", len(p.Packages))
	}
}
