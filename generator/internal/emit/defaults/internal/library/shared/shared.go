// Package shared has types that the API's versions use, with defaults of their own.
//
// +k8s:deepcopy-gen=package
package shared

// DefaultShelf is a constant of another package.
const DefaultShelf = "A1"

// Place is where a book stands.
type Place struct {
	Room  string
	Shelf string
}

// SetDefaults_Place puts a book into the hall.
func SetDefaults_Place(in *Place) {
	if in.Room == "" {
		in.Room = "hall"
	}
}
