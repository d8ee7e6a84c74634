package library

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Book is a title that the library owns copies of.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Book struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   BookSpec
	Status BookStatus
}

// BookSpec says what the book is.
type BookSpec struct {
	ISBN     string
	Title    string
	Authors  []Author
	Pages    int32
	Genre    Genre
	Price    Money
	Keywords map[string]string
}

// Author is a person who wrote.
type Author struct {
	Given  string
	Family string
}

// Money is an amount in a currency.
type Money struct {
	Cents    int64
	Currency string
}

// Genre is where the book stands.
type Genre string

// The genres.
const (
	Fiction    Genre = "Fiction"
	NonFiction Genre = "NonFiction"
)

// BookStatus says where the copies are.
type BookStatus struct {
	Copies     int32
	Lent       int32
	Conditions []metav1.Condition
}

// BookList is a list of books.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type BookList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []Book
}
