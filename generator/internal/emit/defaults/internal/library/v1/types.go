package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"apigen.dev/generator/internal/emit/defaults/internal/library/shared"
)

// Book is a kind.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Book struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BookSpec `json:"spec"`
	Status *Status  `json:"status,omitempty"`
}

// BookList is a list of Book.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type BookList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Book `json:"items"`
}

// BookSpec reaches defaults in all the ways.
type BookSpec struct {
	Values   Values   `json:"values"`
	Pointers Pointers `json:"pointers"`
	JSON     JSON     `json:"json"`
	Refs     Refs     `json:"refs"`

	Author     Author             `json:"author"`
	Authors    []Author           `json:"authors,omitempty"`
	AuthorPtr  *Author            `json:"authorPtr,omitempty"`
	AuthorPtrs []*Author          `json:"authorPtrs,omitempty"`
	ByName     map[string]Author  `json:"byName,omitempty"`
	ByNamePtr  map[string]*Author `json:"byNamePtr,omitempty"`
	ByNames    map[string][]Author
	Matrix     [][]Author       `json:"matrix,omitempty"`
	Nested     []map[int]Author `json:"nested,omitempty"`
	Place      shared.Place     `json:"place"`
	Anonymous  struct {
		Author Author `json:"author"`
	} `json:"anonymous"`

	// +default={}
	Optional *Optional `json:"optional,omitempty"`
	// +default={"title": "given"}
	Given *Optional `json:"given,omitempty"`

	Chapters []Chapter `json:"chapters,omitempty"`
	Index    *Index    `json:"index,omitempty"`
	Limits   Limits    `json:"limits,omitempty"`
	Covered  Covered   `json:"covered"`
	Colors   []*Color  `json:"colors,omitempty"`
	Levels   []Level   `json:"levels,omitempty"`
	Marks    map[int]Level
	private  Author
}

// Values are fields that hold their values.
type Values struct {
	// +default="plain"
	String string `json:"string"`
	// +default="quoted \"`\" text"
	Quoted string `json:"quoted"`
	// +default=-3
	Int int `json:"int"`
	// +default=250
	Byte uint8 `json:"byte"`
	// +default=0.5
	Float float64 `json:"float"`
	// +default=true
	Bool bool `json:"bool"`
	// +default="red"
	Color Color `json:"color"`
	// +default=""
	Nothing string `json:"nothing"`
	// +default=0
	Zero int `json:"zero"`
	// +kubebuilder:default=kube
	Kube string `json:"kube"`
	// +kubebuilder:default:=7
	Seven int32 `json:"seven"`
}

// Pointers are fields that tell unset from zero.
type Pointers struct {
	// +default="plain"
	String *string `json:"string,omitempty"`
	// +default=false
	Bool *bool `json:"bool,omitempty"`
	// +default=0
	Zero *int64 `json:"zero,omitempty"`
	// +default=2
	Int *int `json:"int,omitempty"`
	// The type of this one has a default.
	Color *Color `json:"color,omitempty"`
	// +default="blue"
	Blue *Color `json:"blue,omitempty"`
	Link Link   `json:"link,omitempty"`
}

// JSON are fields with defaults that are decoded.
type JSON struct {
	// +default=["a", "b"]
	List []string `json:"list,omitempty"`
	// +default=[]
	EmptyList []string `json:"emptyList,omitempty"`
	// +default={"a": {"name": "Ada"}}
	Map map[string]Author `json:"map,omitempty"`
	// +default={}
	EmptyMap map[string]string `json:"emptyMap,omitempty"`
	// +default="1Gi"
	Quantity resource.Quantity `json:"quantity"`
	// +default="5m"
	Duration metav1.Duration `json:"duration"`
	// +default="5m"
	DurationPtr *metav1.Duration `json:"durationPtr,omitempty"`
	// +default="80%"
	IntOrString intstr.IntOrString `json:"intOrString"`
	// +default=80
	Port *intstr.IntOrString `json:"port,omitempty"`
	// +default={"title": "struct", "tags": ["x"]}
	Struct Optional `json:"struct"`
	// +default={}
	EmptyStruct Optional `json:"emptyStruct"`
	// +default="aGVsbG8="
	Bytes []byte `json:"bytes,omitempty"`
	// +default=[{"name": "Ada"}, {}]
	Authors []Author `json:"authors,omitempty"`
	// +default=null
	Null *string `json:"null,omitempty"`
}

// Refs are fields with constants.
type Refs struct {
	// +default=ref(Blue)
	Color Color `json:"color"`
	// +default=ref(Blue)
	ColorPtr *Color `json:"colorPtr,omitempty"`
	// +default=ref(Blue)
	Converted string `json:"converted"`
	// +default=ref(apigen.dev/generator/internal/emit/defaults/internal/library/shared.DefaultShelf)
	Shelf string `json:"shelf"`
}

// Color has a default that only pointers and elements take.
//
// +default="green"
type Color string

// Blue is a color.
const Blue Color = "blue"

// Level has a default.
//
// +default=3
type Level int

// Link is a pointer with a name and a default.
//
// +default="https://example.com"
type Link *string

// Author has a function of its own.
type Author struct {
	Name   string   `json:"name"`
	Calls  int      `json:"calls"`
	Titles []string `json:"titles,omitempty"`
	// +default="unknown"
	Country string `json:"country"`
}

// Optional has a default inside.
type Optional struct {
	// +default="untitled"
	Title string   `json:"title"`
	Tags  []string `json:"tags,omitempty"`
}

// Chapter contains itself.
type Chapter struct {
	// +default="chapter"
	Title    string             `json:"title"`
	Chapters []Chapter          `json:"chapters,omitempty"`
	Notes    map[string]Chapter `json:"notes,omitempty"`
	Index    *Index             `json:"index,omitempty"`
}

// Index contains what contains it.
type Index struct {
	// +default=1
	Page     int        `json:"page"`
	Chapters []*Chapter `json:"chapters,omitempty"`
}

// Limits is a map with a function of its own.
type Limits map[string]int

// Covered has a function that does it all.
//
// +k8s:defaulter-gen=covers
type Covered struct {
	// +default="never"
	Text   string `json:"text"`
	Author Author `json:"author"`
}

// Status has functions with qualifiers.
type Status struct {
	Order []string `json:"order,omitempty"`
	// +default="Pending"
	Phase string `json:"phase"`
}

// Catalog is a kind without a default.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Catalog struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Name string `json:"name"`
}

// Draft is a kind that wants no function.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +k8s:defaulter-gen=false
type Draft struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Author Author `json:"author"`
}

// Loose is not a kind, but wants a function.
//
// +k8s:defaulter-gen=true
type Loose struct {
	Author Author `json:"author"`
}
