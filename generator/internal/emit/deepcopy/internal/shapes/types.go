// Package shapes holds types whose shapes are hard to copy. Its generated file is a golden file of the emitter, and its
// tests run the generated code.
//
// +k8s:deepcopy-gen=package
package shapes

import (
	"net/netip"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"apigen.dev/generator/internal/emit/deepcopy/internal/foreign"
)

// Object is a kind.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Object struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	References References `json:"references"`
	Nested     Nested     `json:"nested"`
	Embedding  Embedding  `json:"embedding"`
	Foreign    Foreign    `json:"foreign"`
	Arrays     Arrays     `json:"arrays"`
	Anonymous  Anonymous  `json:"anonymous"`
	Generic    Generic    `json:"generic"`
	Recursive  *Recursive `json:"recursive"`
	HandMade   HandMade   `json:"handMade"`
	Named      Named      `json:"named"`
	Holder     *Holder    `json:"holder"`
}

// ObjectList is the list of Object.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type ObjectList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Object `json:"items"`
}

// Plain has no references.
type Plain struct {
	Name  string
	Count int32
	When  time.Time
	Addr  netip.Addr
}

// References are the simple ones.
type References struct {
	Pointer       *int32
	Double        **string
	Slice         []string
	Bytes         []byte
	Map           map[string]string
	Plain         *Plain
	Plains        []Plain
	PlainPointers []*Plain
	Time          *metav1.Time
	Duration      *metav1.Duration
	Raw           runtime.RawExtension
	Raws          []runtime.RawExtension
}

// Nested are containers in containers.
type Nested struct {
	SliceOfSlices   [][]byte
	MapOfSlices     map[string][]string
	MapOfPointers   map[string]*Plain
	MapOfSlicePtrs  map[string][]*int32
	MapOfStructs    map[string]References
	MapOfMaps       map[string]map[string]map[string][]string
	StructKeys      map[Plain]struct{}
	SliceOfMaps     []map[int32]*string
	SliceOfStructs  []References
	SliceOfPointers []*References
	PointerToSlice  *[]string
	PointerToMap    *map[string][]int
	PointerToSlices *[][]*Plain
	Deep            [][][][]*int
}

// Inner is embedded.
type Inner struct{ Values []string }

// Other is embedded by pointer.
type Other struct{ Labels map[string]string }

// Embedding has the promoted methods of what it embeds, which copy only a part of it.
type Embedding struct {
	Inner
	*Other
	Own []int
}

// promoting is copied in place: it has no methods of its own, but a promoted DeepCopyInto that must not be called.
//
// +k8s:deepcopy-gen=false
type promoting struct {
	Inner
	Own []int
}

// Foreign are types of other packages.
type Foreign struct {
	Into        foreign.Into
	IntoPointer *foreign.Into
	Intos       []foreign.Into
	IntoMap     map[string]foreign.Into
	Only        foreign.Only
	Onlys       []*foreign.Only
	OnlyMap     map[string]foreign.Only
	ByValue     foreign.ByValue
	ByPointer   *foreign.ByValue
	Plain       foreign.Plain
	Plains      []foreign.Plain
	Open        foreign.Open
	Opens       []foreign.Open
	OpenMap     map[string]*foreign.Open
	Eager       foreign.Eager
	EagerMap    map[string]foreign.Eager
	Shape       foreign.Shape
	Shapes      []foreign.Shape
	ShapeMap    map[string]foreign.Shape
	Cloner      foreign.Cloner
	Object      runtime.Object
	promoting   promoting
	promotings  []promoting
}

// Arrays have a fixed length.
type Arrays struct {
	Plain    [3]string
	Pointers [2]*string
	Slices   [2][]string
	Structs  [2]References
	Grid     [2][2]*int32
	Maps     map[string][2]*int32
	List     [][2]*int32
}

// Anonymous are structs without a name.
type Anonymous struct {
	Struct struct {
		Name   string
		Labels map[string]string
	}
	Pointer *struct{ Values []*int32 }
	List    []struct {
		Values []string `json:"values,omitempty"`
	}
	Map map[string]struct{ Value *string }
}

// Pair is generic: it has no methods, its instances are copied in place.
type Pair[A, B any] struct {
	Left  A
	Right []B
}

// Generic are instances of generic types.
type Generic struct {
	Box     foreign.Box[*string]
	Boxes   []foreign.Box[[]string]
	Pair    Pair[string, *Plain]
	Pointer *Pair[References, int]
}

// Recursive contains itself in all the ways.
type Recursive struct {
	Next     *Recursive
	Children []Recursive
	ByName   map[string]Recursive
	Mutual   *Mutual
	Tree     Tree
}

// Mutual contains what contains it.
type Mutual struct{ Back []*Recursive }

// Tree is a map of itself.
type Tree map[string]Tree

// HandMade has types that are copied by hand, in whole or in part.
type HandMade struct {
	Counted  Counted
	Counteds map[string]Counted
	Half     Half
	Pointer  *Half
	OtherWay OtherWay
	Number   Number
	Numbers  []Number
}

// Counted has both methods by hand.
type Counted struct {
	Values []string
	Copies int
}

// DeepCopyInto counts the copies.
func (in *Counted) DeepCopyInto(out *Counted) {
	*out = Counted{Values: append([]string(nil), in.Values...), Copies: in.Copies + 1}
}

// DeepCopy counts the copies.
func (in *Counted) DeepCopy() *Counted {
	out := &Counted{}
	in.DeepCopyInto(out)
	return out
}

// Half has its DeepCopy by hand.
type Half struct {
	Values []string
	Copies int
}

// DeepCopy counts the copies.
func (in *Half) DeepCopy() *Half {
	return &Half{Values: append([]string(nil), in.Values...), Copies: in.Copies + 1}
}

// OtherWay has its DeepCopyInto by hand.
type OtherWay struct {
	Values []string
	Copies int
}

// DeepCopyInto counts the copies.
func (in *OtherWay) DeepCopyInto(out *OtherWay) {
	*out = OtherWay{Values: append([]string(nil), in.Values...), Copies: in.Copies + 1}
}

// Number is copied by hand although it has no references.
type Number int

// DeepCopy adds one.
func (in Number) DeepCopy() Number { return in + 1 }

// Named containers.
type (
	// Names is a list.
	Names []string
	// Index is a map of pointers.
	Index map[string]*Plain
	// Grid is an array of lists.
	Grid [2][]string
	// Link is a pointer.
	Link *References
)

// Named are fields of named containers, and types over other types.
type Named struct {
	Names    Names
	Index    Index
	Indexes  map[string]Index
	Grid     Grid
	Link     Link
	Same     Same
	Imported Imported
	PtrNames *Names
}

// Same is a type over a type of this package.
type Same References

// Imported is a type over a foreign type.
type Imported foreign.Open

// Locked has a lock that its own method doesn't copy.
type Locked struct {
	mu     sync.Mutex
	Values []string
}

// DeepCopyInto copies the values alone.
func (in *Locked) DeepCopyInto(out *Locked) {
	in.mu.Lock()
	defer in.mu.Unlock()
	out.Values = append([]string(nil), in.Values...)
}

// Holder must not be assigned as a whole.
type Holder struct {
	Name   string
	Locked Locked
	Values []string
	Plain  Plain
}

// Circle is a Shape by value.
//
// +k8s:deepcopy-gen:interfaces=apigen.dev/generator/internal/emit/deepcopy/internal/foreign.Shape
// +k8s:deepcopy-gen:nonpointer-interfaces=true
type Circle struct{ Points []int }

// Polygon is a Shape that is a slice.
//
// +k8s:deepcopy-gen:interfaces=apigen.dev/generator/internal/emit/deepcopy/internal/foreign.Shape
type Polygon []*int

// Line is a Shape whose DeepCopy by hand returns a value.
//
// +k8s:deepcopy-gen:interfaces=apigen.dev/generator/internal/emit/deepcopy/internal/foreign.Shape
type Line struct{ Points []int }

// DeepCopy copies the receiver.
func (in *Line) DeepCopy() Line { return Line{Points: append([]int(nil), in.Points...)} }

// Callback is a func that no other type holds: it needs no copy.
type Callback func()

// Stringer is an interface that no other type holds.
type Stringer interface{ String() string }
