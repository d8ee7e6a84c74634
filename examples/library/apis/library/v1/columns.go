package v1

import "strings"

// AuthorNames returns the cell of the column Authors.
func (b *Book) AuthorNames() string {
	names := make([]string, len(b.Spec.Authors))
	for i, author := range b.Spec.Authors {
		names[i] = strings.TrimSpace(author.Given + " " + author.Family)
	}
	return strings.Join(names, ", ")
}
