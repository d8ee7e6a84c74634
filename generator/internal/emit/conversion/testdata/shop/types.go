package shop

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	commonv1 "apigen.dev/generator/internal/emit/conversion/testdata/shop/common/v1"
)

// Color is a named basic type.
type Color string

// Size is one, too.
type Size int32

// Book is the kind.
type Book struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   BookSpec
	Status BookStatus
}

// BookList is its list.
type BookList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []Book
}

// BookSpec has a field of each form.
type BookSpec struct {
	Title      string
	Color      Color
	Pages      int
	Weight     int64
	Price      resource.Quantity
	Count      int32
	Ratio      float64
	Optional   *string
	Required   string
	Names      []string
	Colors     []Color
	ByColor    map[Color]string
	Chapters   []Chapter
	ByName     map[string]Chapter
	Pointers   map[string]*Chapter
	First      *Chapter
	Cover      Cover
	Covers     []*Cover
	Matrix     [][]Chapter
	Pair       [2]Chapter
	Inline     struct{ A, B Cover }
	Owner      commonv1.Person
	Readers    []commonv1.Person
	Since      *metav1.Time
	Selector   labels.Selector
	Tree       Tree
	Raw        runtime.RawExtension
	MaybeCover *Cover
	SureCover  Cover
	// +k8s:conversion-gen=false
	Cached string
	// +apigen:conversion:drop
	Computed int
}

// Chapter is laid out as its peer is not.
type Chapter struct {
	Title string
	Pages int64
}

// Cover is laid out as its peer is.
type Cover struct {
	Color Color
	Size  *Size
	Parts map[string]Part
}

// Part is identical to its peer.
type Part struct {
	Name string
	Tags []string
}

// Tree holds itself.
type Tree struct {
	Name     string
	Children []Tree
	Parent   *Tree
}

// BookStatus is converted by hand.
type BookStatus struct {
	Sold, Returned int32
	Secret         string
}
