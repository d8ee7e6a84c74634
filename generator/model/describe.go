package model

// integerBits are the sizes of the types of whole numbers, negative for those without a sign.
var integerBits = map[string]int{
	"int": 64, "int8": 8, "int16": 16, "int32": 32, "int64": 64, "rune": 32,
	"uint": -64, "uint8": -8, "uint16": -16, "uint32": -32, "uint64": -64, "uintptr": -64, "byte": -8,
}

// Bits returns the size of a basic type of whole numbers, negative for one without a sign, and 0 for other types.
func (t *Type) Bits() int {
	if t == nil || t.Form != Basic {
		return 0
	}
	return integerBits[t.Basic]
}

// Describe names what values of a type are for people: a string, a list.
func (t *Type) Describe() string {
	if t == nil {
		return "of an unknown type"
	}
	switch t.Form {
	case Basic:
		switch {
		case t.Basic == "string":
			return "a string"
		case t.Basic == "bool":
			return "true or false"
		case t.Bits() != 0:
			return "a whole number"
		}
		return "a number"
	case Slice, Array:
		return "a list"
	case Map:
		return "a map"
	case Struct:
		return "a struct"
	}
	return "of another type"
}
