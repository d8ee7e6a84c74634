package library

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate checks a book, in whatever version it came.
func (b *Book) Validate(_ context.Context) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	if b.Spec.Title == "" {
		errs = append(errs, field.Required(spec.Child("title"), ""))
	}
	if b.Spec.Pages < 0 {
		errs = append(errs, field.Invalid(spec.Child("pages"), b.Spec.Pages, "must not be negative"))
	}
	if genre := b.Spec.Genre; genre != Fiction && genre != NonFiction {
		errs = append(errs, field.NotSupported(spec.Child("genre"), genre, []Genre{Fiction, NonFiction}))
	}
	for i, author := range b.Spec.Authors {
		if author.Family == "" {
			errs = append(errs, field.Required(spec.Child("authors").Index(i).Child("family"), ""))
		}
	}
	return errs
}

// ValidateUpdate keeps the ISBN: another one is another book.
func (b *Book) ValidateUpdate(_ context.Context, old *Book) field.ErrorList {
	if bare(b.Spec.ISBN) != bare(old.Spec.ISBN) {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "isbn"), b.Spec.ISBN, "field is immutable")}
	}
	return nil
}

// ValidateStatusUpdate checks what controllers report.
func (b *Book) ValidateStatusUpdate(_ context.Context, _ *Book) field.ErrorList {
	if b.Status.Lent > b.Status.Copies {
		return field.ErrorList{field.Invalid(field.NewPath("status", "lent"), b.Status.Lent, "must not be more than there are copies")}
	}
	return nil
}

// Canonicalize writes ISBNs without their dashes.
func (b *Book) Canonicalize() {
	b.Spec.ISBN = bare(b.Spec.ISBN)
}

// bare is an ISBN without its dashes. Validation comes before Canonicalize, so it must not mind them.
func bare(isbn string) string { return strings.ReplaceAll(isbn, "-", "") }
