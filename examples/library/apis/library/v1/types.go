package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Book is a title that the library owns copies of.
//
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:storageversion
// +kubebuilder:resource:shortName=bk,categories=all
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Title",type=string,JSONPath=`.spec.title`
// +apigen:printcolumn:name="Authors",type=string,method=AuthorNames
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="Pages",type=integer,priority=1,JSONPath=`.spec.pages`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:selectablefield:JSONPath=`.spec.genre`
// +kubebuilder:selectablefield:JSONPath=`.spec.isbn`
type Book struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BookSpec   `json:"spec,omitempty"`
	Status BookStatus `json:"status,omitempty"`
}

// BookSpec says what the book is.
//
// +kubebuilder:validation:XValidation:rule="self.genre != 'NonFiction' || has(self.authors)",message="non-fiction has an author",fieldPath=".authors",reason=FieldValueRequired
type BookSpec struct {
	// ISBN is the book's number, with or without dashes. It can't be changed.
	// +optional
	// +kubebuilder:validation:Pattern=`^([0-9]-?){9,12}[0-9X]$`
	ISBN string `json:"isbn,omitempty"`
	// Title as on the cover.
	// +k8s:required
	// +k8s:maxLength=200
	Title string `json:"title"`
	// Authors in the order of the cover.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Authors []Author `json:"authors,omitempty"`
	// Pages of the first edition. Once counted, a book doesn't lose any.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:XValidation:rule="self >= oldSelf",message="must not be less than before"
	Pages int32 `json:"pages,omitempty"`
	// Genre says where the book stands.
	// +optional
	// +default="Fiction"
	Genre Genre `json:"genre,omitempty"`
	// Price of a lost copy.
	// +optional
	Price Money `json:"price,omitempty"`
	// Keywords for the catalogue.
	// +optional
	// +k8s:eachKey=+k8s:format=k8s-short-name
	Keywords map[string]string `json:"keywords,omitempty"`
}

// Author is a person who wrote.
type Author struct {
	// +optional
	Given string `json:"given,omitempty"`
	// +k8s:required
	Family string `json:"family"`
}

// Money is an amount in a currency.
type Money struct {
	// Cents of the currency.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Cents int64 `json:"cents,omitempty"`
	// Currency is an ISO 4217 code.
	// +optional
	// +default="EUR"
	// +kubebuilder:validation:Pattern=`^[A-Z]{3}$`
	Currency string `json:"currency,omitempty"`
}

// Genre is where a book stands.
//
// +k8s:enum
type Genre string

// The genres.
const (
	// Fiction is on the ground floor.
	Fiction Genre = "Fiction"
	// NonFiction is upstairs.
	NonFiction Genre = "NonFiction"
)

// BookStatus says where the copies are.
type BookStatus struct {
	// Copies that the library owns.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Copies int32 `json:"copies,omitempty"`
	// Lent copies.
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
