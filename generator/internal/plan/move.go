package plan

import (
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan/contextual"
)

// Conversion says how the values of one struct become those of another.
type Conversion struct {
	Pair
	// Cast: the layouts are the same, and the value is taken as it lies in memory.
	Cast bool
	// Fields are those of In, in order. Unset are the fields of Out that have no counterpart in In.
	Fields []*FieldMove
	Unset  []*model.Field
	// Method is the hand-written method that converts the pair, ConvertTo or ConvertFrom, by controller-runtime's
	// convention, or by Knative's, where it takes a context: Contextual. It is empty if there is none, or a function
	// is written by hand.
	Method     string
	Contextual bool

	// Name is the function's; it is empty if none is written. Public: one of the types is the spoke's.
	Name   string
	Public bool
	// ByHand: the function is written by hand, and only an auto... beside it is generated. Problems are what that one
	// leaves to it; if nothing is written by hand, they are faults.
	ByHand   bool
	Problems []Problem
	// Prunes: the fields that one of the two types lacks are lost on purpose.
	Prunes bool
	// Carriers take fields through annotations, in the order in which they work.
	Carriers []*Carrier
}

// Fate is what becomes of a field.
type Fate uint8

// The fates.
const (
	// Moved: the value becomes that of the counterpart.
	Moved Fate = iota
	// Dropped: a marker says that the field isn't converted.
	Dropped
	// Missing: the other type has no such field. Carried: that is so, and an annotation carries it.
	Missing
	Carried
	// Pruned: the other type has no such field, and a marker of the version lets conversions lose it.
	Pruned
	// UnknownName: +apigen:conversion:name names no field of the other type. Taken: another field becomes the
	// counterpart.
	UnknownName
	Taken
	// LeftToHand: the hand-written function of the struct has to convert it. Hidden: it isn't exported.
	LeftToHand
	Hidden
)

// FieldMove says what becomes of one field.
type FieldMove struct {
	Field *model.Field
	Fate  Fate
	// To is the counterpart, or nil. Move says how values of the field's type become those of the counterpart's,
	// whatever the fate; it is nil if there is no counterpart.
	To   *model.Field
	Move *Move
	// Other is the field that has Taken the counterpart. Out is the type that lacks the field.
	Other *model.Field
	Out   *model.Type
}

// MoveKind is how a value is converted.
type MoveKind uint8

// The kinds.
const (
	// NoRule: nothing converts the types. Nothing: there is nothing to do.
	NoRule MoveKind = iota
	Nothing
	// Assign and Cast take the value as it is, or as it lies in memory.
	Assign
	Cast
	// Call calls a hand-written function, CallConversion the function of the Conversion.
	Call
	CallConversion
	// Number converts between numbers.
	Number
	// Pointer converts what a pointer points to. FromPointer makes a value of a pointer, zero for nil; ToPointer the
	// reverse.
	Pointer
	FromPointer
	ToPointer
	// Slice, Array and Map convert their elements, InPlace the fields of a struct without a name.
	Slice
	Array
	Map
	InPlace
)

// Move says how a value of one type becomes one of another.
type Move struct {
	Pair
	Kind MoveKind
	// By is the function that a Call calls.
	By *Converter
	// Instead is how a Call or Cast would be converted by itself: nil, or a Move of another kind. Readers of the tree
	// follow it to see what is inside.
	Instead *Move
	// Conversion is that of a pair of structs. A CallConversion calls its function, which is written into the package
	// Home where that isn't nil; an InPlace converts the fields.
	Conversion *Conversion
	Home       *model.Package
	// Elem is how what a pointer, list or map holds is converted.
	Elem *Move
	// Checked: a Number may not fit, which is an error at run time that calls the field Where.
	Checked bool
	Where   string
	// Keys are the pair of a Map's keys where nothing converts them.
	Keys *Pair
}

func (t *planner) conversion(p Pair) *Conversion {
	if c := t.between[p]; c != nil {
		return c
	}
	c := &Conversion{Pair: p, Cast: t.wholeStruct(p), Prunes: t.prunesIn(p)}
	t.between[p] = c
	if t.funcs.find(p) == nil {
		if c.Method = byMethod(p); c.Method == "" {
			c.Method = t.byContextualMethod(p)
			c.Contextual = c.Method != ""
		}
	}
	outside := t.active
	t.active = map[string]bool{}
	c.Fields, c.Unset = t.fields(p, "")
	t.active = outside
	return c
}

// fields decides what becomes of each field of a struct. Where names the struct without a name, in errors at run time.
func (t *planner) fields(p Pair, where string) (moves []*FieldMove, unset []*model.Field) {
	takenBy := map[*model.Field]*model.Field{}
	for _, f := range p.In.Fields {
		to := model.Counterpart(p.Out, f)
		m := &FieldMove{Field: f, To: to, Out: p.Out, Fate: t.fate(p, f, to)}
		if to != nil && m.Fate != Dropped {
			if m.Other = takenBy[to]; m.Other != nil {
				m.Fate = Taken
			} else {
				takenBy[to] = f
			}
		}
		if to != nil {
			name := model.TypeText(p.In) + "." + f.Name
			if p.In.Package == nil {
				name = where + "." + f.Name
			}
			m.Move = t.move(Pair{f.Type, to.Type}, name)
		}
		moves = append(moves, m)
	}
	for _, g := range p.Out.Fields {
		if model.Counterpart(p.In, g) == nil {
			unset = append(unset, g)
		}
	}
	return moves, unset
}

// fate decides what becomes of a field, as far as that depends on no other.
func (t *planner) fate(p Pair, f, to *model.Field) Fate {
	switch {
	case f.ConversionOff:
		return Dropped
	case to == nil && f.ConversionName != "":
		return UnknownName
	case to == nil && t.prunesIn(p) && prunable(f, p.Out):
		return Pruned
	case to == nil:
		return Missing
	case t.leftToHand(p, Pair{f.Type, to.Type}):
		return LeftToHand
	case !t.visible(p.In, f) || !t.visible(p.Out, to):
		return Hidden
	}
	return Moved
}

// leftToHand tells a pointer that meets a value where the struct's function is written by hand: conversion-gen left the
// two to it, and it may rely on finding nothing there. Of few types are they converted, by functions of apimachinery.
func (t *planner) leftToHand(of, field Pair) bool {
	in, out := field.In, field.Out
	if (in.Form == model.Pointer) == (out.Form == model.Pointer) || t.funcs.find(of) == nil ||
		t.funcs.find(field) != nil {
		return false
	}
	in, out = pointee(in), pointee(out)
	known := in.Form == model.Basic && in.Package == nil || model.IsNamed(in, metaPath, "Duration") ||
		model.IsNamed(in, "k8s.io/apimachinery/pkg/util/intstr", "IntOrString")
	return !known || !model.Identical(in, out)
}

func (t *planner) visible(owner *model.Type, f *model.Field) bool {
	return f.Exported || owner.Package != nil && owner.Package.Path == t.Package.Path
}

// move decides how a value is converted. Where names its field in errors at run time.
func (t *planner) move(p Pair, where string) *Move {
	if isTypeMeta(p.In) && isTypeMeta(p.Out) {
		return &Move{Pair: p, Kind: Nothing}
	}
	if fn := t.funcs.find(p); fn != nil && !t.skips(fn, p) {
		return &Move{Pair: p, Kind: Call, By: fn, Instead: t.byItself(p, where)}
	}
	if model.Identical(p.In, p.Out) {
		return &Move{Pair: p, Kind: Assign}
	}
	m := t.byItself(p, where)
	if p.In.Form == model.Struct && p.Out.Form == model.Struct {
		return m
	}
	if t.sameLayout(p.In, p.Out) {
		return &Move{Pair: p, Kind: Cast, Instead: m}
	}
	if fn := baseConverter(p); fn != nil && len(m.problems()) > 0 {
		return &Move{Pair: p, Kind: Call, By: fn, Instead: m}
	}
	return m
}

func (t *planner) skips(fn *Converter, p Pair) bool {
	return fn.CopyOnly && (model.Identical(p.In, p.Out) || p.In.Form != model.Struct && t.sameLayout(p.In, p.Out))
}

func (t *planner) byItself(p Pair, where string) *Move {
	in, out := p.In, p.Out
	m := &Move{Pair: p, Where: where}
	if in.Form == model.Struct && out.Form == model.Struct {
		t.structs(m)
		return m
	}
	key := p.Key()
	if t.active[key] || !t.nameable(in) || !t.nameable(out) { // active: type T []T
		return m
	}
	t.active[key] = true
	defer delete(t.active, key)
	elem := func(kind MoveKind, in, out *model.Type) { m.Kind, m.Elem = kind, t.move(Pair{in, out}, where) }
	switch {
	case in.Form == model.Basic && out.Form == model.Basic:
		m.Kind, m.Checked = number(in.BasicName(), out.BasicName())
	case in.Form == model.Pointer && out.Form == model.Pointer:
		elem(Pointer, in.Elem, out.Elem)
	case in.Form == model.Pointer:
		elem(FromPointer, in.Elem, out)
	case out.Form == model.Pointer:
		elem(ToPointer, in, out.Elem)
	case in.Form == model.Slice && out.Form == model.Slice:
		elem(Slice, in.Elem, out.Elem)
	case in.Form == model.Array && out.Form == model.Array && in.Len == out.Len:
		elem(Array, in.Elem, out.Elem)
	case in.Form == model.Map && out.Form == model.Map:
		elem(Map, in.Elem, out.Elem)
		keys := Pair{in.Key, out.Key}
		if !model.Identical(in.Key, out.Key) && (t.funcs.blocks(keys) || !model.Convertible(in.Key, out.Key)) {
			m.Keys = &keys
		}
	}
	return m
}

// structs decides how a struct is converted: by the function of the pair where both have names, else in place.
func (t *planner) structs(m *Move) {
	p := m.Pair
	named := t.hasFunction(p.In) && t.hasFunction(p.Out)
	if p.In.Package != nil && p.Out.Package != nil {
		m.Conversion = t.conversion(p)
	} else {
		m.Conversion = &Conversion{Pair: p, Prunes: t.prunesIn(p)}
		m.Conversion.Fields, m.Conversion.Unset = t.fields(p, m.Where)
	}
	switch {
	case !named && t.sameLayout(p.In, p.Out):
		m.Kind = Cast
	case !named && p.In.Package == nil && p.Out.Package == nil:
		m.Kind = InPlace
	case !named || p.In.ConversionOff || p.Out.ConversionOff:
	case t.Has(p):
		m.Kind = CallConversion
	default:
		m.Kind = CallConversion
		if other := t.universe.emitted[p.Key()]; other != nil && other != t {
			m.Home = other.Package
		} else if !t.concerned(p) && t.wholeStruct(p) {
			m.Kind = Cast
		}
	}
}

// itself is how the value is converted without a function or a cast: what readers of the tree follow.
func (m *Move) itself() *Move {
	if m.Instead != nil {
		return m.Instead
	}
	return m
}

func (t *planner) hasFunction(typ *model.Type) bool {
	return typ.Package != nil && len(typ.TypeArgs) == 0 && t.nameable(typ)
}

// byMethod names the hand-written method that converts the pair, or is empty: by controller-runtime's convention a hub
// has a method Hub, and its spokes have ConvertTo and ConvertFrom.
func byMethod(p Pair) string {
	switch {
	case converts(p.In, "ConvertTo") && isHub(p.Out):
		return "ConvertTo"
	case converts(p.Out, "ConvertFrom") && isHub(p.In):
		return "ConvertFrom"
	}
	return ""
}

// byContextualMethod names the hand-written method that converts the pair by Knative's convention, or is empty. All
// versions have ConvertTo and ConvertFrom there. Those of the type whose package imports the other's convert: the other
// can't know this one.
func (t *planner) byContextualMethod(p Pair) string {
	knows := func(x, y *model.Type) bool {
		return x.Package != nil && y.Package != nil && x.Package != y.Package &&
			t.universe.program.Imports(x.Package, y.Package)
	}
	switch {
	case contextual.Converts(p.In, p.Out, "ConvertTo") && knows(p.In, p.Out):
		return "ConvertTo"
	case contextual.Converts(p.Out, p.In, "ConvertFrom") && knows(p.Out, p.In):
		return "ConvertFrom"
	}
	return ""
}

func converts(t *model.Type, method string) bool {
	m := t.Methods[method]
	return m != nil && len(m.Params) == 1 && m.Params[0].Form == model.Interface && len(m.Results) == 1 &&
		model.IsError(m.Results[0])
}

func isHub(t *model.Type) bool {
	m := t.Methods["Hub"]
	return m != nil && len(m.Params) == 0 && len(m.Results) == 0
}

var kindNames = [...]string{
	NoRule: "no rule", Nothing: "nothing", Assign: "assign", Cast: "cast", Call: "call",
	CallConversion: "convert", Number: "number",
	Pointer: "pointer", FromPointer: "from pointer", ToPointer: "to pointer",
	Slice: "slice", Array: "array", Map: "map", InPlace: "in place",
}

func (k MoveKind) String() string { return kindNames[k] }

var fateNames = [...]string{
	Moved: "moved", Dropped: "dropped", Missing: "missing",
	Carried: "carried in an annotation", Pruned: "pruned", UnknownName: "unknown name",
	Taken: "taken", LeftToHand: "left to the hand-written function", Hidden: "hidden",
}

func (f Fate) String() string { return fateNames[f] }
