package respond

import (
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWarnings(t *testing.T) {
	header := http.Header{}
	AddWarnings(header, []string{"", `a "b" \c`, "x\ny", `a "b" \c`})
	if got := header["Warning"]; len(got) != 2 || got[0] != `299 - "a \"b\" \\c"` || got[1] != `299 - "x y"` {
		t.Errorf("%q", got)
	}
}

func TestWarningsAreBounded(t *testing.T) {
	var long, many []string
	for i := range 1000 {
		many = append(many, strings.Repeat("x", i%7)+string(rune('a'+i%26))+strings.Repeat("y", i/26))
		long = append(long, strings.Repeat("é", 1000+i))
	}
	for name, texts := range map[string][]string{"long": long, "many": many, "one": {strings.Repeat("x", 100000)}} {
		header := http.Header{}
		AddWarnings(header, texts)
		total := 0
		for _, text := range header["Warning"] {
			if !utf8.ValidString(text) {
				t.Error("cut inside of a character")
			}
			total += utf8.RuneCountInString(text)
		}
		if n := len(header["Warning"]); n == 0 || n > maxWarnings || total > maxWarningRunes+cutWarningRunes+n*16 {
			t.Errorf("%s: %d with %d characters", name, n, total)
		}
	}
}
