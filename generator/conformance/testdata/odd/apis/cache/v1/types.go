// Package v1 has kinds that are called as packages and keywords are, and fields of every shape.
//
// +k8s:deepcopy-gen=package
// +groupName=cache.example.com
package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/conformance/shared"
)

// Type has fields of every shape.
//
// +genclient
// +genclient:method=Measure,verb=get,subresource=size,result=Size
// +genclient:method=Resize,verb=update,subresource=size,input=Size,result=Size
// +genclient:method=Grow,verb=create,subresource=size,input=Size,result=Size
// +genclient:method=ApplySize,verb=apply,subresource=size,input=Size,result=Size
// +genclient:method=Again,verb=get
// +genclient:method=Replace,verb=update
// +genclient:method=Make,verb=create
// +genclient:method=Merge,verb=patch
// +genclient:method=Own,verb=apply
// +genclient:method=Enumerate,verb=list
// +genclient:method=Sizes,verb=list,subresource=sizes,result=Size
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Type struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	shared.Common `json:",inline"`
	Inlined       `json:",inline"`
	*ByPointer    `json:",inline"`
	Apart         `json:"apart,omitempty"`
	shared.Nested `json:"nested"`

	Status Shapes `json:"status,omitempty"`
}

// Shapes has a field of every shape.
type Shapes struct {
	Bool        bool                `json:"bool"`
	Pointer     *string             `json:"pointer,omitempty"`
	Bytes       []byte              `json:"bytes,omitempty"`
	Strings     []string            `json:"strings,omitempty"`
	PointedAt   *[]string           `json:"pointedAt,omitempty"`
	Structs     []Inlined           `json:"structs,omitempty"`
	Pointers    []*Inlined          `json:"pointers,omitempty"`
	PointedList *[]Inlined          `json:"pointedList,omitempty"`
	PlainList   []*shared.Nested    `json:"plainList,omitempty"`
	Map         map[string]string   `json:"map,omitempty"`
	StructMap   map[string]Inlined  `json:"structMap,omitempty"`
	PointerMap  map[string]*Inlined `json:"pointerMap,omitempty"`
	Lists       map[string][]string `json:"lists,omitempty"`
	NamedMap    Named               `json:"namedMap,omitempty"`
	NamedList   List                `json:"namedList,omitempty"`
	Anonymous   struct {
		A string `json:"a"`
	} `json:"anonymous,omitempty"`
	Raw        runtime.RawExtension   `json:"raw,omitempty"`
	Quantity   resource.Quantity      `json:"quantity,omitempty"`
	Port       *intstr.IntOrString    `json:"port,omitempty"`
	When       *metav1.Time           `json:"when,omitempty"`
	Selector   *metav1.LabelSelector  `json:"selector,omitempty"`
	Conditions []metav1.Condition     `json:"conditions,omitempty"`
	Template   corev1.PodTemplateSpec `json:"template,omitempty"`
	Itself     *Shapes                `json:"itself,omitempty"`
	Hidden     string                 `json:"-"`
	Type       string                 `json:"type,omitempty"`
	Range      string                 `json:"range,omitempty"`
}

type Named map[string]Inlined
type List []Inlined

// Inlined is a struct that is inlined.
type Inlined struct {
	One string `json:"one,omitempty"`
}

// ByPointer is inlined through a pointer.
type ByPointer struct {
	Two string `json:"two,omitempty"`
}

// Apart is embedded, under a name of its own.
type Apart struct {
	Three int32 `json:"three,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type TypeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []*Type `json:"items"`
}

// Size is the body of a subresource.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Size struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Value             int32 `json:"value"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type SizeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Size `json:"items"`
}

// Context is only read.
//
// +genclient
// +genclient:nonNamespaced
// +genclient:readonly
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Context struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type ContextList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Context `json:"items"`
}

// Ask is only created, and never listed.
//
// +genclient
// +genclient:onlyVerbs=create
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Ask struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            Inlined `json:"status,omitempty"`
}

// Nothing has a client without methods.
//
// +genclient
// +genclient:noVerbs
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Nothing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// Policy ends as keywords of other kinds do, and has no status.
//
// +genclient
// +genclient:noStatus
// +genclient:nonNamespaced
// +genclient:skipVerbs=deleteCollection,apply
// +genclient:method=GetSize,verb=get,subresource=size,result=Size
// +genclient:method=UpdateSize,verb=update,subresource=size,input=Size,result=Size
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Policy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            Inlined `json:"status,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type PolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Policy `json:"items"`
}
