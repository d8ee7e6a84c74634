package v1alpha1

import (
	"strings"

	"k8s.io/apimachinery/pkg/conversion"

	"example.com/library/apis/library"
)

// Convert_v1alpha1_BookSpec_To_library_BookSpec splits the author, and sets the renamed and the moved fields. The
// generated function converts the other fields.
func Convert_v1alpha1_BookSpec_To_library_BookSpec(in *BookSpec, out *library.BookSpec, s conversion.Scope) error {
	if err := autoConvert_v1alpha1_BookSpec_To_library_BookSpec(in, out, s); err != nil {
		return err
	}
	out.Pages = in.PageCount
	out.Authors = nil
	for name := range strings.SplitSeq(in.Author, ";") {
		if name = strings.TrimSpace(name); name != "" {
			given, family := splitName(name)
			out.Authors = append(out.Authors, library.Author{Given: given, Family: family})
		}
	}
	out.Price = library.Money{}
	if in.PriceCents != nil {
		out.Price = library.Money{Cents: *in.PriceCents, Currency: "EUR"}
	}
	return nil
}

// Convert_library_BookSpec_To_v1alpha1_BookSpec joins the authors again. It drops a price in another currency than
// euros, which this version can't express.
func Convert_library_BookSpec_To_v1alpha1_BookSpec(in *library.BookSpec, out *BookSpec, s conversion.Scope) error {
	if err := autoConvert_library_BookSpec_To_v1alpha1_BookSpec(in, out, s); err != nil {
		return err
	}
	out.PageCount = in.Pages
	names := make([]string, len(in.Authors))
	for i, author := range in.Authors {
		names[i] = strings.TrimSpace(author.Given + " " + author.Family)
	}
	out.Author = strings.Join(names, "; ")
	out.PriceCents = nil
	if in.Price.Currency == "EUR" {
		out.PriceCents = &in.Price.Cents
	}
	return nil
}

// splitName takes the last word for the family name.
func splitName(name string) (given, family string) {
	at := strings.LastIndexByte(name, ' ')
	return strings.TrimSpace(name[:max(at, 0)]), name[at+1:]
}
