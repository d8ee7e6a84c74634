package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Book is a title that the library owns copies of.
//
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:resource:shortName=bk,categories=all
// +kubebuilder:subresource:status
// +kubebuilder:deprecatedversion:warning="library.example.com/v1alpha1 Book is deprecated; use library.example.com/v1 Book"
type Book struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BookSpec   `json:"spec,omitempty"`
	Status BookStatus `json:"status,omitempty"`
}

// BookSpec says what the book is.
type BookSpec struct {
	// +optional
	// +kubebuilder:validation:Pattern=`^([0-9]-?){9,12}[0-9X]$`
	ISBN string `json:"isbn,omitempty"`
	// +k8s:required
	// +k8s:maxLength=200
	Title string `json:"title"`
	// Author's given and family name, or several authors with semicolons between.
	// +optional
	Author string `json:"author,omitempty"`
	// +optional
	// +kubebuilder:validation:Minimum=1
	PageCount int32 `json:"pageCount,omitempty"`
	// +optional
	// +kubebuilder:validation:Enum=Fiction;NonFiction
	Genre string `json:"genre,omitempty"`
	// PriceCents in euros.
	// +optional
	// +kubebuilder:validation:Minimum=0
	PriceCents *int64 `json:"priceCents,omitempty"`
	// +optional
	Keywords map[string]string `json:"keywords,omitempty"`
}

// BookStatus says where the copies are.
type BookStatus struct {
	// +optional
	// +kubebuilder:validation:Minimum=0
	Copies int32 `json:"copies,omitempty"`
	// +optional
	// +kubebuilder:validation:Minimum=0
	Lent int32 `json:"lent,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// BookList is a list of books.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type BookList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Book `json:"items"`
}
