package server

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestMetricsAreBounded: what clients make up makes no series.
func TestMetricsAreBounded(t *testing.T) {
	v := startVictim(t)
	series := func() int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.url+"/metrics", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+adminToken)
		response, err := v.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		var text bytes.Buffer
		if _, err := text.ReadFrom(response.Body); err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(text.String()) {
			if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "go_") {
				n++
			}
		}
		return n
	}
	invent := func(from, to int) {
		for i := from; i < to; i++ {
			name := fmt.Sprint("made-up-", i)
			v.do(t, "GET", "/apis/"+name+".example.com/v1/things", "")
			v.do(t, "GET", "/apis/shop.example.com/"+name+"/widgets", "")
			v.do(t, "GET", "/apis/shop.example.com/v1/"+name, "")
			v.do(t, "GET", "/apis/shop.example.com/v1/namespaces/"+name+"/widgets/"+name, "")
			v.do(t, "GET", "/apis/shop.example.com/v1/namespaces/x/widgets/x/"+name, "")
			v.do(t, strings.ToUpper(name), v.base, "")
			v.do(t, strings.ToUpper(name), v.base+"/x", "")
			v.do(t, "GET", "/livez/"+name, "")
			v.do(t, "GET", "/"+name, "")
		}
	}
	series() // the answer to a scrape makes a series
	invent(0, 1)
	before := series()
	invent(1, 30)
	if after := series(); after != before {
		t.Errorf("%d series before, %d after", before, after)
	}
}
