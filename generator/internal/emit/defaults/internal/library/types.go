package library

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Book is a kind.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Book struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Title string
}

// BookList is a list of Book.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type BookList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []Book
}
