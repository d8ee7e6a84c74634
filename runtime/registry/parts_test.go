package registry_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/deflate"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
)

// TestPartsOfLists: a list for a client that accepts gzip is made of leaves that are kept compressed, and which are its
// items as the encoding has them, one after the other.
func TestPartsOfLists(t *testing.T) {
	w := open(t, registry.New(shop.Definition()), true)
	for i := range 500 {
		w.create(fmt.Sprintf(`{"metadata":{"name":"w%03d"},"spec":{"color":"red","notes":{"a":%q}}}`, i,
			strings.Repeat(fmt.Sprint(i), 100)))
	}
	for name, form := range map[string]verb.Form{
		"JSON":                 v1,
		"another version":      v1beta1,
		"CBOR":                 {Version: "v1", Encoding: verb.CBOR},
		"metadata in CBOR":     {Version: "v1", Encoding: verb.CBOR, Shape: verb.Metadata},
		"old metadata in CBOR": {Version: "v1", Encoding: verb.CBOR, Shape: verb.Metadata | verb.V1beta1},
	} {
		page, err := w.List(w.ctx(), "ns", verb.ListOptions{Compress: true}, form)
		if err != nil {
			t.Fatal(err)
		}
		if page.Parts == nil {
			t.Errorf("%s: a page without parts", name)
			page.Close()
			continue
		}
		var zipped bytes.Buffer
		stream := deflate.NewStream(&zipped)
		separator, compressed := "", 0
		for part := range page.Parts {
			_, _ = io.WriteString(stream, separator) // a buffer takes everything
			separator = rendition.Separator(form.Encoding)
			if part.Compressed == nil {
				_, _ = stream.Write(part.Plain)
				continue
			}
			compressed++
			_ = stream.WriteBlock(part.Compressed)
		}
		_ = stream.Close()
		plain, err := gzip.NewReader(&zipped)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(plain)
		if err != nil || compressed == 0 {
			t.Fatalf("%s: %d compressed parts, %v", name, compressed, err)
		}
		if !bytes.Equal(got, itemsOf(page, form)) {
			t.Errorf("%s: the parts aren't the items", name)
		}
		page.Close()
	}
}

// itemsOf joins the items of a page as lists have them.
func itemsOf(page *verb.Page, form verb.Form) (all []byte) {
	for item := range page.Items {
		if len(all) > 0 {
			all = append(all, rendition.Separator(form.Encoding)...)
		}
		all = rendition.AppendItem(all, &item, form, false)
	}
	return all
}
