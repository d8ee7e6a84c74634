package reference_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/reference"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/plan"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func shop(t *testing.T) []emit.File {
	t.Helper()
	data, err := os.ReadFile("testdata/shop.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files, err := reference.Emitter().Emit(plan.New(loadtest.Program(t, string(data))))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 2 {
		t.Fatalf("%d files", len(files))
	}
	return files
}

// TestGolden holds both pages of a version whose comments try everything.
func TestGolden(t *testing.T) {
	for _, f := range shop(t) {
		golden := filepath.Join("testdata", f.Name)
		if *update {
			if err := os.WriteFile(golden, f.Content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(f.Content, want) {
			t.Errorf("%s differs from the golden file; run with -update and look", f.Name)
		}
		if !bytes.Contains(f.Content[:200], []byte(emit.Notice)) {
			t.Errorf("%s doesn't say that it is generated", f.Name)
		}
	}
}

// TestLinks: every link within a page leads to an anchor of it, and no anchor is there twice.
func TestLinks(t *testing.T) {
	for _, f := range shop(t) {
		anchors := map[string]bool{}
		for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllSubmatch(f.Content, -1) {
			if anchors[string(m[1])] {
				t.Errorf("%s: anchor %s is there twice", f.Name, m[1])
			}
			anchors[string(m[1])] = true
		}
		links := regexp.MustCompile(`(?:href="|\]\()#([^")]+)`).FindAllSubmatch(f.Content, -1)
		if len(links) == 0 {
			t.Errorf("%s has no links", f.Name)
		}
		for _, m := range links {
			if !anchors[string(m[1])] {
				t.Errorf("%s: link to %s leads nowhere", f.Name, m[1])
			}
		}
	}
}

// TestCommentsAreText: no text of a comment becomes an element, an attribute or a link of the page.
func TestCommentsAreText(t *testing.T) {
	active := regexp.MustCompile(`(?m)(^|[^\\])<script|[^\\]\[[^\]]*\]\(javascript|^<b>|[^\\]</td></tr></table> `)
	for _, f := range shop(t) {
		if strings.HasSuffix(f.Name, ".html") {
			onlyKnownElements(t, f.Content)
		} else if m := active.Find(f.Content); m != nil {
			t.Errorf("%s holds %s", f.Name, m)
		}
		for _, hidden := range []string{"TODO", "nor this", "kubebuilder", "Skipped", "hidden"} {
			if strings.Contains(string(f.Content), hidden) {
				t.Errorf("%s shows %s", f.Name, hidden)
			}
		}
	}
}

// onlyKnownElements reads a page as a browser does.
func onlyKnownElements(t *testing.T, page []byte) {
	t.Helper()
	const known = " html head meta title style body main h1 h2 h3 h5 nav ul ol li a section p pre code table caption " +
		"thead tbody tr th td span "
	for z := html.NewTokenizer(bytes.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			if !strings.Contains(known, " "+token.Data+" ") {
				t.Errorf("the page has an element %s", token.Data)
			}
			for _, a := range token.Attr {
				if a.Key == "href" && !strings.HasPrefix(a.Val, "#") &&
					!strings.HasPrefix(a.Val, "https://") || strings.HasPrefix(a.Key, "on") {
					t.Errorf("the page has %s=%s", a.Key, a.Val)
				}
			}
		}
	}
}

// TestHTMLIsWellFormed: every element that is opened is closed, in order; items of lists need not be.
func TestHTMLIsWellFormed(t *testing.T) {
	for _, f := range shop(t) {
		if !strings.HasSuffix(f.Name, ".html") {
			continue
		}
		if err := balanced(f.Content); err != nil {
			t.Error(err)
		}
	}
}

func balanced(page []byte) error {
	var open []string
	for z := html.NewTokenizer(bytes.NewReader(page)); ; {
		kind := z.Next()
		name, _ := z.TagName()
		element := string(name)
		switch {
		case kind == html.ErrorToken:
			if len(open) > 0 {
				return fmt.Errorf("never closed: %v", open)
			}
			return nil
		case strings.Contains(" meta br li p ", " "+element+" "):
		case kind == html.StartTagToken:
			open = append(open, element)
		case kind == html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != element {
				return fmt.Errorf("</%s> closes %v", element, open)
			}
			open = open[:len(open)-1]
		}
	}
}

// TestTablesKeepTheirColumns: no comment adds a column to a table of the Markdown page, or ends it.
func TestTablesKeepTheirColumns(t *testing.T) {
	for _, f := range shop(t) {
		if !strings.HasSuffix(f.Name, ".md") {
			continue
		}
		columns := 0
		for i, line := range strings.Split(string(f.Content), "\n") {
			if !strings.HasPrefix(line, "|") {
				columns = 0
				continue
			}
			n := strings.Count(line, "|")
			if columns != 0 && n != columns {
				t.Errorf("line %d has %d bars, the table %d: %s", i+1, n, columns, line)
			}
			columns = n
		}
	}
}

// TestRefusals: a reference that can't be written is an error at the marker.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct{ archive, want string }{
		"nothing below": {"-- a/doc.go --\n// +apigen:reference=docs\npackage a\n",
			"a/doc.go:1:4: there is no API group below example.com/test/a"},
		"same folder": {"-- a/doc.go --\n// +apigen:reference=../docs\npackage a\n-- b/doc.go --\n// " +
			"+apigen:reference=../docs\npackage b\n",
			"would go to the same folder"},
	} {
		faults := reference.Emitter().Faults(plan.New(loadtest.Program(t, c.archive)))
		if !strings.Contains(faults.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, faults, c.want)
		}
	}
	for _, value := range []string{"../../out", "/tmp"} {
		_, err := loadtest.Try(loadtest.Dir(t, "-- a/doc.go --\n// +apigen:reference="+value+"\npackage a\n"))
		if err == nil || !strings.Contains(err.Error(), `is no folder of this module`) {
			t.Errorf("%s: got %v", value, err)
		}
	}
}
