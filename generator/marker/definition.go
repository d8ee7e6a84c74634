package marker

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
	// Arguments: key=value, separated by commas.
	Arguments
	// Tag: another marker, +k8s:beta(since: "1.37")=+k8s:required; or nothing.
	Tag
	// Family: the name is the beginning of others, which another tool gives their meaning.
	Family
)

// Definition is a row of the table: what a marker is called, where it may stand, what its value is, and what it does.
type Definition struct {
	// Name is without the leading plus sign.
	Name   string
	Places Place
	Kind   Kind
	// Words are the values of a marker of kind Word.
	Words []string
	// Keys are the names of the arguments of a marker of kind Arguments. Nil allows any.
	Keys []string
	// Doc is one paragraph for users.
	Doc string
	// Ignored says why apigen knows the marker but doesn't act on it; empty for markers that count.
	Ignored string
}
