// Package foreign stands for packages that nothing is generated for: their types are copied by the methods that they
// have, or in place.
package foreign

// Into has a DeepCopyInto.
type Into struct{ Values []string }

// DeepCopyInto copies the receiver into out.
func (in *Into) DeepCopyInto(out *Into) { out.Values = append([]string(nil), in.Values...) }

// Only has nothing but a DeepCopy, which returns a pointer.
type Only struct{ hidden map[string]string }

// NewOnly returns an Only that holds a value.
func NewOnly(value string) Only { return Only{hidden: map[string]string{"key": value}} }

// DeepCopy copies the receiver.
func (in *Only) DeepCopy() *Only {
	out := &Only{}
	if in.hidden != nil {
		out.hidden = map[string]string{}
		for key, val := range in.hidden {
			out.hidden[key] = val
		}
	}
	return out
}

// ByValue has nothing but a DeepCopy of the value.
type ByValue struct{ hidden []int }

// NewByValue returns a ByValue that holds a value.
func NewByValue(value int) ByValue { return ByValue{hidden: []int{value}} }

// DeepCopy copies the receiver.
func (in ByValue) DeepCopy() ByValue { return ByValue{hidden: append([]int(nil), in.hidden...)} }

// Plain hides nothing but plain values.
type Plain struct {
	Name   string
	hidden int
}

// NewPlain returns a Plain that hides the number.
func NewPlain(hidden int) Plain { return Plain{Name: "plain", hidden: hidden} }

// Hidden returns the hidden number.
func (p Plain) Hidden() int { return p.hidden }

// Open has references, but all in the open, and no methods.
type Open struct {
	Labels map[string]string
	Next   *Plain
}

// Eager is a map whose DeepCopyInto makes an empty one of nil, as those of code-generator do.
type Eager map[string][]string

// DeepCopyInto copies the receiver into out.
func (in Eager) DeepCopyInto(out *Eager) {
	*out = Eager{}
	for key, val := range in {
		(*out)[key] = append([]string(nil), val...)
	}
}

// Box is generic.
type Box[T any] struct {
	Value T
	List  []T
}

// Shape is an interface with a copy by its own name.
type Shape interface{ DeepCopyShape() Shape }

// Cloner has a copy of no interface's name.
type Cloner interface{ DeepCopyAny() any }

// Square is a Shape and a Cloner.
type Square struct{ Corners []int }

// DeepCopyShape copies the receiver.
func (in *Square) DeepCopyShape() Shape { return &Square{Corners: append([]int(nil), in.Corners...)} }

// DeepCopyAny copies the receiver.
func (in *Square) DeepCopyAny() any { return in.DeepCopyShape() }
