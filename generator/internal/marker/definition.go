package marker

import "apigen.dev/generator/internal/model"

// Place is a set of the places where a marker may stand.
type Place uint8

// The places.
const (
	Package Place = 1 << iota
	Type
	Field
	Func
	Const

	anywhere = Package | Type | Field | Func | Const
)

// Kind is what a marker's value looks like.
type Kind uint8

// The kinds of values.
const (
	// Flag: nothing, or true or false.
	Flag Kind = iota
	// Text: anything, but not nothing.
	Text
	// OptionalText: anything, or nothing.
	OptionalText
	// Bool: true or false.
	Bool
	// Word: one of the definition's Words, or several of them separated by commas.
	Word
	// Int: a whole number.
	Int
	// Number: a number.
	Number
	// List: values separated by semicolons, or {a,b}.
	List
	// JSON: a JSON literal; bare words count as strings in controller-gen's grammar.
	JSON
	// JSONOrConstant: a JSON literal, or ref(Constant).
	JSONOrConstant
	// Arguments: key=value, separated by commas.
	Arguments
	// Tag: another marker, +k8s:beta(since: "1.37")=+k8s:required; or nothing.
	Tag
	// Family: the name is a prefix of names that another tool defines.
	Family
)

// Definition is a row of the table: what a marker is called, where it may stand, what its value is, and what it does.
// To add a marker, add a row, and the field of the model that its setter sets. No other code knows its name.
type Definition struct {
	// Name is without the leading plus sign.
	Name   string
	Places Place
	Kind   Kind
	// Words are the values of a marker of kind Word.
	Words []string
	// Keys are the names of the arguments of a marker of kind Arguments. Nil allows any. Bare is the one that may stand
	// without a value.
	Keys []string
	Bare string
	// Doc is one paragraph for users.
	Doc string
	// Ignored says why apigen knows the marker but doesn't act on it; empty for markers that count.
	Ignored string

	// Many: each of several such markers on one thing counts, in the order of the source. Else the last one does: the
	// nearest to what it stands on.
	Many bool
	// Set holds the setters.
	Set Set
	Rule
	// Claims is the form of values that the marker is for.
	Claims model.ClaimedForm
	// Element is the marker that says of values what this one says of the elements of a list.
	Element string
	// Wraps says what the marker that is the value of this one is about.
	Wraps Part

	// Asks says what a package asks of the one that the value names, which package resolve finds.
	Asks Request
	// Subject narrows the types that the marker is for. Foreign: +apigen:kind can put it on a kind of another module.
	Subject Subject
	Foreign bool
	Conflicts
	// Read says what the marker means to the loader of packages.
	Read Read
}

// Rule is what a marker has checked when objects are written.
type Rule struct {
	// Check is the rule that the marker makes; Refine completes it. Lifts is the check of the rules that the marker
	// takes away.
	Check  model.Check
	Refine func(r *model.Rule, u *Use, s *model.Schema)
	Lifts  model.Check
}

// Conflicts say what becomes of a marker beside others on one thing.
type Conflicts struct {
	// Single: two such markers with different values are a fault. So are two markers of numbers.
	Single bool
	// Contradicts is the marker that says the opposite: both are a fault.
	Contradicts string
	// OverriddenBy are markers beside which this one sets nothing. MustMatch: another value beside them is a fault.
	OverriddenBy []string
	MustMatch    bool
}

// Set holds the setters of a marker, by what it stands on: each puts what the marker says into the model. Nil ones set
// nothing there. Kind is for types that are kinds, Value for the values of types, of fields and of their parts.
type Set struct {
	Package func(*model.Package, *Use)
	Type    func(*model.Type, *Use)
	Kind    func(*model.Kind, *Use)
	Value   func(*model.Schema, *Use)
	Field   func(*model.Field, *Use)
	Func    func(*model.Func, *Use)
	Const   func(*model.Const, *Use)
}

// Part is what a wrapped marker is about.
type Part uint8

// The parts.
const (
	Nothing     Part = iota // the wrapped marker has no effect
	Transparent             // as if it stood alone
	EachValue               // the elements of a list, or the values of a map
	EachKey                 // the keys of a map
	Subfield                // a field of a struct
	ListItem                // a single element of a list
	InMode                  // the value, as long as a discriminator has some value
	ForeignKind             // a kind of another module
)

// Request is what a package asks of another one.
type Request uint8

// The requests.
const (
	NoRequest      Request = iota
	Peer                   // conversions to and from its types
	ExternalTypes          // conversions of its types
	DefaulterInput         // defaults of its types
	Serve                  // its kinds, to serve them
	ServeKinds             // the kinds of these names, of those to serve
)

// Subject is what a type must be for a marker.
type Subject uint8

// The subjects.
const (
	AnyType       Subject = iota
	Kinds                 // a kind
	KindsAndLists         // a kind, or the list of one
)

// Read says what a marker means to the loader of packages, which reads markers before types.
type Read struct {
	// Collects: the marker collects from the packages below its own, which needs no types itself for it.
	Collects bool
	// AnyPackage: the marker stands in packages of all kinds, and doesn't make one a package of API types.
	AnyPackage bool
	// Detached: the marker of a package also counts in comments between declarations, where controller-gen finds it.
	Detached bool
	// DocOnly: on a type, the marker counts only in the comment right above.
	DocOnly bool
	// Needs is what the code needs that apigen generates for the marker.
	Needs Need
	// Packages are the packages that the marker names. Named: they are read for their types and markers. OfClients:
	// they matter to clients alone.
	Packages         func(Marker) []string
	Named, OfClients bool
}

// Need is a set of what the code needs that apigen generates for a marker.
type Need uint8

// The needs.
const (
	NeedsClients Need = 1 << iota // the libraries of clients
	NeedsCEL                      // the library that runs rules in CEL
)
