package v1beta1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	commonv1beta1 "apigen.dev/generator/internal/emit/conversion/testdata/shop/common/v1beta1"
)

type Color string

type Size int32

type Book struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BookSpec   `json:"spec,omitempty"`
	Status BookStatus `json:"status,omitempty"`
}

type BookList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Book `json:"items"`
}

type BookSpec struct {
	Title      string                 `json:"title,omitempty"`
	Color      Color                  `json:"color,omitempty"`
	Pages      int32                  `json:"pages,omitempty"`
	Weight     int32                  `json:"weight,omitempty"`
	Price      resource.Quantity      `json:"price,omitempty"`
	Count      *int32                 `json:"count,omitempty"`
	Ratio      float64                `json:"ratio,omitempty"`
	Optional   string                 `json:"optional,omitempty"`
	Required   *string                `json:"required,omitempty"`
	Names      []string               `json:"names,omitempty"`
	Colors     []Color                `json:"colors,omitempty"`
	ByColor    map[Color]string       `json:"byColor,omitempty"`
	Chapters   []Chapter              `json:"chapters,omitempty"`
	ByName     map[string]Chapter     `json:"byName,omitempty"`
	Pointers   map[string]*Chapter    `json:"pointers,omitempty"`
	First      *Chapter               `json:"first,omitempty"`
	Cover      Cover                  `json:"cover,omitempty"`
	Covers     []*Cover               `json:"covers,omitempty"`
	Matrix     [][]Chapter            `json:"matrix,omitempty"`
	Pair       [2]Chapter             `json:"pair,omitempty"`
	Inline     struct{ A, B Cover }   `json:"inline,omitempty"`
	Owner      commonv1beta1.Person   `json:"owner,omitempty"`
	Readers    []commonv1beta1.Person `json:"readers,omitempty"`
	Since      *metav1.Time           `json:"since,omitempty"`
	Selector   string                 `json:"selector,omitempty"`
	Tree       Tree                   `json:"tree,omitempty"`
	Raw        runtime.RawExtension   `json:"raw,omitempty"`
	MaybeCover Cover                  `json:"maybeCover,omitempty"`
	SureCover  *Cover                 `json:"sureCover,omitempty"`
}

type Chapter struct {
	Title string `json:"title"`
	Pages int32  `json:"pages"`
}

type Cover struct {
	Color Color           `json:"color"`
	Size  *Size           `json:"size,omitempty"`
	Parts map[string]Part `json:"parts,omitempty"`
}

type Part struct {
	Name string   `json:"name"`
	Tags []string `json:"tags,omitempty"`
}

type Tree struct {
	Name     string `json:"name"`
	Children []Tree `json:"children,omitempty"`
	Parent   *Tree  `json:"parent,omitempty"`
}

type BookStatus struct {
	Sales string `json:"sales,omitempty"`
	Sold  int32  `json:"sold,omitempty"`
}

// +k8s:conversion-gen:explicit-from=net/url.Values

// BookOptions is decoded from a query.
type BookOptions struct {
	metav1.TypeMeta `json:",inline"`

	Name   string       `json:"name,omitempty"`
	Color  Color        `json:"color,omitempty"`
	Follow bool         `json:"follow,omitempty"`
	Limit  *int64       `json:"limit,omitempty"`
	Path   []string     `json:"path,omitempty"`
	Since  *metav1.Time `json:"since,omitempty"`
	// +k8s:conversion-gen=false
	Ignored chan int `json:"ignored,omitempty"`
}
