package library

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate checks rules that markers don't express, for books of all versions.
func (b *Book) Validate(_ context.Context) field.ErrorList {
	if isbn := bare(b.Spec.ISBN); isbn != "" && !checks(isbn) {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "isbn"), b.Spec.ISBN,
			"must have the right check digit")}
	}
	return nil
}

// checks reports whether the check digit of an ISBN is right.
func checks(isbn string) bool {
	sum := 0
	for i, r := range isbn {
		digit := int(r - '0')
		switch {
		case len(isbn) == 13 && i%2 == 1:
			digit *= 3
		case len(isbn) == 10 && r == 'X':
			digit = 10
		case len(isbn) == 10:
			digit *= 10 - i
		}
		sum += digit
	}
	if len(isbn) == 10 {
		return sum%11 == 0
	}
	return len(isbn) == 13 && sum%10 == 0
}

// ValidateUpdate rejects another ISBN, which would be another book.
func (b *Book) ValidateUpdate(_ context.Context, old *Book) field.ErrorList {
	if bare(b.Spec.ISBN) != bare(old.Spec.ISBN) {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "isbn"), b.Spec.ISBN, "field is immutable")}
	}
	return nil
}

// ValidateStatusUpdate checks the numbers that controllers report.
func (b *Book) ValidateStatusUpdate(_ context.Context, _ *Book) field.ErrorList {
	if b.Status.Lent > b.Status.Copies {
		return field.ErrorList{field.Invalid(field.NewPath("status", "lent"), b.Status.Lent,
			"must not be more than there are copies")}
	}
	return nil
}

// Canonicalize writes ISBNs without their dashes.
func (b *Book) Canonicalize() {
	b.Spec.ISBN = bare(b.Spec.ISBN)
}

// bare removes the dashes of an ISBN. Validation runs before Canonicalize, so it sees dashes.
func bare(isbn string) string { return strings.ReplaceAll(isbn, "-", "") }
