package model

// Claim is a marker that only values of some form can have.
type Claim struct {
	Marker, Value string
	Form          ClaimedForm
	Pos           Position
}

// ClaimedForm is the form of the values that a marker is for.
type ClaimedForm uint8

// The claims. A claim of merging says how values are merged, and nothing of values that aren't.
const (
	NoClaim         ClaimedForm = iota
	MergedLists                 // lists, as server-side apply merges them
	MergedObjects               // objects, as server-side apply merges them
	Objects                     // objects
	SchemaTypes                 // what the type that the marker names says
	IntsOrStrings               // values that hold both numbers and strings
	ConstantStrings             // strings whose constants are the values
)
