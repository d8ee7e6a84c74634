// Package model is what the generator knows of its input: groups, versions, kinds, types and fields, with markers
// resolved and positions kept. It is pure data that a test can build by hand and print. Package resolve makes it, judge
// checks it, plan decides what follows from it, and the emitters print that; none of the latter three asks the type
// checker. It imports no package of apigen.
package model

import (
	"go/token"
)

// Program is everything that one run of the generator knows.
type Program struct {
	// Packages are those that output may be written for, sorted by path.
	Packages []*Package
	// Groups are the API groups that those packages make up, sorted by name. A group is complete even where only one of
	// its packages was named on the command line.
	Groups []*Group
	// Clients are the client packages that are asked for, by path.
	Clients []*Clients
	// Header is the text that every generated file begins with: a license, as Go comments, or empty.
	Header string
	// RuntimeAvailable reports whether the module that the packages belong to requires apigen.dev, so that wiring,
	// which imports the runtime, can compile.
	RuntimeAvailable bool
	// Lenient makes faults of markers warnings; what is wrong is left out.
	Lenient bool
}

// Position is a place in the user's source. It prints as file:line:col.
type Position = token.Position

// Module is the Go module of a package.
type Module struct {
	Path string
	Dir  string
	// Own tells the user's own modules (main module, workspace) from dependencies, which can't be edited.
	Own bool
}

// Package is one Go package.
type Package struct {
	Path, Name, Dir string
	Module          *Module
	Doc             string
	// Pos is that of the package clause that carries the markers, or of the first file's.
	Pos Position
	// Output: files are to be written for this package; otherwise it is only looked at.
	Output bool

	// Group is the API group (+groupName); HasGroup tells the core group "" from none.
	Group    string
	HasGroup bool
	// Version is the API version, from the package's name: v1, v1beta2; empty for an internal package.
	Version string

	// Types are the package's named types, in the order of their positions; aliases are left out.
	Types []*Type
	// Funcs are the package's hand-written functions without a receiver, sorted by name. Generated ones are not there.
	Funcs []*Func
	// Consts are the constants of named types, for enums.
	Consts []*Const
	// Declared holds every package-level name that hand-written code declares, and where.
	Declared map[string]Position
	// Imports are the paths that files of a package that is read from source import, sorted.
	Imports []string
	// Depends are the paths of the packages of the program that hand-written code of such a package imports, itself or
	// by way of packages outside of the program, sorted.
	Depends []string
	// Mentions are names in the bodies of hand-written functions that may be those of functions which set defaults or
	// convert.
	Mentions map[string]bool

	PackageConversion
	PackageDefaulting
	PackageRegistration
	PackageServing
	PackageProducts
	PackageSchemas
}

// Own reports whether the package is of a module of the user's own, whose sources can be edited.
func (p *Package) Own() bool { return p.Module != nil && p.Module.Own }

// Home returns the package that files for the package's types are written into: itself, or the one that serves it.
func (p *Package) Home() *Package {
	if p.ServedBy != nil {
		return p.ServedBy
	}
	return p
}

// Source returns the package whose types files in this one are about: itself, or the one that it serves.
func (p *Package) Source() *Package {
	if p.Serves != nil {
		return p.Serves
	}
	return p
}

// Type returns the package's type of that name, or nil.
func (p *Package) Type(name string) *Type {
	return find(p.Types, func(t *Type) bool { return t.Name == name })
}

// Declares reports whether hand-written code of the package declares the name.
func (p *Package) Declares(name string) bool {
	_, ok := p.Declared[name]
	return ok
}

// Func returns the package's hand-written function of that name, or nil.
func (p *Package) Func(name string) *Func {
	return find(p.Funcs, func(f *Func) bool { return f.Name == name })
}

// Folder is a folder of the user's module that a marker names.
type Folder struct {
	Dir string
	Pos Position
}

// Const is a constant of a named type.
type Const struct {
	Name  string
	Type  *Type
	Value string // as JSON
	Doc   string
	Pos   Position
	// Excluded is +k8s:enumExclude: the constant is not a value of its type's enumeration.
	Excluded bool
}

// Func is a hand-written function or method.
type Func struct {
	Name    string
	Package *Package
	Pos     Position
	Doc     string
	// PointerReceiver counts for methods only.
	PointerReceiver bool
	Params, Results []*Type
	Variadic        bool
	// ConversionFn is the value of +k8s:conversion-fn: "", "copy-only" or "drop".
	ConversionFn string
	// Covers is +k8s:defaulter-gen=covers on a SetDefaults function: it takes care of all that is inside the type.
	Covers bool
	// Mentioned: hand-written code of the package calls the function, or passes it on. It is known of functions alone
	// that are called nearly like those that set defaults or convert.
	Mentioned bool
	// BodyNames are, for a function that is called like a conversion, the names in its body and in those of the
	// package's functions that it calls. They are nil where code of other packages may read every field.
	BodyNames map[string]bool
}

// Form is the shape of a type's underlying type.
type Form uint8

// The forms. Unsupported forms are refused by the emitters at the user's line.
const (
	Basic Form = iota // string, int32, bool, float64 ...
	Struct
	Pointer
	Slice
	Array
	Map
	Interface
	Func_
	Chan
	UnsafePointer
	TypeParam
)

// Type is a Go type: a named one, with Name and Package set, or a composite without a name. Named types occur once in a
// Program: pointers compare. Aliases are resolved. Recursive types point back at themselves.
type Type struct {
	Name    string
	Package *Package // nil for unnamed and predeclared types
	Pos     Position
	Doc     string

	Form Form
	// Unknown: the declaration doesn't compile, so that nothing is known of the type; its Form is Interface.
	Unknown bool
	Basic   string // Form Basic: the predeclared type's name
	Fields  []*Field
	Elem    *Type // Pointer, Slice, Array, Map
	Key     *Type // Map
	Len     int64 // Array
	// Of is the named type that this one is declared over, as in type Hostname DNSName, or nil: what markers say of it
	// holds for this one, too, in a schema.
	Of *Type
	// TypeArgs are those of an instantiated generic type. Generic is set for the type that has parameters instead, of
	// which there are no values.
	TypeArgs []*Type
	Generic  bool
	// InterfaceMethods are the names of an Interface's methods, sorted; none is any.
	InterfaceMethods []string

	// Methods are those declared on this type (not promoted ones), by name. For types of a Program's packages they are
	// the hand-written ones; of other packages, whatever is there. Foreign types have only names and receivers, but
	// kinds that are served signatures, too.
	Methods map[string]*Func

	// DeepCopy tells how a copy of this named type is made.
	DeepCopy DeepCopyMode
	// CopyMarker is what +k8s:deepcopy-gen or +kubebuilder:object:generate say of the type; nil where neither is there.
	CopyMarker *bool
	// DeepCopyInterfaces are those of +k8s:deepcopy-gen:interfaces (and runtime.Object for +kubebuilder:object:root).
	DeepCopyInterfaces []Ref
	// NonPointerInterfaces is +k8s:deepcopy-gen:nonpointer-interfaces.
	NonPointerInterfaces bool

	// ConversionOff is +k8s:conversion-gen=false on the type. ConversionFrom are those of :explicit-from.
	ConversionOff  bool
	ConversionFrom []Ref
	// Defaulter is +k8s:defaulter-gen=true|false|covers on the type, or empty.
	Defaulter string
	// Default is +default or +kubebuilder:default on the type.
	Default *Default
	// Enum is true for +enum, +k8s:enum; the values are the package's constants of the type.
	Enum bool
	// Schema are the constraints that markers put on the type.
	Schema Schema
	// SchemaType is the result of a hand-written OpenAPISchemaType/OpenAPISchemaFormat, where the loader can see it:
	// metav1.Time is string, date-time.
	SchemaType, SchemaFormat string

	// Kind is set where the type is a kind (or nil): it embeds TypeMeta and ObjectMeta and has a DeepCopyObject.
	Kind *Kind
	// ListOf is the kind's type where this is the list of one.
	ListOf *Type
}

// Ref names a type of another package, by import path, as markers do.
type Ref struct {
	Path, Name string
	Pos        Position
}

// DeepCopyMode tells how a named type is copied.
type DeepCopyMode uint8

// The modes. A type without one is copied by assignment if it holds no references, and field by field inline
// otherwise.
const (
	DeepCopyNone DeepCopyMode = iota
	// DeepCopyGenerate: apigen writes DeepCopyInto and DeepCopy, except those that Methods has.
	DeepCopyGenerate
	// DeepCopyExisting: DeepCopyInto(*T) exists: hand-written, or in a package that isn't ours to emit.
	DeepCopyExisting
	// DeepCopyMethodOnly: only a hand-written DeepCopy() *T (or T) exists.
	DeepCopyMethodOnly
)

// Field is a struct's field.
type Field struct {
	Name     string
	Type     *Type
	Pos      Position
	Doc      string
	Embedded bool
	// Tag is the raw struct tag.
	Tag string
	// JSON is the name on the wire: "" with Inline or Ignored, the field's name where no tag says otherwise.
	JSON string
	// Inline: the fields of this struct appear in the parent's object. Ignored: json:"-", or unexported.
	Inline, Ignored bool
	OmitEmpty       bool // omitempty or omitzero
	Exported        bool

	// ConversionOff is +k8s:conversion-gen=false or +apigen:conversion:drop: nothing is converted here, and nothing is
	// missed.
	ConversionOff bool
	// ConversionName is +apigen:conversion:name: the Go name of this field's counterpart in the hub.
	ConversionName string
	// Preserve is +apigen:conversion:preserve: versions without such a field carry it in an annotation.
	Preserve bool
	Default  *Default
	// Schema are the constraints that markers put on the field.
	Schema Schema
}

// Default is the value of +default or +kubebuilder:default.
type Default struct {
	// JSON is the literal, valid JSON; or the value of the constant that Ref names, empty if it can't be read.
	JSON string
	Ref  *Ref
	Pos  Position
}

// ExternalDocs is +kubebuilder:externalDocs.
type ExternalDocs struct {
	URL, Description string
}

// CELRule is +kubebuilder:validation:XValidation.
type CELRule struct {
	Rule, Message, MessageExpression, Reason, FieldPath string
	OptionalOldSelf                                     bool
	Pos                                                 Position
}
